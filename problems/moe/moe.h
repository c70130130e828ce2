// hipbench problem moe: a DeepSeek-style mixture-of-experts layer in f16. See `hipbench problems show moe`.
// Valid in hipRTC device code and in C++20 host code.
#pragma once
#include <cstdint>

struct hb_moe {               // f16 as raw bits, all row-major
  const uint16_t *x;          // [tokens][d_hidden], tokens = bs * seq
  const uint16_t *router;     // [n_experts][d_hidden]; logits = x . router^T
  const uint16_t *w_gate;     // [n_experts][d_hidden][d_expert]; x . w_gate[e]
  const uint16_t *w_up;       // [n_experts][d_hidden][d_expert]
  const uint16_t *w_down;     // [n_experts][d_expert][d_hidden]
  const uint16_t *s_gate;     // [d_hidden][d_shared]: the shared expert, d_shared = d_expert * (number of shared experts)
  const uint16_t *s_up;       // [d_hidden][d_shared]
  const uint16_t *s_down;     // [d_shared][d_hidden]
  uint16_t *y;                // OUT [tokens][d_hidden]
  int32_t bs, seq, tokens, d_hidden, d_expert, d_shared, n_experts, top_k;
};

static_assert(sizeof(hb_moe) == 104, "hb_moe is 104 bytes");
static_assert(__builtin_offsetof(hb_moe, x) == 0 && __builtin_offsetof(hb_moe, router) == 8, "layout");
static_assert(__builtin_offsetof(hb_moe, w_gate) == 16 && __builtin_offsetof(hb_moe, w_up) == 24, "layout");
static_assert(__builtin_offsetof(hb_moe, w_down) == 32 && __builtin_offsetof(hb_moe, s_gate) == 40, "layout");
static_assert(__builtin_offsetof(hb_moe, s_up) == 48 && __builtin_offsetof(hb_moe, s_down) == 56, "layout");
static_assert(__builtin_offsetof(hb_moe, y) == 64 && __builtin_offsetof(hb_moe, bs) == 72, "layout");
static_assert(__builtin_offsetof(hb_moe, seq) == 76 && __builtin_offsetof(hb_moe, tokens) == 80, "layout");
static_assert(__builtin_offsetof(hb_moe, d_hidden) == 84 && __builtin_offsetof(hb_moe, d_expert) == 88, "layout");
static_assert(__builtin_offsetof(hb_moe, d_shared) == 92 && __builtin_offsetof(hb_moe, n_experts) == 96, "layout");
static_assert(__builtin_offsetof(hb_moe, top_k) == 100, "layout");

// Typed views: hb_view<_Float16>(args.x), or hb_view<__half>(args.x) if you include <hip/hip_fp16.h>.
#if defined(__HIP__) || defined(__HIPCC__) || defined(__HIPCC_RTC__)
#define HB_MOE_BOTH __attribute__((host)) __attribute__((device))
#else
#define HB_MOE_BOTH
#endif
#ifndef HB_VIEW
#define HB_VIEW
template <typename T>
HB_MOE_BOTH inline T *hb_view(uint16_t *pointer) {
  static_assert(sizeof(T) == 2, "the element is two bytes");
  return reinterpret_cast<T *>(pointer);
}
template <typename T>
HB_MOE_BOTH inline const T *hb_view(const uint16_t *pointer) {
  static_assert(sizeof(T) == 2, "the element is two bytes");
  return reinterpret_cast<const T *>(pointer);
}
#endif
