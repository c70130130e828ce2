#pragma once
// What the files of this folder share: the order of the pointer fields and the sizes of a shape.

#include <cstdint>
#include <cstring>

#include "problems/problem.hpp"

namespace hipbench::moe {

// In the order of Problem::pointer_fields().
constexpr size_t kX = 0, kRouter = 1, kGate = 2, kUp = 3, kDown = 4, kSharedGate = 5, kSharedUp = 6, kSharedDown = 7,
                 kY = 8;
constexpr size_t kFieldCount = 9;

struct Sizes {
  int64_t bs, seq, tokens, d_hidden, d_expert, d_shared, n_experts, top_k;
};
inline Sizes sizes_of(const Shape& shape) {
  const auto& v = shape.values;
  return {v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]};
}

constexpr int64_t field_elements(const Sizes& s, size_t field) {
  switch (field) {
    case kRouter:
      return s.n_experts * s.d_hidden;
    case kGate:
    case kUp:
    case kDown:
      return s.n_experts * s.d_hidden * s.d_expert;
    case kSharedGate:
    case kSharedUp:
    case kSharedDown:
      return s.d_hidden * s.d_shared;
    default:
      return s.tokens * s.d_hidden;  // kX, kY
  }
}

// A buffer as f16 codes. Vectors of bytes come from operator new, which aligns them for any number.
inline const uint16_t* codes(const std::vector<std::byte>& buffer) {
  return reinterpret_cast<const uint16_t*>(buffer.data());
}
inline uint16_t* codes(std::vector<std::byte>& buffer) { return reinterpret_cast<uint16_t*>(buffer.data()); }

// The smallest distance between the logits of the last expert that is chosen and of the first that is not: four steps
// of f16 at these magnitudes, so that rounding logits to f16, as the reference does, changes no choice.
constexpr double kSmallestLogitGap = 0x1p-7;

constexpr std::string_view kFamilies[] = {"one-hot", "dynamic-range", "cancelling", "permuted-experts",
                                          "uneven-experts"};

// All inputs; kY stays empty.
Buffers draw_inputs(const Shape& shape, const Draw& draw);

Case transform(const Shape& shape, Case drawn, Extent extent, uint64_t seed, unsigned threads);

}  // namespace hipbench::moe
