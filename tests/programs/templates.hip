// What C++20 kernels use: templates on types and values, lambdas and functors as arguments, fold expressions, constexpr tables,
// if constexpr, structured bindings.
#include "check.hpp"

template <int kDegree>
struct Polynomial {
  double coefficients[kDegree + 1];
  __host__ __device__ double operator()(double x) const {
    double result = 0;
    for (int i = kDegree; i >= 0; i--)
      result = result * x + coefficients[i];
    return result;
  }
};

template <class F, class T>
__global__ void map(F function, const T* in, T* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = function(in[i]);
}

constexpr auto kPrimes = [] {
  struct {
    unsigned values[40];
  } table{};
  unsigned found = 0;
  for (unsigned candidate = 2; found < 40; candidate++) {
    bool prime = true;
    for (unsigned d = 2; d * d <= candidate; d++)
      prime = prime && candidate % d != 0;
    if (prime)
      table.values[found++] = candidate;
  }
  return table;
}();

template <class... Values>
__host__ __device__ constexpr auto sum_of_squares(Values... values) {
  return (... + (values * values));
}

template <class T>
__host__ __device__ T kind_dependent(T value) {
  if constexpr (sizeof(T) == 1)
    return T(value ^ 0x5a);
  else if constexpr (std::is_floating_point_v<T>)
    return value / 2;
  else
    return T(value * 3 + 1);
}

template <class T, unsigned kCount>
struct Pack {
  T values[kCount];
};

template <class T, unsigned kCount>
__global__ void rotate_packs(const Pack<T, kCount>* in, Pack<T, kCount>* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    for (unsigned j = 0; j < kCount; j++)
      out[i].values[j] = kind_dependent(in[i].values[(j + 1) % kCount]);
}

template <class T, unsigned kCount>
void test_packs(Check& check, const char* where, unsigned n) {
  std::vector<Pack<T, kCount>> in(n);
  Rng rng(kCount);
  for (auto& pack : in)
    for (T& value : pack.values)
      value = T(rng.below(200));
  DeviceBuffer<Pack<T, kCount>> d_in(in), d_out(n);
  rotate_packs<T, kCount><<<ceil_div(n, 70), 70>>>(d_in.get(), d_out.get(), n);
  HIP_CHECK_LAUNCH();
  const auto got = d_out.download();
  for (unsigned i = 0; i < n; i++)
    for (unsigned j = 0; j < kCount; j++)
      check.equal(where, i * kCount + j, got[i].values[j], kind_dependent(in[i].values[(j + 1) % kCount]));
}

int main() {
  Check check("templates");
  constexpr unsigned n = 333;
  std::vector<double> in(n);
  std::vector<unsigned> small(n);
  for (unsigned i = 0; i < n; i++) {
    in[i] = double(int(i) - 100);  // integers: the polynomial is exact, fused or not
    small[i] = i * 7;
  }
  const Polynomial<4> polynomial{{1, -2, 3, -4, 5}};
  DeviceBuffer<double> d_in(in), d_out(n);
  map<<<ceil_div(n, 128), 128>>>(polynomial, d_in.get(), d_out.get(), n);
  HIP_CHECK_LAUNCH();
  std::vector<double> got = d_out.download();
  for (unsigned i = 0; i < n; i++)
    check.equal("functor", i, got[i], polynomial(in[i]));

  DeviceBuffer<unsigned> d_small(small), d_results(n);
  unsigned offset = 12345;  // not a constant: it is captured
  const auto lambda = [offset] __host__ __device__(unsigned x) { return kPrimes.values[x % 40] * x + offset + sum_of_squares(x, 2u, x + 1); };
  map<<<ceil_div(n, 128), 128>>>(lambda, d_small.get(), d_results.get(), n);
  HIP_CHECK_LAUNCH();
  const std::vector<unsigned> results = d_results.download();
  for (unsigned i = 0; i < n; i++)
    check.equal("lambda", i, results[i], lambda(small[i]));

  test_packs<uint8_t, 3>(check, "Pack<uint8_t, 3>", 101);
  test_packs<int16_t, 5>(check, "Pack<int16_t, 5>", 65);
  test_packs<float, 4>(check, "Pack<float, 4>", 64);
  test_packs<int64_t, 2>(check, "Pack<int64_t, 2>", 130);
  test_packs<double, 7>(check, "Pack<double, 7>", 33);
  return check.finish();
}
