#pragma once
// Internal: dot products of 16-bit integers, two neighbouring k at a time.

#include <immintrin.h>

#include "emulator/isa/mfma_vector.hpp"

namespace hipbench::emulator::mfma_detail {

// In each 32-bit lane: low(a)·low(b) + high(a)·high(b), the halves as signed integers.
inline i32x16 multiply_add_pairs(i32x16 a, i32x16 b) {
  i32x16 result;
#if defined(__AVX2__)
  for (int at = 0; at < kChunk; at += 8) {
    __m256i part_a, part_b;
    std::memcpy(&part_a, reinterpret_cast<const i32*>(&a) + at, sizeof part_a);
    std::memcpy(&part_b, reinterpret_cast<const i32*>(&b) + at, sizeof part_b);
    const __m256i sum = _mm256_madd_epi16(part_a, part_b);
    std::memcpy(reinterpret_cast<i32*>(&result) + at, &sum, sizeof sum);
  }
#else
  for (int at = 0; at < kChunk; at += 4) {
    __m128i part_a, part_b;
    std::memcpy(&part_a, reinterpret_cast<const i32*>(&a) + at, sizeof part_a);
    std::memcpy(&part_b, reinterpret_cast<const i32*>(&b) + at, sizeof part_b);
    const __m128i sum = _mm_madd_epi16(part_a, part_b);
    std::memcpy(reinterpret_cast<i32*>(&result) + at, &sum, sizeof sum);
  }
#endif
  return result;
}

// Values of an operand as 16-bit integers: those of k = 2p (low half) and 2p + 1 (high half) of a lane in one word.
template <int Values>
struct PairPlanes {
  static constexpr int kPairs = Values / 2;
  alignas(64) i32 pairs[kPairs][kLanes];

  // Whole bytes as signed integers.
  void unpack_i8(const u32* registers) {
    for (int p = 0; p < kPairs; ++p) {
      for (int lane = 0; lane < kLanes; ++lane) {
        const u32 bytes = registers[p / 2 * kLanes + lane] >> (p % 2 * 16);
        pairs[p][lane] = combine(static_cast<i8>(bytes), static_cast<i8>(bytes >> 8));
      }
    }
  }

  static i32 combine(i32 low, i32 high) {
    return static_cast<i32>((static_cast<u32>(low) & 0xffffu) | static_cast<u32>(high) << 16);
  }
};

// `a(p)` gives the p-th pair of a row in every lane, `b(p)` 16 columns of B's.
template <int Pairs, typename RowA, typename ColumnsB>
inline i32x16 dot_pairs(const RowA& a, const ColumnsB& b) {
  i32x16 sum = 0;
#pragma clang loop unroll(full)
  for (int p = 0; p < Pairs; ++p) sum += multiply_add_pairs(a(p), b(p));
  return sum;
}

}  // namespace hipbench::emulator::mfma_detail
