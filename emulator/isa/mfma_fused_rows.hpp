#pragma once
// Internal: the fused instructions as loops over the rows of A, for the translation units that instantiate them.

#include "emulator/isa/mfma_fused.hpp"

namespace hipbench::emulator::mfma_detail {

// Row i of a block of A gathered from its planes.
template <typename Format, int K, int M, int Values>
inline void gather_row(UniformRow<Format, K>& row, const Planes<Format, Values>& planes, int block, int i) {
  for (int t = 0; t < K; ++t) {
    const int lane = M * (t / Values + block) + i;
    row.values[t] = planes.values[t % Values][lane];
    row.exponents[t] = planes.exponents[t % Values][lane];
  }
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
  alignas(64) u32 accumulator[kAccumulatorWords<M, Blocks>];
  load_accumulator(accumulator, c, kAccumulatorWords<M, Blocks>, modifiers.c_constant);
  const Hazards hazards = find_hazards(planes_a, planes_b);
  using Offset = DenseOffset<M, kValues>;
  for (int block = 0; block < Blocks; ++block) {
    const int block_a = a_source_block(block, Blocks, modifiers);
    for (int i = 0; i < M; ++i) {
      UniformRow<FormatA, K> row;
      gather_row<FormatA, K, M>(row, planes_a, block_a, i);
      u32* columns = accumulator + accumulator_offset<M>(block, i);
      for (int j = 0; j < M; j += kChunk) {
        const int lane = M * block + j;
        const Columns<FormatB, Offset> b_columns{planes_b.values[0] + lane, planes_b.exponents[0] + lane, {}};
        store(columns + j, fused_dot<Rules, K>(row, b_columns, hazards, load<f32x16>(columns + j)));
      }
    }
  }
  std::memcpy(d, accumulator, sizeof accumulator);
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
  alignas(64) u32 accumulator[kAccumulatorWords<4, 16>];
  load_accumulator(accumulator, c, kAccumulatorWords<4, 16>, modifiers.c_constant);
  const Hazards hazards = find_hazards(planes_a, planes_b);
  for (int i = 0; i < 4; ++i) {
    for (int t = 0; t < K; ++t) {
      for (int lane = 0; lane < kLanes; ++lane) {
        const int source = 4 * a_source_block(lane / 4, 16, modifiers) + i;
        rows.values[t][lane] = planes_a.values[t][source];
        rows.exponents[t][lane] = planes_a.exponents[t][source];
      }
    }
    for (int lane = 0; lane < kLanes; lane += kChunk) {
      const LaneRow<Format> row{rows.values[0] + lane, rows.exponents[0] + lane};
      const Columns<Format, DenseOffset<4, K>> columns{planes_b.values[0] + lane, planes_b.exponents[0] + lane, {}};
      u32* at = accumulator + i * kLanes + lane;
      store(at, fused_dot<Rules, K>(row, columns, hazards, load<f32x16>(at)));
    }
  }
  std::memcpy(d, accumulator, sizeof accumulator);
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
  for (int lane = 0; lane < kLanes; ++lane) index_bits[lane] = select_index_set(index[lane], kValuesA, modifiers);
  alignas(64) u32 accumulator[kAccumulatorWords<M, 1>];
  std::memcpy(accumulator, d, sizeof accumulator);
  const Hazards hazards = find_hazards(planes_a, planes_b);
  for (int i = 0; i < M; ++i) {
    UniformRow<FormatA, kKept> row;
    gather_row<FormatA, kKept, M>(row, planes_a, 0, i);
    i32 offsets[kKept];
    for (int t = 0; t < kKept; ++t) {
      offsets[t] = DenseOffset<M, kValuesB>{}(sparse_k(index_bits[M * (t / kValuesA) + i], t, kValuesA));
    }
    u32* columns = accumulator + accumulator_offset<M>(0, i);
    for (int j = 0; j < M; j += kChunk) {
      const Columns<FormatB, SparseOffset> b_columns{planes_b.values[0] + j, planes_b.exponents[0] + j, {offsets}};
      store(columns + j, fused_dot<Rules, kKept>(row, b_columns, hazards, load<f32x16>(columns + j)));
    }
  }
  std::memcpy(d, accumulator, sizeof accumulator);
}

}  // namespace hipbench::emulator::mfma_detail
