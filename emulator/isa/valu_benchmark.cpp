// Nanoseconds a wave instruction of the rows that kernels spend their time in, with all lanes and with half of them
// active.
//   ninja valu_benchmark && build/valu_benchmark

#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

#include "emulator/isa/lanes.hpp"
#include "emulator/isa/operand_text.hpp"

namespace hipbench::emulator {
namespace {

// An instruction from its text, as the decoder would make it.
std::unique_ptr<Inst> from_text(const std::string& line) {
  auto inst = std::make_unique<Inst>();
  const InstText text = split_instruction(line);
  std::string_view mnemonic = text.mnemonic;
  for (std::string_view suffix : {"_sdwa", "_dpp"})
    if (mnemonic.ends_with(suffix)) mnemonic.remove_suffix(suffix.size());
  inst->op = find_op(mnemonic);
  if (inst->op == nullptr || text.operands.size() != inst->op->operand_count) return nullptr;
  inst->operand_count = inst->op->operand_count;
  for (u32 k = 0; k < inst->operand_count; ++k)
    if (!parse_operand(text.operands[k], inst->op->operands[k].type, inst->operands[k])) return nullptr;
  for (std::string_view word : text.modifiers)
    if (!parse_modifier(word, *inst)) return nullptr;
  const Modifiers& mods = inst->mods;
  const bool general = inst->dpp || mods.sdwa || mods.clamp || mods.omod != 0 || mods.op_sel_given;
  inst->execute = general ? inst->op->general : inst->op->plain;
  if (inst->op->pick != nullptr)
    if (const Execute faster = inst->op->pick(*inst)) inst->execute = faster;
  return inst;
}

void run(benchmark::State& state, const std::string& line, u64 exec) {
  const std::unique_ptr<Inst> inst = from_text(line);
  if (inst == nullptr) return state.SkipWithError("cannot parse the instruction");
  const std::unique_ptr<AddressSpace> space = AddressSpace::create().value();
  Wave wave(*space);
  std::vector<u32> registers(size_t{kVgprs} * kWaveSize);
  for (size_t i = 0; i < registers.size(); ++i) registers[i] = 0x3f800000 + static_cast<u32>(i * 977 % 8192);
  wave.vgprs = registers.data();
  wave.sgprs[2] = wave.sgprs[3] = 0x40000000;
  wave.sgprs[5] = 0x03020504;
  wave.set_exec(exec);
  for (auto _ : state) {
    inst->execute(wave, *inst);
    benchmark::ClobberMemory();
  }
}

constexpr const char* kLines[] = {
    "v_mov_b32 v10, v0",
    "v_mov_b32 v10, s2",
    "v_add_f32 v10, v0, v1",
    "v_mul_f32 v10, s2, v1",
    "v_fma_f32 v10, v0, v1, v2",
    "v_fmac_f32 v10, v0, v1",
    "v_max_f32 v10, v0, v1",
    "v_cndmask_b32 v10, v0, v1, vcc",
    "v_cmp_gt_f32 vcc, v0, v1",
    "v_cmp_eq_u32 vcc, v0, v1",
    "v_add_u32 v10, v0, v1",
    "v_and_b32 v10, v0, v1",
    "v_lshlrev_b32 v10, 3, v0",
    "v_lshl_add_u32 v10, v0, 2, v1",
    "v_and_or_b32 v10, v0, v1, v2",
    "v_bfe_u32 v10, v0, 8, 8",
    "v_perm_b32 v10, v0, v1, s5",
    "v_mul_lo_u32 v10, v0, v1",
    "v_mad_u32_u24 v10, v0, v1, v2",
    "v_add_co_u32 v10, vcc, v0, v1",
    "v_addc_co_u32 v10, vcc, v0, v1, vcc",
    "v_lshl_add_u64 v[10:11], v[0:1], 0, v[2:3]",
    "v_mad_u64_u32 v[10:11], vcc, v0, v1, v[2:3]",
    "v_lshlrev_b64 v[10:11], 2, v[0:1]",
    "v_cvt_f32_fp8_sdwa v10, v0 src0_sel:BYTE_1",
    "v_cvt_pk_f32_fp8_sdwa v[10:11], v0 src0_sel:WORD_1",
    "v_cvt_pk_fp8_f32 v10, v0, v1",
    "v_cvt_f16_f32 v10, v0",
    "v_cvt_f32_f16 v10, v0",
    "v_cvt_f32_u32 v10, v0",
    "v_cvt_i32_f32 v10, v0",
    "v_pk_fma_f32 v[10:11], v[0:1], v[2:3], v[4:5]",
    "v_pk_mul_f32 v[10:11], v[0:1], s[2:3] op_sel_hi:[1,0]",
    "v_pk_fma_f16 v10, v0, v1, v2",
    "v_add_f16 v10, v0, v1",
    "v_add_f64 v[10:11], v[0:1], v[2:3]",
    "v_fma_f64 v[10:11], v[0:1], v[2:3], v[4:5]",
    "v_exp_f32 v10, v0",
    "v_log_f32 v10, v0",
    "v_rcp_f32 v10, v0",
    "v_rsq_f32 v10, v0",
    "v_div_scale_f32 v10, vcc, v0, v1, v0",
    "v_div_fmas_f32 v10, v0, v1, v2",
    "v_div_fixup_f32 v10, v0, v1, v2",
    "v_mov_b32_dpp v10, v0 row_shr:1 row_mask:0xf bank_mask:0xf",
    "v_add_f32_dpp v10, v0, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf",
    "v_readfirstlane_b32 s4, v0",
    "v_mbcnt_lo_u32_b32 v10, -1, 0",
    "v_med3_f32 v10, v0, v1, v2",
    "v_fma_mix_f32 v10, v0, v1, v2 op_sel_hi:[1,1,0]",
    "v_mul_f32 v10, v0, v1 clamp",
};

}  // namespace
}  // namespace hipbench::emulator

int main(int argc, char** argv) {
  using namespace hipbench::emulator;
  for (const char* line : kLines)
    for (const auto& [label, exec] : {std::pair{"all", ~u64{0}}, std::pair{"half", u64{0x5555555555555555}}})
      benchmark::RegisterBenchmark((std::string(line) + " / " + label).c_str(),
                                   [line, exec](benchmark::State& state) { run(state, line, exec); });
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
