// hipbench problem mla_decode: one decode step of DeepSeek's latent attention. See `hipbench problems show mla_decode`.
// Valid in hipRTC device code and in C++20 host code.
#pragma once
#include <cstdint>

// All bf16 raw bits; weights are [out][in].
struct hb_mla_decode {
  const uint16_t *x;         // [bs][dim]
  const uint16_t *wq_down;   // [dq][dim]
  const uint16_t *wkv_down;  // [576][dim]; rows 0..511 latent, 512..575 rope
  const uint16_t *wq_up;     // [128*192][dq]; row h*192+d: d<128 nope, else rope
  const uint16_t *wkv_up;    // [128*256][512]; row h*256+d: d<128 k_nope, else v
  const uint16_t *wo;        // [dim][128*128]; column h*128+d
  uint16_t *kv_cache;        // INOUT [bs][max_seq][576]; row `prefill` is written
  uint16_t *y;               // OUT [bs][dim]; score scale 1/sqrt(192)
  int32_t bs, dim, dq, n_heads, prefill, max_seq;
};

static_assert(sizeof(hb_mla_decode) == 88, "hb_mla_decode is 88 bytes");
static_assert(__builtin_offsetof(hb_mla_decode, x) == 0 && __builtin_offsetof(hb_mla_decode, wq_down) == 8, "layout");
static_assert(__builtin_offsetof(hb_mla_decode, wkv_down) == 16 && __builtin_offsetof(hb_mla_decode, wq_up) == 24, "layout");
static_assert(__builtin_offsetof(hb_mla_decode, wkv_up) == 32 && __builtin_offsetof(hb_mla_decode, wo) == 40, "layout");
static_assert(__builtin_offsetof(hb_mla_decode, kv_cache) == 48 && __builtin_offsetof(hb_mla_decode, y) == 56, "layout");
static_assert(__builtin_offsetof(hb_mla_decode, bs) == 64 && __builtin_offsetof(hb_mla_decode, dim) == 68, "layout");
static_assert(__builtin_offsetof(hb_mla_decode, dq) == 72 && __builtin_offsetof(hb_mla_decode, n_heads) == 76, "layout");
static_assert(__builtin_offsetof(hb_mla_decode, prefill) == 80 && __builtin_offsetof(hb_mla_decode, max_seq) == 84, "layout");

// Typed views, if you include <hip/hip_bf16.h>: hb_view<__hip_bfloat16>(args.x).
#if defined(__HIP__) || defined(__HIPCC__) || defined(__HIPCC_RTC__)
#define HB_MLA_DECODE_BOTH __attribute__((host)) __attribute__((device))
#else
#define HB_MLA_DECODE_BOTH
#endif
#ifndef HB_VIEW
#define HB_VIEW
template <typename T>
HB_MLA_DECODE_BOTH inline T *hb_view(uint16_t *pointer) {
  static_assert(sizeof(T) == 2, "the element is two bytes");
  return reinterpret_cast<T *>(pointer);
}
template <typename T>
HB_MLA_DECODE_BOTH inline const T *hb_view(const uint16_t *pointer) {
  static_assert(sizeof(T) == 2, "the element is two bytes");
  return reinterpret_cast<const T *>(pointer);
}
#endif
