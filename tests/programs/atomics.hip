// Atomics of every width on global memory and LDS: results where the order does not matter, and compare-and-swap loops.
#include "check.hpp"

struct Totals {
  int add, sub, low, high;
  unsigned bits_and, bits_or, bits_xor, wrapped_up, wrapped_down, unsigned_low, unsigned_high, cas_product;
  unsigned long long add64, low64, high64, or64;
  long long signed_low64, signed_high64;
  float add_float, max_float;
  double add_double, min_double;
};

Totals initial() {
  Totals t{};
  t.low = t.high = 0;
  t.bits_and = ~0u;
  t.wrapped_down = 3;
  t.unsigned_low = ~0u;
  t.low64 = ~0ull;
  t.cas_product = 1;
  t.max_float = -1e30f;
  t.min_double = 1e300;
  return t;
}

__device__ unsigned multiply_by_cas(unsigned* address, unsigned factor) {
  unsigned seen = *address, assumed;
  do {
    assumed = seen;
    seen = atomicCAS(address, assumed, assumed * factor);
  } while (seen != assumed);
  return seen;
}

template <class Target>
__device__ void apply(Target* t, unsigned value) {
  const int signed_value = int(value);
  const unsigned long long wide = (unsigned long long)value * 0x100000003ull;
  atomicAdd(&t->add, signed_value);
  atomicSub(&t->sub, signed_value);
  atomicMin(&t->low, signed_value);
  atomicMax(&t->high, signed_value);
  atomicAnd(&t->bits_and, value | 0xff00ff00u);
  atomicOr(&t->bits_or, value & 0x0f0f0f0fu);
  atomicXor(&t->bits_xor, value);
  atomicInc(&t->wrapped_up, 6u);
  atomicDec(&t->wrapped_down, 10u);
  atomicMin(&t->unsigned_low, value);
  atomicMax(&t->unsigned_high, value);
  multiply_by_cas(&t->cas_product, value | 1);
  atomicAdd(&t->add64, wide);
  atomicMin(&t->low64, wide);
  atomicMax(&t->high64, wide);
  atomicOr(&t->or64, wide & 0xff0000000000ull);
  atomicMin(&t->signed_low64, (long long)wide);
  atomicMax(&t->signed_high64, (long long)wide);
  atomicAdd(&t->add_float, float(value % 1024));  // sums stay below 2^24: exact in any order
  atomicMax(&t->max_float, float(signed_value));
  atomicAdd(&t->add_double, double(signed_value) / 8);
  atomicMin(&t->min_double, double(signed_value) / 3);
}

__global__ void global_atomics(const unsigned* in, unsigned n, Totals* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    apply(out, in[i]);
}

__global__ void lds_atomics(const unsigned* in, unsigned n, Totals start, Totals* out) {
  __shared__ Totals totals;
  if (threadIdx.x == 0)
    totals = start;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x)
    apply(&totals, in[i]);
  __syncthreads();
  if (threadIdx.x == 0)
    *out = totals;
}

Totals on_cpu(const std::vector<unsigned>& in) {
  Totals t = initial();
  unsigned add = 0;
  for (unsigned value : in) {
    const int signed_value = int(value);
    const unsigned long long wide = (unsigned long long)value * 0x100000003ull;
    add += value;
    t.low = std::min(t.low, signed_value);
    t.high = std::max(t.high, signed_value);
    t.bits_and &= value | 0xff00ff00u;
    t.bits_or |= value & 0x0f0f0f0fu;
    t.bits_xor ^= value;
    t.wrapped_up = t.wrapped_up >= 6 ? 0 : t.wrapped_up + 1;
    t.wrapped_down = t.wrapped_down == 0 || t.wrapped_down > 10 ? 10 : t.wrapped_down - 1;
    t.unsigned_low = std::min(t.unsigned_low, value);
    t.unsigned_high = std::max(t.unsigned_high, value);
    t.cas_product *= value | 1;
    t.add64 += wide;
    t.low64 = std::min(t.low64, wide);
    t.high64 = std::max(t.high64, wide);
    t.or64 |= wide & 0xff0000000000ull;
    t.signed_low64 = std::min(t.signed_low64, (long long)wide);
    t.signed_high64 = std::max(t.signed_high64, (long long)wide);
    t.add_float += float(value % 1024);
    t.max_float = std::max(t.max_float, float(signed_value));
    t.add_double += double(signed_value) / 8;
    t.min_double = std::min(t.min_double, double(signed_value) / 3);
  }
  t.add = int(add);
  t.sub = int(0u - add);
  return t;
}

void compare(Check& check, const char* where, const Totals& got, const Totals& expected) {
#define SAME(field) check.equal((std::string(where) + "." #field).c_str(), 0, got.field, expected.field)
  SAME(add), SAME(sub), SAME(low), SAME(high), SAME(bits_and), SAME(bits_or), SAME(bits_xor), SAME(wrapped_up);
  SAME(wrapped_down), SAME(unsigned_low), SAME(unsigned_high), SAME(cas_product), SAME(add64), SAME(low64), SAME(high64);
  SAME(or64), SAME(signed_low64), SAME(signed_high64), SAME(add_float), SAME(max_float), SAME(add_double), SAME(min_double);
#undef SAME
}

int main() {
  Check check("atomics");
  for (unsigned n : {1u, 77u, 1003u}) {
    Rng rng(n);
    std::vector<unsigned> in(n);
    for (unsigned& value : in)
      value = rng.u32();
    DeviceBuffer<unsigned> d_in(in);
    DeviceBuffer<Totals> out(std::vector<Totals>{initial()}), lds_out(1);
    global_atomics<<<ceil_div(n, 100), 100>>>(d_in.get(), n, out.get());
    lds_atomics<<<1, 130>>>(d_in.get(), n, initial(), lds_out.get());
    HIP_CHECK_LAUNCH();
    compare(check, "global", out.download()[0], on_cpu(in));
    compare(check, "lds", lds_out.download()[0], on_cpu(in));
  }
  return check.finish();
}
