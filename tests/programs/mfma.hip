// Matrix instructions through the compiler's builtins, one wave each: small-integer inputs make every sum exact, so the results must be
// equal to the CPU's in any order. Layouts follow the CDNA 3 ISA: for 32x32, lane l holds row (or column) l % 32 of A (or B).
#include "check.hpp"

using half4_vector = _Float16 __attribute__((ext_vector_type(4)));
using short4_vector = short __attribute__((ext_vector_type(4)));
using float4_vector = float __attribute__((ext_vector_type(4)));
using float16_vector = float __attribute__((ext_vector_type(16)));
using int4_vector = int __attribute__((ext_vector_type(4)));
using double4_vector = double __attribute__((ext_vector_type(4)));

// D = A B + C with C = 1 everywhere; A is M x K, B is K x N, both row-major floats holding small integers.
__global__ void f16_32x32x8(const float* a, const float* b, float* d) {
  half4_vector va, vb;
  for (int i = 0; i < 4; i++) {
    const int k = int(threadIdx.x) / 32 * 4 + i;
    va[i] = _Float16(a[(threadIdx.x % 32) * 8 + unsigned(k)]);
    vb[i] = _Float16(b[unsigned(k) * 32 + threadIdx.x % 32]);
  }
  float16_vector c;
  for (int i = 0; i < 16; i++)
    c[i] = 1;
  c = __builtin_amdgcn_mfma_f32_32x32x8f16(va, vb, c, 0, 0, 0);
  for (unsigned i = 0; i < 16; i++)
    d[(i / 4 * 8 + threadIdx.x / 32 * 4 + i % 4) * 32 + threadIdx.x % 32] = c[i];
}

__device__ void store_16x16(float4_vector c, float* d) {
  for (unsigned i = 0; i < 4; i++)
    d[(threadIdx.x / 16 * 4 + i) * 16 + threadIdx.x % 16] = c[i];
}

__global__ void f16_16x16x16(const float* a, const float* b, float* d) {
  half4_vector va, vb;
  for (unsigned i = 0; i < 4; i++) {
    const unsigned k = threadIdx.x / 16 * 4 + i;
    va[i] = _Float16(a[(threadIdx.x % 16) * 16 + k]);
    vb[i] = _Float16(b[k * 16 + threadIdx.x % 16]);
  }
  store_16x16(__builtin_amdgcn_mfma_f32_16x16x16f16(va, vb, float4_vector{1, 1, 1, 1}, 0, 0, 0), d);
}

__device__ short bf16(float value) { return short(__float_as_uint(value) >> 16); }  // exact for small integers

__global__ void bf16_16x16x16(const float* a, const float* b, float* d) {
  short4_vector va, vb;
  for (unsigned i = 0; i < 4; i++) {
    const unsigned k = threadIdx.x / 16 * 4 + i;
    va[i] = bf16(a[(threadIdx.x % 16) * 16 + k]);
    vb[i] = bf16(b[k * 16 + threadIdx.x % 16]);
  }
  store_16x16(__builtin_amdgcn_mfma_f32_16x16x16bf16_1k(va, vb, float4_vector{1, 1, 1, 1}, 0, 0, 0), d);
}

__global__ void fp8_16x16x32(const float* a, const float* b, float* d) {
  const unsigned line = threadIdx.x % 16, k = threadIdx.x / 16 * 8;
  uint64_t va = 0, vb = 0;
  for (unsigned i = 0; i < 8; i++) {
    va |= uint64_t(unsigned(__builtin_amdgcn_cvt_pk_fp8_f32(a[line * 32 + k + i], 0, 0, false)) & 255) << (8 * i);
    vb |= uint64_t(unsigned(__builtin_amdgcn_cvt_pk_fp8_f32(b[(k + i) * 16 + line], 0, 0, false)) & 255) << (8 * i);
  }
  store_16x16(__builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(long(va), long(vb), float4_vector{1, 1, 1, 1}, 0, 0, 0), d);
}

__global__ void i8_16x16x32(const float* a, const float* b, float* d) {
  const unsigned line = threadIdx.x % 16, k = threadIdx.x / 16 * 8;
  uint64_t va = 0, vb = 0;
  for (unsigned i = 0; i < 8; i++) {
    va |= uint64_t(unsigned(int(a[line * 32 + k + i])) & 255) << (8 * i);
    vb |= uint64_t(unsigned(int(b[(k + i) * 16 + line])) & 255) << (8 * i);
  }
  const int4_vector c = __builtin_amdgcn_mfma_i32_16x16x32_i8(long(va), long(vb), int4_vector{1, 1, 1, 1}, 0, 0, 0);
  store_16x16(float4_vector{float(c[0]), float(c[1]), float(c[2]), float(c[3])}, d);
}

__global__ void f32_16x16x4(const float* a, const float* b, float* d) {
  const unsigned line = threadIdx.x % 16, k = threadIdx.x / 16;
  store_16x16(__builtin_amdgcn_mfma_f32_16x16x4f32(a[line * 4 + k], b[k * 16 + line], float4_vector{1, 1, 1, 1}, 0, 0, 0), d);
}

__global__ void f64_16x16x4(const float* a, const float* b, float* d) {
  const unsigned line = threadIdx.x % 16, k = threadIdx.x / 16;
  const double4_vector c = __builtin_amdgcn_mfma_f64_16x16x4f64(a[line * 4 + k], b[k * 16 + line], double4_vector{1, 1, 1, 1}, 0, 0, 0);
  for (unsigned i = 0; i < 4; i++)  // the double form interleaves rows: register i holds rows i * 4 + lane / 16
    d[(i * 4 + threadIdx.x / 16) * 16 + threadIdx.x % 16] = float(c[i]);
}

using Kernel = void (*)(const float*, const float*, float*);

void test(Check& check, const char* name, Kernel kernel, unsigned side, unsigned depth) {
  for (uint64_t seed = 0; seed < 3; seed++) {
    Rng rng(seed * 100 + depth);
    std::vector<float> a(side * depth), b(depth * side), expected(side * side, 1.0f);
    for (float& value : a)
      value = float(int(rng.below(17)) - 8);
    for (float& value : b)
      value = float(int(rng.below(17)) - 8);
    for (unsigned i = 0; i < side; i++)
      for (unsigned j = 0; j < side; j++)
        for (unsigned k = 0; k < depth; k++)
          expected[i * side + j] += a[i * depth + k] * b[k * side + j];
    DeviceBuffer<float> d_a(a), d_b(b), d_d(side * side);
    kernel<<<1, 64>>>(d_a.get(), d_b.get(), d_d.get());
    HIP_CHECK_LAUNCH();
    check.all_equal(name, d_d.download(), expected);
  }
}

int main() {
  Check check("mfma");
  test(check, "f16_32x32x8", f16_32x32x8, 32, 8);
  test(check, "f16_16x16x16", f16_16x16x16, 16, 16);
  test(check, "bf16_16x16x16", bf16_16x16x16, 16, 16);
  test(check, "fp8_16x16x32", fp8_16x16x32, 16, 32);
  test(check, "i8_16x16x32", i8_16x16x32, 16, 32);
  test(check, "f32_16x16x4", f32_16x16x4, 16, 4);
  test(check, "f64_16x16x4", f64_16x16x4, 16, 4);
  return check.finish();
}
