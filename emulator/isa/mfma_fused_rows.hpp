#pragma once
// Internal: the fused instructions as loops over the rows of A, for the translation units that instantiate them.

#include <type_traits>

#include "emulator/isa/mfma_fused.hpp"
#include "emulator/isa/mfma_pairs.hpp"

namespace hipbench::emulator::mfma_detail {

// ---- fp8 as integers
// ------------------------------------------------------------------------------------------------------- Where the
// exponents of A and B allow none above 4 in a product, nothing is ever truncated in step 2: fp8 values are multiples
// of 2^-10, products of 2^-20, and e − 24 ≤ −20. The sum is then an exact one of integers in units of 2^-20: values fit
// 16 bits (below 2^5, so 2^15 units), a product is below 2^26 units, 16 of them below 2^30. This holds for most real
// data.

inline constexpr int kFp8Fraction = 10;
inline constexpr int kGreatestIntegerExponent = 4;

template <typename FormatA, typename FormatB, int Values>
inline bool integers_suffice(const Planes<FormatA, Values>& a, const Planes<FormatB, Values>& b) {
  if (!std::is_same_v<FormatA, FormatFp8> || !std::is_same_v<FormatB, FormatFp8>) return false;
  // The sum of two coded zeros, or of a zero and a value, is below any sum that could matter.
  return !a.special && !b.special && a.greatest_exponent <= kGreatestIntegerExponent &&
         b.greatest_exponent <= kGreatestIntegerExponent &&
         a.greatest_exponent + b.greatest_exponent <= kGreatestIntegerExponent;
}

template <int Values>
inline void to_integers(PairPlanes<Values>& integers, const Planes<FormatFp8, Values>& planes) {
  const auto fixed = [&](int v, int lane) {
    const f32x16 scaled = load<f32x16>(planes.values[v] + lane) * std::bit_cast<f32>((127u + kFp8Fraction) << 23);
    return __builtin_bit_cast(u32x16, __builtin_convertvector(scaled, i32x16));
  };
  for (int p = 0; p < PairPlanes<Values>::kPairs; ++p) {
    for (int lane = 0; lane < kLanes; lane += kChunk) {
      store(integers.pairs[p] + lane, (fixed(2 * p, lane) & 0xffffu) | (fixed(2 * p + 1, lane) << 16));
    }
  }
}

// All groups of row i of A against 16 columns of B, from lane j on.
template <typename Rules, int M, int K, int Values, typename RowA, typename ColumnsB>
inline f32x16 integer_dot(const PairPlanes<Values>& a, const PairPlanes<Values>& b, int i, int j,
                          const PartExponents<Rules, K, M>& exponents, const RowA& row, const ColumnsB& columns,
                          f32x16 c) {
  constexpr int kCount = kGroupSize<Rules, K>;
  constexpr int kPairs = PairPlanes<Values>::kPairs;
  for (int group = 0; group < K / kCount; ++group) {
    if (c_needs_exact(c)) [[unlikely]] {
      f32 values[kChunk];
      store(values, c);
      exact_columns<Rules, kCount>(values, row, columns, group * kCount);
      c = load<f32x16>(values);
      continue;
    }
    const int first = group * kCount / 2;
    const auto lane_of = [&](int p) { return M * ((first + p) / kPairs); };
    const i32x16 sum =
        dot_pairs<kCount / 2>([&](int p) { return i32x16(a.pairs[(first + p) % kPairs][lane_of(p) + i]); },
                              [&](int p) { return load<i32x16>(b.pairs[(first + p) % kPairs] + lane_of(p) + j); });
    const i32x16 e = __builtin_elementwise_max(load_exponents(exponents.greatest[2 * group] + j),
                                               load_exponents(exponents.greatest[2 * group + 1] + j));
    c = add_accumulator<Rules>({sum, i32x16(-2 * kFp8Fraction), scaled_exponent<Rules>(e)}, c);
  }
  return c;
}

// 32x32 and 16x16, one block (K spread over the lanes) or several.
template <typename FormatA, typename FormatB, int M, int K, int Blocks>
void fused_dense(u32* d, const u32* a, const u32* b, const u32* c, const MfmaModifiers& modifiers) {
  using Rules = FusedRules<FormatA, FormatB>;
  constexpr int kValues = K * M * Blocks / kLanes;
  constexpr int kRegistersB = kValues * FormatB::kBits / 32;
  Planes<FormatA, kValues> planes_a;
  Planes<FormatB, kValues> planes_b;
  u32 swizzled[kRegistersB * kLanes];
  planes_a.unpack(a);
  planes_b.unpack(Blocks > 1 ? swizzle_b(b, kRegistersB, modifiers.blgp, swizzled) : b);
  alignas(64) u32 storage[kAccumulatorWords<M, Blocks>];
  const u32* accumulator = readable_accumulator(storage, d, c, kAccumulatorWords<M, Blocks>, modifiers.c_constant);
  const Hazards hazards = find_hazards(planes_a, planes_b);
  const bool integers = integers_suffice(planes_a, planes_b);
  PairPlanes<kValues> integers_a, integers_b;
  if constexpr (std::is_same_v<FormatA, FormatFp8> && std::is_same_v<FormatB, FormatFp8>) {
    if (integers) to_integers(integers_a, planes_a), to_integers(integers_b, planes_b);
  }
  using Offset = DenseOffset<M, kValues>;
  for (int block = 0; block < Blocks; ++block) {
    const int block_a = a_source_block(block, Blocks, modifiers);
    for (int i = 0; i < M; ++i) {
      const int lane_a = M * block_a + i;
      const UniformRow<FormatA, M, kValues> row{planes_a.values[0] + lane_a, planes_a.exponents[0] + lane_a};
      const u32* c_row = accumulator + accumulator_offset<M>(block, i);
      u32* d_row = d + accumulator_offset<M>(block, i);
      const auto b_columns = [&](int j) {
        return Columns<FormatB, Offset>{planes_b.values[0] + M * block + j, planes_b.exponents[0] + M * block + j, {}};
      };
      PartExponents<Rules, K, M> exponents;
      find_exponents(exponents, row, b_columns(0));
      if constexpr (Rules::kSplit) {
        if (integers) {
          for (int j = 0; j < M; j += kChunk) {
            const f32x16 c_columns = load<f32x16>(c_row + j);
            store(d_row + j,
                  integer_dot<Rules, M, K>(integers_a, integers_b, i, j, exponents, row, b_columns(j), c_columns));
          }
          continue;
        }
      }
      for (int j = 0; j < M; j += kChunk) {
        const f32x16 c_columns = load<f32x16>(c_row + j);
        store(d_row + j, fused_dot<Rules, K>(row, b_columns(j), exponents.greatest[0] + j, M, hazards, c_columns));
      }
    }
  }
}

// 4x4 with 16 blocks: lane = 4·block + j, so that 16 lanes are four blocks, each with its own row of A.
template <typename Format, int K>
void fused_4x4(u32* d, const u32* a, const u32* b, const u32* c, const MfmaModifiers& modifiers) {
  using Rules = FusedRules<Format, Format>;
  constexpr int kRegistersB = K * Format::kBits / 32;
  Planes<Format, K> planes_a, planes_b, rows;
  u32 swizzled[kRegistersB * kLanes];
  planes_a.unpack(a);
  planes_b.unpack(swizzle_b(b, kRegistersB, modifiers.blgp, swizzled));
  alignas(64) u32 storage[kAccumulatorWords<4, 16>];
  const u32* accumulator = readable_accumulator(storage, d, c, kAccumulatorWords<4, 16>, modifiers.c_constant);
  const Hazards hazards = find_hazards(planes_a, planes_b);
  int first_row[kLanes];  // the lane of row 0 of the block of A that a lane's block reads
  for (int lane = 0; lane < kLanes; ++lane) first_row[lane] = 4 * a_source_block(lane / 4, 16, modifiers);
  for (int i = 0; i < 4; ++i) {
    for (int t = 0; t < K; ++t) {
      for (int lane = 0; lane < kLanes; ++lane) {
        rows.values[t][lane] = planes_a.values[t][first_row[lane] + i];
        rows.exponents[t][lane] = planes_a.exponents[t][first_row[lane] + i];
      }
    }
    for (int lane = 0; lane < kLanes; lane += kChunk) {
      const LaneRow<Format> row{rows.values[0] + lane, rows.exponents[0] + lane};
      const Columns<Format, DenseOffset<4, K>> columns{planes_b.values[0] + lane, planes_b.exponents[0] + lane, {}};
      const int at = i * kLanes + lane;
      PartExponents<Rules, K, kChunk> exponents;
      find_exponents(exponents, row, columns);
      const f32x16 c_columns = load<f32x16>(accumulator + at);
      store(d + at, fused_dot<Rules, K>(row, columns, exponents.greatest[0], kChunk, hazards, c_columns));
    }
  }
}

// 4:2 structured sparsity: of each four consecutive k, A keeps two, and an index register says which. The groups of the
// sum are taken over the kept elements in order (no public source says so; the dense hardware datapath fed with
// selected rows of B does).
template <typename FormatA, typename FormatB, int M, int K>
void fused_sparse(u32* d, const u32* a, const u32* b, const u32* index, const MfmaModifiers& modifiers) {
  using Rules = FusedRules<FormatA, FormatB>;
  constexpr int kKept = K / 2;
  constexpr int kValuesA = kKept * M / kLanes;
  constexpr int kValuesB = 2 * kValuesA;
  Planes<FormatA, kValuesA> planes_a;
  Planes<FormatB, kValuesB> planes_b;
  planes_a.unpack(a);
  planes_b.unpack(b);
  u32 index_bits[kLanes];
  select_index_sets(index_bits, index, kValuesA, modifiers);
  const Hazards hazards = find_hazards(planes_a, planes_b);
  for (int i = 0; i < M; ++i) {
    const UniformRow<FormatA, M, kValuesA> row{planes_a.values[0] + i, planes_a.exponents[0] + i};
    i32 offsets[kKept];
    for (int t = 0; t < kKept; ++t) {
      offsets[t] = DenseOffset<M, kValuesB>{}(sparse_k(index_bits[M * (t / kValuesA) + i], t, kValuesA));
    }
    u32* columns = d + accumulator_offset<M>(0, i);
    const auto b_columns = [&](int j) {
      return Columns<FormatB, SparseOffset>{planes_b.values[0] + j, planes_b.exponents[0] + j, {offsets}};
    };
    PartExponents<Rules, kKept, M> exponents;
    find_exponents(exponents, row, b_columns(0));
    for (int j = 0; j < M; j += kChunk) {
      store(columns + j, fused_dot<Rules, kKept>(row, b_columns(j), exponents.greatest[0] + j, M, hazards,
                                                 load<f32x16>(columns + j)));
    }
  }
}

}  // namespace hipbench::emulator::mfma_detail
