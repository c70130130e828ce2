#pragma once
// Internal to the matrix instructions: portable vectors of 16 lanes (the compiler splits them as the target needs) and
// the unpacking of register operands.
//
// Layout of operands (AMD matrix instruction calculator). A lane holds V consecutive k values of one row of A, or of
// one column of B, across its registers. With M rows, lane = M·(k / V) + i for a single block, lane = M·block + i for
// several. The unpacked form therefore is V planes of 64 lanes: plane v, lane l. For a fixed k, a row of B is
// contiguous, as are the columns j of a row of C and D:
//   32x32: register 16·block + 4·(i / 8) + i % 4, lane 32·((i / 4) % 2) + j
//   16x16: register 4·block + i % 4,              lane 16·(i / 4) + j
//   4x4:   register i,                            lane 4·block + j

#include <cstring>
#include <functional>

#include "emulator/isa/mfma.hpp"

namespace hipbench::emulator::mfma_detail {

inline constexpr int kLanes = static_cast<int>(kWaveSize);
inline constexpr int kChunk = 16;  // lanes handled at once

using f32x16 = f32 __attribute__((ext_vector_type(16)));
using f32x8 = f32 __attribute__((ext_vector_type(8)));
using f64x8 = f64 __attribute__((ext_vector_type(8)));
using u32x16 = u32 __attribute__((ext_vector_type(16)));
using i32x16 = i32 __attribute__((ext_vector_type(16)));
using i32x8 = i32 __attribute__((ext_vector_type(8)));
using i64x8 = i64 __attribute__((ext_vector_type(8)));
using i16x16 = i16 __attribute__((ext_vector_type(16)));
using i8x16 = i8 __attribute__((ext_vector_type(16)));

template <typename Vector, typename Element>
inline Vector load(const Element* from) {
  Vector vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}
template <typename Vector, typename Element>
inline void store(Element* to, Vector vector) {
  std::memcpy(to, &vector, sizeof vector);
}

// What lane `lane` of B reads from under BLGP.
constexpr int blgp_source_lane(int blgp, int lane) {
  switch (blgp) {
    case 0:
      return lane;
    case 1:
      return lane % 32;
    case 2:
      return 32 + lane % 32;
    case 3:
      return (lane + 16) % kLanes;
    default:
      return 16 * (blgp - 4) + lane % 16;
  }
}

// B with its lane groups swizzled; `storage` is used where that moves anything.
inline const u32* swizzle_b(const u32* b, int registers, int blgp, u32* storage) {
  if (blgp == 0) return b;
  for (int r = 0; r < registers; ++r) {
    for (int lane = 0; lane < kLanes; ++lane)
      storage[r * kLanes + lane] = b[r * kLanes + blgp_source_lane(blgp & 7, lane)];
  }
  return storage;
}

// The block of A that `block` reads under CBSZ and ABID. Settings beyond the number of blocks have no meaning; they are
// clipped.
constexpr int a_source_block(int block, int blocks, const MfmaModifiers& modifiers) {
  int shared = 1;
  while (shared < blocks && shared < (1 << (modifiers.cbsz & 7))) shared *= 2;
  return block / shared * shared + modifiers.abid % shared;
}

// Where the columns of row i of a block begin in C and D, as an index of words.
template <int M>
constexpr int accumulator_offset(int block, int i) {
  if constexpr (M == 32) return (16 * block + 4 * (i / 8) + i % 4) * kLanes + 32 * (i / 4 % 2);
  if constexpr (M == 16) return (4 * block + i % 4) * kLanes + 16 * (i / 4);
  if constexpr (M == 4) return i * kLanes + 4 * block;
}

template <int M, int Blocks>
inline constexpr int kAccumulatorWords = M * M * Blocks;

// Where to read C from while D is written front to back in the same order: C itself if D is C or apart from it, else a
// copy.
inline const u32* readable_accumulator(u32* storage, const u32* d, const u32* c, int words, u64 constant) {
  if (c == nullptr) {
    for (int word = 0; word < words; ++word) storage[word] = static_cast<u32>(constant);
    return storage;
  }
  const std::less<const u32*> before;
  if (c == d || !before(c, d + words) || !before(d, c + words)) return c;
  std::memcpy(storage, c, static_cast<std::size_t>(words) * sizeof(u32));
  return storage;
}

// Which column of B (a dense k) the t-th kept element of a row of a 4:2 sparse A meets: two index bits an element.
constexpr int sparse_k(u32 index_bits, int t, int values_a_lane) {
  return 4 * (t / 2) + static_cast<int>(index_bits >> (2 * (t % values_a_lane)) & 3u);
}

// The index bits of every lane: a set has two bits for each of the lane's elements of A.
inline void select_index_sets(u32* index_bits, const u32* index, int values_a_lane, const MfmaModifiers& modifiers) {
  const int set_bits = 2 * values_a_lane;
  const int set = modifiers.cbsz != 0 ? 0 : modifiers.abid % (32 / set_bits);
  for (int lane = 0; lane < kLanes; ++lane) {
    const u32 word = index != nullptr ? index[lane] : static_cast<u32>(modifiers.c_constant);
    index_bits[lane] = word >> (set * set_bits);
  }
}

}  // namespace hipbench::emulator::mfma_detail
