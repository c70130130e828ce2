#pragma once
// What the files of this folder share: the order of the pointer fields and the sizes of a shape.

#include <cstdint>

#include "problems/problem.hpp"

namespace hipbench::fp8_gemm {

constexpr size_t kA = 0, kB = 1, kAScale = 2, kBScale = 3, kC = 4;  // in Problem::pointer_fields()
constexpr int64_t kScaleBlock = 128;

constexpr int64_t blocks(int64_t size) { return (size + kScaleBlock - 1) / kScaleBlock; }

struct Sizes {
  int64_t m, n, k;
};
inline Sizes sizes_of(const Shape& shape) { return {shape.values[0], shape.values[1], shape.values[2]}; }

constexpr std::string_view kFamilies[] = {"one-hot", "dynamic-range", "cancelling"};

// The four inputs; kC stays empty.
Buffers draw_inputs(const Shape& shape, const Draw& draw);

Case transform(const Shape& shape, Case drawn, Extent extent, uint64_t seed, unsigned threads);

}  // namespace hipbench::fp8_gemm
