// The matrix instructions on i8 operands: exact, accumulated modulo 2^32. (The encoding has no clamp bit on gfx942.)

#include "emulator/isa/mfma_instructions.hpp"
#include "emulator/isa/mfma_pairs.hpp"

namespace hipbench::emulator::mfma_detail {
namespace {

inline void add_products(u32* d, const u32* c, i32x16 products) {
  store(d, load<u32x16>(c) + __builtin_bit_cast(u32x16, products));
}

template <int M, int K, int Blocks>
void i8_dense(u32* d, const u32* a, const u32* b, const u32* c, const MfmaModifiers& modifiers) {
  constexpr int kValues = K * M * Blocks / kLanes;
  constexpr int kRegisters = kValues / 4;
  constexpr int kPairs = kValues / 2;
  PairPlanes<kValues> planes_a, planes_b;
  u32 swizzled[kRegisters * kLanes];
  planes_a.unpack_i8(a);
  planes_b.unpack_i8(Blocks > 1 ? swizzle_b(b, kRegisters, modifiers.blgp, swizzled) : b);
  alignas(64) u32 storage[kAccumulatorWords<M, Blocks>];
  const u32* accumulator = readable_accumulator(storage, d, c, kAccumulatorWords<M, Blocks>, modifiers.c_constant);
  for (int block = 0; block < Blocks; ++block) {
    const int block_a = a_source_block(block, Blocks, modifiers);
    for (int i = 0; i < M; ++i) {
      for (int j = 0; j < M; j += kChunk) {
        const int at = accumulator_offset<M>(block, i) + j;
        const i32x16 products = dot_pairs<K / 2>(
            [&](int p) { return i32x16(planes_a.pairs[p % kPairs][M * (p / kPairs + block_a) + i]); },
            [&](int p) { return load<i32x16>(planes_b.pairs[p % kPairs] + M * (p / kPairs + block) + j); });
        add_products(d + at, accumulator + at, products);
      }
    }
  }
}

void i8_4x4(u32* d, const u32* a, const u32* b, const u32* c, const MfmaModifiers& modifiers) {
  constexpr int kK = 4;
  PairPlanes<kK> planes_a, planes_b;
  u32 swizzled[kLanes];
  planes_a.unpack_i8(a);
  planes_b.unpack_i8(swizzle_b(b, 1, modifiers.blgp, swizzled));
  alignas(64) u32 storage[kAccumulatorWords<4, 16>];
  const u32* accumulator = readable_accumulator(storage, d, c, kAccumulatorWords<4, 16>, modifiers.c_constant);
  int first_row[kLanes];  // the lane of row 0 of the block of A that a lane's block reads
  for (int lane = 0; lane < kLanes; ++lane) first_row[lane] = 4 * a_source_block(lane / 4, 16, modifiers);
  for (int i = 0; i < 4; ++i) {
    i32 rows[kK / 2][kLanes];
    for (int p = 0; p < kK / 2; ++p) {
      for (int lane = 0; lane < kLanes; ++lane) rows[p][lane] = planes_a.pairs[p][first_row[lane] + i];
    }
    for (int lane = 0; lane < kLanes; lane += kChunk) {
      const int at = i * kLanes + lane;
      const i32x16 products = dot_pairs<kK / 2>([&](int p) { return load<i32x16>(rows[p] + lane); },
                                                [&](int p) { return load<i32x16>(planes_b.pairs[p] + lane); });
      add_products(d + at, accumulator + at, products);
    }
  }
}

// One plane a value, as f32: sums of at most 32 products of magnitude 2^14 are exact in it, and multiplication is
// cheap.
template <int Values>
struct FloatPlanes {
  alignas(64) f32 values[Values][kLanes];

  void unpack_i8(const u32* registers) {
    for (int v = 0; v < Values; ++v) {
      for (int lane = 0; lane < kLanes; ++lane) {
        values[v][lane] = static_cast<f32>(static_cast<i8>(registers[v / 4 * kLanes + lane] >> (v % 4 * 8)));
      }
    }
  }
};

template <int M, int K>
void i8_sparse(u32* d, const u32* a, const u32* b, const u32* index, const MfmaModifiers& modifiers) {
  constexpr int kKept = K / 2;
  constexpr int kValuesA = kKept * M / kLanes;
  constexpr int kValuesB = 2 * kValuesA;
  FloatPlanes<kValuesA> planes_a;
  FloatPlanes<kValuesB> planes_b;
  planes_a.unpack_i8(a);
  planes_b.unpack_i8(b);
  u32 index_bits[kLanes];
  select_index_sets(index_bits, index, kValuesA, modifiers);
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < M; j += kChunk) {
      f32x16 sum = 0;
      for (int t = 0; t < kKept; ++t) {
        const int lane_a = M * (t / kValuesA) + i;
        const int k = sparse_k(index_bits[lane_a], t, kValuesA);
        sum += planes_a.values[t % kValuesA][lane_a] *
               load<f32x16>(planes_b.values[k % kValuesB] + M * (k / kValuesB) + j);
      }
      u32* at = d + accumulator_offset<M>(0, i) + j;
      add_products(at, at, __builtin_convertvector(sum, i32x16));
    }
  }
}

}  // namespace

MfmaFunction integer_i8(int m, int blocks, bool sparse) {
  if (m == 4) return i8_4x4;
  if (m == 16) {
    if (sparse) return i8_sparse<16, 64>;
    return blocks == 4 ? i8_dense<16, 4, 4> : i8_dense<16, 32, 1>;
  }
  if (sparse) return i8_sparse<32, 32>;
  return blocks == 2 ? i8_dense<32, 4, 2> : i8_dense<32, 16, 1>;
}

}  // namespace hipbench::emulator::mfma_detail
