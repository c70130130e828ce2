#pragma once
// What the files of this folder share: the order of the pointer fields, the sizes of a shape, inputs and symmetries.

#include <cstdint>

#include "problems/mla_decode/oracle.hpp"
#include "problems/problem.hpp"

namespace hipbench::mla_decode {

// In Problem::pointer_fields().
constexpr size_t kX = 0, kWqDown = 1, kWkvDown = 2, kWqUp = 3, kWkvUp = 4, kWo = 5, kKvCache = 6, kY = 7,
                 kFieldCount = 8;

inline Sizes sizes_of(const Shape& shape) {
  const std::vector<int32_t>& v = shape.values;
  return {v[0], v[1], v[2], v[3], v[4], v[5]};
}

// Every field is a matrix.
struct Extents {
  int64_t rows, columns;
};
// Sizes and indices are signed as the candidates' struct has them.
constexpr size_t at(int64_t index) { return static_cast<size_t>(index); }

constexpr Extents extents(const Sizes& s, size_t field) {
  switch (field) {
    case kWqDown:
      return {s.dq, s.dim};
    case kWkvDown:
      return {kCacheRow, s.dim};
    case kWqUp:
      return {s.n_heads * kQueryHead, s.dq};
    case kWkvUp:
      return {s.n_heads * kKeyHead, kLatent};
    case kWo:
      return {s.dim, s.n_heads * kValue};
    case kKvCache:
      return {s.bs * s.max_seq, kCacheRow};
    default:
      return {s.bs, s.dim};  // x, y
  }
}

constexpr std::string_view kFamilies[] = {"one-hot", "dynamic-range", "cancelling", "late-key", "positions"};

// All inputs and the whole cache; kY stays empty. Any sizes.
Buffers draw_inputs(const Shape& shape, const Draw& draw);

Case transform(const Shape& shape, Case drawn, Extent extent, uint64_t seed, unsigned threads);

}  // namespace hipbench::mla_decode
