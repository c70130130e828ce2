// The matrix instructions whose arithmetic needs no special rule: f64 and f32, a fused multiply-add for each k, in
// order, rounded to nearest even each time.
//
// A NaN result is the canonical one: payloads are not known to be those of the hardware, and the host's would depend on
// the order in which the compiler puts operands.

#include <bit>

#include "emulator/isa/mfma_instructions.hpp"
#include "emulator/isa/mfma_vector.hpp"

namespace hipbench::emulator::mfma_detail {
namespace {

using f64x4 = f64 __attribute__((ext_vector_type(4)));
using i64x4 = i64 __attribute__((ext_vector_type(4)));

inline constexpr i32 kNan32 = 0x7fc00000;
inline constexpr i64 kNan64 = 0x7ff8000000000000;

// ---- f32
// ---------------------------------------------------------------------------------------------------------------

inline void read_f32(u32* values, const u32* registers, bool flush_denormals) {
  for (int lane = 0; lane < kLanes; ++lane) {
    const u32 bits = registers[lane];
    values[lane] = flush_denormals && (bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits;
  }
}

inline f32x16 canonical_nan(f32x16 value) {
  const i32x16 bits = __builtin_bit_cast(i32x16, value);
  return __builtin_bit_cast(f32x16, value == value ? bits : i32x16(kNan32));
}

// One register each of A and B: a lane holds one k of one row or column.
template <int M, int K, int Blocks>
void f32_dense(u32* d, const u32* a, const u32* b, const u32* c, const MfmaModifiers& modifiers) {
  u32 a_values[kLanes], b_values[kLanes], swizzled[kLanes];
  read_f32(a_values, a, modifiers.flush_f32_denormals);
  read_f32(b_values, swizzle_b(b, 1, modifiers.blgp, swizzled), modifiers.flush_f32_denormals);
  alignas(64) u32 storage[kAccumulatorWords<M, Blocks>];
  const u32* accumulator = readable_accumulator(storage, d, c, kAccumulatorWords<M, Blocks>, modifiers.c_constant);
  for (int block = 0; block < Blocks; ++block) {
    const int block_a = a_source_block(block, Blocks, modifiers);
    for (int i = 0; i < M; ++i) {
      const int row = accumulator_offset<M>(block, i);
      for (int j = 0; j < M; j += kChunk) {
        f32x16 sum = load<f32x16>(accumulator + row + j);
        for (int k = 0; k < K; ++k) {
          const f32x16 a_row = std::bit_cast<f32>(a_values[M * (block_a + k) + i]);
          sum = __builtin_elementwise_fma(a_row, load<f32x16>(b_values + M * (block + k) + j), sum);
        }
        store(d + row + j, canonical_nan(sum));
      }
    }
  }
}

void f32_4x4(u32* d, const u32* a, const u32* b, const u32* c, const MfmaModifiers& modifiers) {
  u32 a_values[kLanes], b_values[kLanes], swizzled[kLanes];
  read_f32(a_values, a, modifiers.flush_f32_denormals);
  read_f32(b_values, swizzle_b(b, 1, modifiers.blgp, swizzled), modifiers.flush_f32_denormals);
  alignas(64) u32 storage[kAccumulatorWords<4, 16>];
  const u32* accumulator = readable_accumulator(storage, d, c, kAccumulatorWords<4, 16>, modifiers.c_constant);
  int first_row[kLanes];  // the lane of row 0 of the block of A that a lane's block reads
  for (int lane = 0; lane < kLanes; ++lane) first_row[lane] = 4 * a_source_block(lane / 4, 16, modifiers);
  for (int i = 0; i < 4; ++i) {
    u32 row[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) row[lane] = a_values[first_row[lane] + i];
    for (int lane = 0; lane < kLanes; lane += kChunk) {
      const int at = i * kLanes + lane;
      const f32x16 c_row = load<f32x16>(accumulator + at);
      store(d + at,
            canonical_nan(__builtin_elementwise_fma(load<f32x16>(row + lane), load<f32x16>(b_values + lane), c_row)));
    }
  }
}

// ---- f64
// ---------------------------------------------------------------------------------------------------------------

// Register pairs to numbers, negated where BLGP says so.
inline void read_f64(u64* values, const u32* registers, int pairs, bool negate) {
  for (int p = 0; p < pairs; ++p) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const u64 bits = registers[2 * p * kLanes + lane] | u64{registers[(2 * p + 1) * kLanes + lane]} << 32;
      values[p * kLanes + lane] = bits ^ u64 { negate } << 63;
    }
  }
}

// 16x16x4: lane = 16·k + i, D register pair i / 4, lane 16·(i % 4) + j.
// 4x4x4, 4 blocks: lane = 16·k + 4·block + i, D lane 16·i + 4·block + j.
// Either way four neighbouring columns share a row of A.
template <int M>
void f64_dense(u32* d, const u32* a, const u32* b, const u32* c, const MfmaModifiers& modifiers) {
  constexpr int kPairs = M / 4;
  constexpr int kK = 4;
  u64 a_values[kLanes], b_values[kLanes], accumulator[kPairs * kLanes];
  read_f64(a_values, a, 1, (modifiers.blgp & 1) != 0);
  read_f64(b_values, b, 1, (modifiers.blgp & 2) != 0);
  const bool negate_c = (modifiers.blgp & 4) != 0;
  if (c != nullptr) {
    read_f64(accumulator, c, kPairs, negate_c);
  } else {
    for (u64& value : accumulator) value = modifiers.c_constant ^ u64 { negate_c } << 63;
  }
  for (int at = 0; at < kPairs * kLanes; at += 4) {
    const int lane = at % kLanes;
    const int column = lane % 16;  // block and j
    const int row = M == 16 ? 4 * (at / kLanes) + lane / 16 : column / 4 * 4 + lane / 16;
    f64x4 sum = load<f64x4>(accumulator + at);
    for (int k = 0; k < kK; ++k) {
      const f64x4 a_row = std::bit_cast<f64>(a_values[16 * k + row]);
      sum = __builtin_elementwise_fma(a_row, load<f64x4>(b_values + 16 * k + column), sum);
    }
    const i64x4 bits = __builtin_bit_cast(i64x4, sum);
    store(accumulator + at, sum == sum ? bits : i64x4(kNan64));
  }
  for (int p = 0; p < kPairs; ++p) {
    for (int lane = 0; lane < kLanes; ++lane) {
      d[2 * p * kLanes + lane] = static_cast<u32>(accumulator[p * kLanes + lane]);
      d[(2 * p + 1) * kLanes + lane] = static_cast<u32>(accumulator[p * kLanes + lane] >> 32);
    }
  }
}

}  // namespace

MfmaFunction plain_f32(int m, int blocks) {
  if (m == 4) return f32_4x4;
  if (m == 16) return blocks == 4 ? f32_dense<16, 1, 4> : f32_dense<16, 4, 1>;
  return blocks == 2 ? f32_dense<32, 1, 2> : f32_dense<32, 2, 1>;
}

MfmaFunction plain_f64(int m) { return m == 16 ? f64_dense<16> : f64_dense<4>; }

}  // namespace hipbench::emulator::mfma_detail
