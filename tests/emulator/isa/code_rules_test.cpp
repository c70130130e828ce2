// What a kernel may name and use: registers beyond those it declares, and 8-bit arithmetic that a launch is to go
// without, fault when they are executed, however they are reached.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "emulator/isa/program.hpp"
#include "emulator/isa/wave.hpp"
#include "tests/emulator/isa/assembler.hpp"

namespace hipbench::emulator {
namespace {

using ::testing::HasSubstr;

constexpr u64 kCodeAddress = 0x10000;

// Runs `text` to its end or its first fault.
std::optional<GuestFault> run(const std::string& text, const CodeRules& rules) {
  std::string error;
  const std::vector<std::byte> code = assemble(text + "\ns_endpgm\n", error);
  EXPECT_EQ(error, "") << text;
  const auto space = AddressSpace::create().value();
  Program program({{kCodeAddress, code}}, rules);
  std::vector<u32> registers(size_t{kVgprs} * kWaveSize);
  Wave wave(*space);
  wave.vgprs = registers.data();
  wave.program = &program;
  wave.registers = rules.registers;
  wave.set_exec(~u64{0});
  wave.jump(kCodeAddress);
  wave.spin_budget = 1000;
  try {
    while (wave.status != WaveStatus::Ended) {
      if (wave.next == nullptr) wave.next = program.at(wave.pc);
      const Inst& inst = *wave.next;
      wave.pc = inst.pc + inst.size;
      wave.next = inst.following;
      if ((wave.mode & kModeUnusualIssue) != 0)
        execute_unusually(wave, inst);
      else
        inst.execute(wave, inst);
    }
  } catch (const GuestFault& fault) {
    return fault;
  }
  return std::nullopt;
}

constexpr CodeRules kFew{.registers = {.vgprs = 8, .agprs = 4, .sgprs = 16}};

TEST(CodeRules, TheLastDeclaredRegisterIsThereTheNextIsNot) {
  struct Pair {
    const char *inside, *outside;
  };
  for (const auto& [inside, outside] : {
           Pair{"v_mov_b32 v7, 0", "v_mov_b32 v8, 0"},
           Pair{"v_mov_b32 v0, v7", "v_mov_b32 v0, v8"},
           Pair{"v_lshlrev_b64 v[6:7], 1, v[0:1]", "v_lshlrev_b64 v[8:9], 1, v[0:1]"},
           Pair{"v_add_f32_dpp v0, v7, v1 row_shr:1 row_mask:0xf bank_mask:0xf",
                "v_add_f32_dpp v0, v8, v1 row_shr:1 row_mask:0xf bank_mask:0xf"},
           Pair{"v_add_u32_sdwa v0, v7, v1 dst_sel:DWORD src0_sel:BYTE_0 src1_sel:DWORD",
                "v_add_u32_sdwa v0, v200, v1 dst_sel:DWORD src0_sel:BYTE_0 src1_sel:DWORD"},
           Pair{"v_accvgpr_write_b32 a3, 0", "v_accvgpr_write_b32 a4, 0"},
           Pair{"v_accvgpr_read_b32 v7, a0", "v_accvgpr_read_b32 v255, a0"},
           Pair{"v_mfma_f32_4x4x1_16b_f32 a[0:3], v0, v1, a[0:3]", "v_mfma_f32_4x4x1_16b_f32 a[2:5], v0, v1, a[0:3]"},
           Pair{"v_mfma_f32_4x4x1_16b_f32 v[4:7], v0, v1, 0", "v_mfma_f32_4x4x1_16b_f32 v[6:9], v0, v1, 0"},
           Pair{"s_mov_b32 s15, 0", "s_mov_b32 s16, 0"},
           Pair{"s_mov_b64 s[14:15], s[0:1]", "s_mov_b64 s[0:1], s[16:17]"},
           Pair{"v_readfirstlane_b32 s15, v0", "v_readfirstlane_b32 s101, v0"},
           Pair{"v_cmp_eq_u32 s[14:15], v0, v1", "v_cmp_eq_u32 s[16:17], v0, v1"},
       }) {
    const auto none = run(inside, kFew);
    EXPECT_FALSE(none) << inside << ": " << none->message;
    const auto fault = run(outside, kFew);
    ASSERT_TRUE(fault) << outside;
    EXPECT_EQ(fault->kind, FaultKind::IllegalOperand) << outside;
    EXPECT_THAT(fault->message, HasSubstr("it declares 8 VGPRs, 4 AGPRs and 16 SGPRs")) << outside;
    EXPECT_FALSE(run(outside, {})) << outside << " is valid where there are enough";
  }
}

TEST(CodeRules, WhatIsNoGeneralRegisterIsAlwaysThere) {
  for (const char* text : {"s_mov_b64 vcc, 0", "s_mov_b32 m0, 5", "s_mov_b64 s[0:1], exec", "v_mov_b32 v0, vcc_lo"})
    EXPECT_FALSE(run(text, kFew)) << text;
}

TEST(CodeRules, AnIndexReachesNoFurther) {
  const std::string vector = "s_mov_b32 s0, %\ns_set_gpr_idx_on s0, 8\nv_mov_b32 v2, 1\ns_set_gpr_idx_off";
  const std::string scalar = "s_mov_b32 m0, %\ns_movreld_b32 s2, 1";
  const auto with = [](std::string text, const char* index) { return text.replace(text.find('%'), 1, index); };
  EXPECT_FALSE(run(with(vector, "5"), kFew));
  EXPECT_FALSE(run(with(scalar, "13"), kFew));
  for (const std::string& text :
       {with(vector, "6"), with(vector, "255"), with(scalar, "14"), with(scalar, "0xffffffff")}) {
    const auto fault = run(text, kFew);
    ASSERT_TRUE(fault) << text;
    EXPECT_EQ(fault->kind, FaultKind::IllegalOperand) << text;
  }
}

TEST(CodeRules, WhatIsNeverExecutedHarmsNobody) { EXPECT_FALSE(run("s_branch 1\nv_mov_b32 v200, 0", kFew)); }

TEST(CodeRules, EightBitArithmeticFaultsWhereALaunchGoesWithout) {
  for (const char* text :
       {"v_cvt_f32_fp8 v0, v1", "v_cvt_pk_fp8_f32 v0, v1, v2", "v_cvt_f32_bf8 v0, v1", "v_dot4_i32_i8 v0, v1, v2, v3",
        "v_mfma_f32_16x16x32_fp8_fp8 v[0:3], v[4:5], v[6:7], 0", "v_mfma_i32_16x16x32_i8 v[0:3], v[4:5], v[6:7], 0"}) {
    const auto fault = run(text, {.registers = {}, .eight_bit_math = false});
    ASSERT_TRUE(fault) << text;
    EXPECT_EQ(fault->kind, FaultKind::ForbiddenInstruction) << text;
    EXPECT_FALSE(run(text, {})) << text;
  }
  for (const char* text :
       {"v_cvt_f32_ubyte0 v0, v1", "v_mfma_f32_16x16x16_bf16 v[0:3], v[4:5], v[6:7], 0", "v_perm_b32 v0, v1, v2, v3"})
    EXPECT_FALSE(run(text, {.registers = {}, .eight_bit_math = false})) << text;
}

// v_cvt_f32_fp8 v0, v0 is 0x7e00a900: here it is a literal of an instruction that is jumped over in part.
TEST(CodeRules, AnInstructionHiddenInTheOperandOfAnotherIsFound) {
  const std::string hidden =
      "s_getpc_b64 s[0:1]\ns_add_u32 s0, s0, 16\ns_addc_u32 s1, s1, 0\ns_setpc_b64 s[0:1]\ns_mov_b32 s2, 0x7e00a900";
  EXPECT_FALSE(run(hidden, {}));
  const auto fault = run(hidden, {.registers = {}, .eight_bit_math = false});
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::ForbiddenInstruction);
}

}  // namespace
}  // namespace hipbench::emulator
