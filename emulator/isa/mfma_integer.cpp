// The matrix instructions on i8 operands: exact, accumulated modulo 2^32.

#include "emulator/isa/mfma_instructions.hpp"
#include "emulator/isa/mfma_vector.hpp"

namespace hipbench::emulator::mfma_detail {
namespace {

template <int Values>
struct IntegerPlanes {
  alignas(64) f32 values[Values][kLanes];

  void unpack(const u32* registers) {
    for (int v = 0; v < Values; ++v) {
      for (int lane = 0; lane < kLanes; ++lane) {
        values[v][lane] = static_cast<f32>(static_cast<i8>(registers[v / 4 * kLanes + lane] >> (v % 4 * 8)));
      }
    }
  }
};

// A sum of at most 64 products of magnitude 2^14 is exact in f32, where multiplication is cheapest.
template <int K, typename RowA, typename ColumnsB>
inline void add_i8_dot(u32* accumulator, const RowA& a, const ColumnsB& b) {
  f32x16 sum = 0;
  for (int t = 0; t < K; ++t) sum += a(t) * b(t);
  const u32x16 products = __builtin_bit_cast(u32x16, __builtin_convertvector(sum, i32x16));
  store(accumulator, load<u32x16>(accumulator) + products);
}

template <int M, int K, int Blocks>
void i8_dense(u32* d, const u32* a, const u32* b, const u32* c, const MfmaModifiers& modifiers) {
  constexpr int kValues = K * M * Blocks / kLanes;
  constexpr int kRegisters = kValues / 4;
  IntegerPlanes<kValues> planes_a, planes_b;
  u32 swizzled[kRegisters * kLanes];
  planes_a.unpack(a);
  planes_b.unpack(Blocks > 1 ? swizzle_b(b, kRegisters, modifiers.blgp, swizzled) : b);
  alignas(64) u32 accumulator[kAccumulatorWords<M, Blocks>];
  load_accumulator(accumulator, c, kAccumulatorWords<M, Blocks>, modifiers.c_constant);
  for (int block = 0; block < Blocks; ++block) {
    const int block_a = a_source_block(block, Blocks, modifiers);
    for (int i = 0; i < M; ++i) {
      for (int j = 0; j < M; j += kChunk) {
        const auto a_row = [&](int k) { return f32x16(planes_a.values[k % kValues][M * (k / kValues + block_a) + i]); };
        const auto b_columns = [&](int k) {
          return load<f32x16>(planes_b.values[k % kValues] + M * (k / kValues + block) + j);
        };
        add_i8_dot<K>(accumulator + accumulator_offset<M>(block, i) + j, a_row, b_columns);
      }
    }
  }
  std::memcpy(d, accumulator, sizeof accumulator);
}

void i8_4x4(u32* d, const u32* a, const u32* b, const u32* c, const MfmaModifiers& modifiers) {
  constexpr int kK = 4;
  IntegerPlanes<kK> planes_a, planes_b, rows;
  u32 swizzled[kLanes];
  planes_a.unpack(a);
  planes_b.unpack(swizzle_b(b, 1, modifiers.blgp, swizzled));
  alignas(64) u32 accumulator[kAccumulatorWords<4, 16>];
  load_accumulator(accumulator, c, kAccumulatorWords<4, 16>, modifiers.c_constant);
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < kK; ++k) {
      for (int lane = 0; lane < kLanes; ++lane) {
        rows.values[k][lane] = planes_a.values[k][4 * a_source_block(lane / 4, 16, modifiers) + i];
      }
    }
    for (int lane = 0; lane < kLanes; lane += kChunk) {
      add_i8_dot<kK>(
          accumulator + i * kLanes + lane, [&](int k) { return load<f32x16>(rows.values[k] + lane); },
          [&](int k) { return load<f32x16>(planes_b.values[k] + lane); });
    }
  }
  std::memcpy(d, accumulator, sizeof accumulator);
}

template <int M, int K>
void i8_sparse(u32* d, const u32* a, const u32* b, const u32* index, const MfmaModifiers& modifiers) {
  constexpr int kKept = K / 2;
  constexpr int kValuesA = kKept * M / kLanes;
  constexpr int kValuesB = 2 * kValuesA;
  IntegerPlanes<kValuesA> planes_a;
  IntegerPlanes<kValuesB> planes_b;
  planes_a.unpack(a);
  planes_b.unpack(b);
  u32 index_bits[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) index_bits[lane] = select_index_set(index[lane], kValuesA, modifiers);
  alignas(64) u32 accumulator[kAccumulatorWords<M, 1>];
  std::memcpy(accumulator, d, sizeof accumulator);
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < M; j += kChunk) {
      const auto a_row = [&](int t) { return f32x16(planes_a.values[t % kValuesA][M * (t / kValuesA) + i]); };
      const auto b_columns = [&](int t) {
        const int k = sparse_k(index_bits[M * (t / kValuesA) + i], t, kValuesA);
        return load<f32x16>(planes_b.values[k % kValuesB] + M * (k / kValuesB) + j);
      };
      add_i8_dot<kKept>(accumulator + accumulator_offset<M>(0, i) + j, a_row, b_columns);
    }
  }
  std::memcpy(d, accumulator, sizeof accumulator);
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
