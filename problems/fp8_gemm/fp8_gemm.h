// hipbench problem fp8_gemm: C = A . B^T with 128-wide block scales. See `hipbench problems show fp8_gemm`.
// Valid in hipRTC device code and in C++20 host code.
#pragma once
#include <cstdint>

struct hb_fp8_gemm {
  const uint8_t *a;      // e4m3fnuz, A(i,kk) = a[kk*m + i]
  const uint8_t *b;      // e4m3fnuz, B(j,kk) = b[kk*n + j]
  const float *a_scale;  // (i,kb)  = a_scale[kb*m + i],               kb = kk / 128
  const float *b_scale;  // (jb,kb) = b_scale[kb*((n+127)/128) + jb],  jb = j / 128
  uint16_t *c;           // OUT bf16, C(i,j) = c[i*n + j]
  int32_t m, n, k, reserved;
};

static_assert(sizeof(hb_fp8_gemm) == 56, "hb_fp8_gemm is 56 bytes");
static_assert(__builtin_offsetof(hb_fp8_gemm, a) == 0 && __builtin_offsetof(hb_fp8_gemm, b) == 8, "layout");
static_assert(__builtin_offsetof(hb_fp8_gemm, a_scale) == 16 && __builtin_offsetof(hb_fp8_gemm, b_scale) == 24, "layout");
static_assert(__builtin_offsetof(hb_fp8_gemm, c) == 32 && __builtin_offsetof(hb_fp8_gemm, m) == 40, "layout");
static_assert(__builtin_offsetof(hb_fp8_gemm, n) == 44 && __builtin_offsetof(hb_fp8_gemm, k) == 48, "layout");
static_assert(__builtin_offsetof(hb_fp8_gemm, reserved) == 52, "layout");

// Typed views, if you include <hip/hip_fp8.h> and <hip/hip_bf16.h>: hb_view<__hip_fp8_e4m3_fnuz>(args.a).
#if defined(__HIP__) || defined(__HIPCC__) || defined(__HIPCC_RTC__)
#define HB_FP8_GEMM_BOTH __attribute__((host)) __attribute__((device))
#else
#define HB_FP8_GEMM_BOTH
#endif
#ifndef HB_VIEW
#define HB_VIEW
template <typename T>
HB_FP8_GEMM_BOTH inline const T *hb_view(const uint8_t *pointer) {
  static_assert(sizeof(T) == 1, "the element is one byte");
  return reinterpret_cast<const T *>(pointer);
}
template <typename T>
HB_FP8_GEMM_BOTH inline T *hb_view(uint16_t *pointer) {
  static_assert(sizeof(T) == 2, "the element is two bytes");
  return reinterpret_cast<T *>(pointer);
}
template <typename T>
HB_FP8_GEMM_BOTH inline const T *hb_view(const uint16_t *pointer) {
  static_assert(sizeof(T) == 2, "the element is two bytes");
  return reinterpret_cast<const T *>(pointer);
}
#endif
