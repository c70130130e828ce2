// Division and remainder of every integer width, by variables (expanded by the compiler through reciprocals) and by constants.
#include "check.hpp"

template <class T>
__global__ void divide(const T* a, const T* b, T* quotient, T* remainder, T* by_constants, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  quotient[i] = T(a[i] / b[i]);
  remainder[i] = T(a[i] % b[i]);
  by_constants[i] = T(a[i] / 3 + a[i] / 7 * 2 + a[i] % 10 + a[i] / 127 + a[i] % 16);
}

template <class T>
void test(Check& check, const std::string& name) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> a, b;
  const T corners[] = {0, 1, 2, 3, 7, 10, 16, 100, T(Limits::max() / 2), T(Limits::max() - 1), Limits::max(), Limits::min(), T(Limits::min() + 1), T(-1), T(-7)};
  const auto add = [&](T x, T y) {
    if (y == 0 || (std::is_signed_v<T> && x == Limits::min() && y == T(-1)))
      return;  // undefined in C++
    a.push_back(x);
    b.push_back(y);
  };
  for (T x : corners)
    for (T y : corners)
      add(x, y);
  Rng rng(sizeof(T));
  for (int i = 0; i < 800; i++)
    add(T(T(rng.u64()) >> rng.below(sizeof(T) * 8)), T(T(rng.u64()) >> rng.below(sizeof(T) * 8)));
  const unsigned n = unsigned(a.size());
  DeviceBuffer<T> d_a(a), d_b(b), d_quotient(n), d_remainder(n), d_constants(n);
  divide<T><<<ceil_div(n, 100), 100>>>(d_a.get(), d_b.get(), d_quotient.get(), d_remainder.get(), d_constants.get(), n);
  HIP_CHECK_LAUNCH();
  const auto quotient = d_quotient.download(), remainder = d_remainder.download(), constants = d_constants.download();
  for (unsigned i = 0; i < n; i++) {
    check.equal((name + " /").c_str(), i, quotient[i], T(a[i] / b[i]));
    check.equal((name + " %").c_str(), i, remainder[i], T(a[i] % b[i]));
    check.equal((name + " by constants").c_str(), i, constants[i], T(a[i] / 3 + a[i] / 7 * 2 + a[i] % 10 + a[i] / 127 + a[i] % 16));
  }
}

int main() {
  Check check("integer_division");
  test<int8_t>(check, "int8_t");
  test<uint8_t>(check, "uint8_t");
  test<int16_t>(check, "int16_t");
  test<uint16_t>(check, "uint16_t");
  test<int32_t>(check, "int32_t");
  test<uint32_t>(check, "uint32_t");
  test<int64_t>(check, "int64_t");
  test<uint64_t>(check, "uint64_t");
  return check.finish();
}
