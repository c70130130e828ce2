#include <algorithm>
#include <array>

#include "emulator/isa/mfma_instructions.hpp"

namespace hipbench::emulator {
namespace {

using mfma_detail::InputType;

// Registers of an operand: values × bits over 64 lanes of 32 bits.
constexpr u8 registers(int values, int bits) {
  return static_cast<u8>(values * bits / 32 / static_cast<int>(kWaveSize));
}

struct Shape {
  int m, k, blocks, cycles;
};

constexpr MfmaEntry entry(std::string_view mnemonic, Shape shape, int input_bits, int output_bits, bool sparse) {
  const int rows = shape.m * shape.blocks;
  const u8 accumulator = registers(rows * shape.m, output_bits);
  return {.mnemonic = mnemonic,
          .m = static_cast<u8>(shape.m),
          .n = static_cast<u8>(shape.m),
          .k = static_cast<u8>(shape.k),
          .blocks = static_cast<u8>(shape.blocks),
          .a_registers = registers(rows * shape.k / (sparse ? 2 : 1), input_bits),
          .b_registers = registers(rows * shape.k, input_bits),
          .c_registers = sparse ? u8{1} : accumulator,
          .d_registers = accumulator,
          .sparse = sparse,
          .cycles = static_cast<u8>(shape.cycles),
          .flops = static_cast<u32>(2 * rows * shape.m * shape.k),
          .execute = nullptr};
}

MfmaEntry with(MfmaEntry row, MfmaFunction execute) {
  row.execute = execute;
  return row;
}

MfmaEntry row_8bit(std::string_view mnemonic, Shape shape, InputType a, InputType b) {
  const bool sparse = mnemonic.starts_with("v_smfmac");
  return with(entry(mnemonic, shape, 8, 32, sparse), mfma_detail::fused_8bit(a, b, shape.m, sparse));
}

MfmaEntry row_16bit(std::string_view mnemonic, Shape shape, InputType type) {
  const bool sparse = mnemonic.starts_with("v_smfmac");
  return with(entry(mnemonic, shape, 16, 32, sparse), mfma_detail::fused_16bit(type, shape.m, shape.blocks, sparse));
}

MfmaEntry row_i8(std::string_view mnemonic, Shape shape) {
  const bool sparse = mnemonic.starts_with("v_smfmac");
  return with(entry(mnemonic, shape, 8, 32, sparse), mfma_detail::integer_i8(shape.m, shape.blocks, sparse));
}

MfmaEntry row_xf32(std::string_view mnemonic, Shape shape) {
  return with(entry(mnemonic, shape, 32, 32, false), mfma_detail::fused_xf32(shape.m));
}

MfmaEntry row_f32(std::string_view mnemonic, Shape shape) {
  return with(entry(mnemonic, shape, 32, 32, false), mfma_detail::plain_f32(shape.m, shape.blocks));
}

MfmaEntry row_f64(std::string_view mnemonic, Shape shape) {
  return with(entry(mnemonic, shape, 64, 64, false), mfma_detail::plain_f64(shape.m));
}

}  // namespace

// Shapes are {m = n, k, blocks, cycles}.
std::span<const MfmaEntry> mfma_table() {
  using enum InputType;
  static const std::array table = {
      row_8bit("v_mfma_f32_16x16x32_bf8_bf8", {16, 32, 1, 16}, Bf8, Bf8),
      row_8bit("v_mfma_f32_16x16x32_bf8_fp8", {16, 32, 1, 16}, Bf8, Fp8),
      row_8bit("v_mfma_f32_16x16x32_fp8_bf8", {16, 32, 1, 16}, Fp8, Bf8),
      row_8bit("v_mfma_f32_16x16x32_fp8_fp8", {16, 32, 1, 16}, Fp8, Fp8),
      row_8bit("v_mfma_f32_32x32x16_bf8_bf8", {32, 16, 1, 32}, Bf8, Bf8),
      row_8bit("v_mfma_f32_32x32x16_bf8_fp8", {32, 16, 1, 32}, Bf8, Fp8),
      row_8bit("v_mfma_f32_32x32x16_fp8_bf8", {32, 16, 1, 32}, Fp8, Bf8),
      row_8bit("v_mfma_f32_32x32x16_fp8_fp8", {32, 16, 1, 32}, Fp8, Fp8),
      row_16bit("v_mfma_f32_16x16x16_bf16", {16, 16, 1, 16}, Bf16),
      row_16bit("v_mfma_f32_16x16x16_f16", {16, 16, 1, 16}, F16),
      row_16bit("v_mfma_f32_16x16x4_4b_bf16", {16, 4, 4, 32}, Bf16),
      row_16bit("v_mfma_f32_16x16x4_4b_f16", {16, 4, 4, 32}, F16),
      row_16bit("v_mfma_f32_32x32x4_2b_bf16", {32, 4, 2, 64}, Bf16),
      row_16bit("v_mfma_f32_32x32x4_2b_f16", {32, 4, 2, 64}, F16),
      row_16bit("v_mfma_f32_32x32x8_bf16", {32, 8, 1, 32}, Bf16),
      row_16bit("v_mfma_f32_32x32x8_f16", {32, 8, 1, 32}, F16),
      row_16bit("v_mfma_f32_4x4x4_16b_bf16", {4, 4, 16, 8}, Bf16),
      row_16bit("v_mfma_f32_4x4x4_16b_f16", {4, 4, 16, 8}, F16),
      row_xf32("v_mfma_f32_16x16x8_xf32", {16, 8, 1, 16}),
      row_xf32("v_mfma_f32_32x32x4_xf32", {32, 4, 1, 32}),
      row_f32("v_mfma_f32_16x16x1_4b_f32", {16, 1, 4, 32}),
      row_f32("v_mfma_f32_16x16x4_f32", {16, 4, 1, 32}),
      row_f32("v_mfma_f32_32x32x1_2b_f32", {32, 1, 2, 64}),
      row_f32("v_mfma_f32_32x32x2_f32", {32, 2, 1, 64}),
      row_f32("v_mfma_f32_4x4x1_16b_f32", {4, 1, 16, 8}),
      row_f64("v_mfma_f64_16x16x4_f64", {16, 4, 1, 32}),
      row_f64("v_mfma_f64_4x4x4_4b_f64", {4, 4, 4, 16}),
      row_i8("v_mfma_i32_16x16x32_i8", {16, 32, 1, 16}),
      row_i8("v_mfma_i32_16x16x4_4b_i8", {16, 4, 4, 32}),
      row_i8("v_mfma_i32_32x32x16_i8", {32, 16, 1, 32}),
      row_i8("v_mfma_i32_32x32x4_2b_i8", {32, 4, 2, 64}),
      row_i8("v_mfma_i32_4x4x4_16b_i8", {4, 4, 16, 8}),
      row_8bit("v_smfmac_f32_16x16x64_bf8_bf8", {16, 64, 1, 16}, Bf8, Bf8),
      row_8bit("v_smfmac_f32_16x16x64_bf8_fp8", {16, 64, 1, 16}, Bf8, Fp8),
      row_8bit("v_smfmac_f32_16x16x64_fp8_bf8", {16, 64, 1, 16}, Fp8, Bf8),
      row_8bit("v_smfmac_f32_16x16x64_fp8_fp8", {16, 64, 1, 16}, Fp8, Fp8),
      row_8bit("v_smfmac_f32_32x32x32_bf8_bf8", {32, 32, 1, 32}, Bf8, Bf8),
      row_8bit("v_smfmac_f32_32x32x32_bf8_fp8", {32, 32, 1, 32}, Bf8, Fp8),
      row_8bit("v_smfmac_f32_32x32x32_fp8_bf8", {32, 32, 1, 32}, Fp8, Bf8),
      row_8bit("v_smfmac_f32_32x32x32_fp8_fp8", {32, 32, 1, 32}, Fp8, Fp8),
      row_16bit("v_smfmac_f32_16x16x32_bf16", {16, 32, 1, 16}, Bf16),
      row_16bit("v_smfmac_f32_16x16x32_f16", {16, 32, 1, 16}, F16),
      row_16bit("v_smfmac_f32_32x32x16_bf16", {32, 16, 1, 32}, Bf16),
      row_16bit("v_smfmac_f32_32x32x16_f16", {32, 16, 1, 32}, F16),
      row_i8("v_smfmac_i32_16x16x64_i8", {16, 64, 1, 16}),
      row_i8("v_smfmac_i32_32x32x32_i8", {32, 32, 1, 32}),
  };
  return table;
}

const MfmaEntry* find_mfma(std::string_view mnemonic) {
  const std::span<const MfmaEntry> table = mfma_table();
  const auto found = std::ranges::find(table, mnemonic, &MfmaEntry::mnemonic);
  return found == table.end() ? nullptr : &*found;
}

}  // namespace hipbench::emulator
