#pragma once
// The right answer of mla_decode. In double with absorbed weights, so that nothing is expanded to all heads for each
// key; rounded to bf16 only where the reference's own rounding is part of the problem: the appended cache row, and all
// of RoPE.

#include <cstdint>
#include <span>
#include <vector>

#include "problems/mla_decode/rope.hpp"

namespace hipbench::mla_decode {

constexpr int64_t kLatent = 512, kCacheRow = kLatent + kRope;
constexpr int64_t kNope = 128, kValue = 128;
constexpr int64_t kQueryHead = kNope + kRope;  // rows of wq_up a head: k_nope's partner, then rope
constexpr int64_t kKeyHead = kNope + kValue;   // rows of wkv_up a head: k_nope, then v

struct Sizes {
  int64_t bs, dim, dq, n_heads, prefill, max_seq;  // any, but prefill < max_seq
};

// bf16 bits, laid out as mla_decode.h says; row `prefill` of kv_cache is not read.
struct Operands {
  const uint16_t *x, *wq_down, *wkv_down, *wq_up, *wkv_up, *wo, *kv_cache;
  Sizes sizes;
};

struct Answer {
  std::vector<uint16_t> cache_rows;  // [batches][576], the rows to append
  std::vector<uint16_t> y;           // [batches][dim]
};

// For the batches asked for (ascending, all valid).
Answer decode(const Operands& operands, std::span<const int64_t> batches, unsigned threads);

}  // namespace hipbench::mla_decode
