#include "emulator/isa/decode.hpp"

#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

#include <cstring>
#include <mutex>

#include "emulator/isa/operand_text.hpp"
#include "emulator/isa/wave.hpp"

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUDisassembler();
}

namespace hipbench::emulator {

namespace {
constexpr const char* kTriple = "amdgcn-amd-amdhsa";
constexpr const char* kCpu = "gfx942";
}  // namespace

namespace {

// SDWA fields with values that stand for nothing. LLVM decodes them, but its printer takes them for impossible and runs
// into the undefined; kernels may hold any bits.
bool has_reserved_sdwa_field(std::span<const std::byte> bytes) {
  if (bytes.size() < 8) return false;
  u32 words[2];
  std::memcpy(words, bytes.data(), sizeof words);
  constexpr u32 kSdwaSource = 0xf9;
  if (words[0] >> 31 != 0 || (words[0] & 0x1ff) != kSdwaSource) return false;  // not VOP1, VOP2 or VOPC with SDWA
  const u32 opcode = words[0] >> 25;
  const bool compare = opcode == 0x3e, one_source = opcode == 0x3f;
  const bool bad_destination = (words[1] >> 8 & 7) == 7 || (words[1] >> 11 & 3) == 3;
  const bool bad_source0 = (words[1] >> 16 & 7) == 7, bad_source1 = (words[1] >> 24 & 7) == 7;
  return (!compare && bad_destination) || bad_source0 || (!one_source && bad_source1);
}

}  // namespace

struct Disassembler::Llvm {
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> asm_info;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;

  bool decode(std::span<const std::byte> bytes, u64 address, llvm::MCInst& inst, u64& size) const {
    const llvm::ArrayRef<u8> data(reinterpret_cast<const u8*>(bytes.data()), bytes.size());
    size = 0;
    if (has_reserved_sdwa_field(bytes)) return false;
    return disassembler->getInstruction(inst, size, data, address, llvm::nulls()) == llvm::MCDisassembler::Success &&
           size >= 4;
  }
};

Disassembler::Disassembler() : llvm_(std::make_unique<Llvm>()) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
  });
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(kTriple, error);
  CHECK(target != nullptr, error);
  llvm_->registers.reset(target->createMCRegInfo(kTriple));
  llvm_->asm_info.reset(target->createMCAsmInfo(*llvm_->registers, kTriple, llvm::MCTargetOptions{}));
  llvm_->instructions.reset(target->createMCInstrInfo());
  llvm_->subtarget.reset(target->createMCSubtargetInfo(kTriple, kCpu, ""));
  llvm_->context = std::make_unique<llvm::MCContext>(llvm::Triple(kTriple), llvm_->asm_info.get(),
                                                     llvm_->registers.get(), llvm_->subtarget.get());
  llvm_->disassembler.reset(target->createMCDisassembler(*llvm_->subtarget, *llvm_->context));
  llvm_->printer.reset(target->createMCInstPrinter(llvm::Triple(kTriple), 0, *llvm_->asm_info, *llvm_->instructions,
                                                   *llvm_->registers));
  CHECK(llvm_->disassembler && llvm_->printer, "LLVM has no gfx942 disassembler");
}

Disassembler::~Disassembler() = default;

Disassembler::Text Disassembler::disassemble(std::span<const std::byte> bytes, u64 address) {
  llvm::MCInst inst;
  u64 size = 0;
  if (!llvm_->decode(bytes, address, inst, size)) return {};
  Text result;
  llvm::raw_string_ostream stream(result.text);
  llvm_->printer->printInst(&inst, address, "", *llvm_->subtarget, stream);
  stream.flush();
  // Registers that the operand cannot name are printed with a remark: "xnack_mask/*Invalid register, …*/".
  if (result.text.find("/*") != std::string::npos) return {};
  const size_t comment = result.text.find("//");
  if (comment != std::string::npos) result.text.resize(comment);
  while (!result.text.empty() && (result.text.back() == ' ' || result.text.back() == '\t')) result.text.pop_back();
  result.text.erase(0, result.text.find_first_not_of(" \t"));
  result.size = static_cast<u32>(size);
  return result;
}

Disassembler::Name Disassembler::name(std::span<const std::byte> bytes, u64 address) {
  llvm::MCInst inst;
  u64 size = 0;
  if (!llvm_->decode(bytes, address, inst, size)) return {};
  // LLVM takes an operand that is part of the syntax ("scratch_store_dword off,") for part of the mnemonic.
  std::string_view mnemonic = llvm_->printer->getMnemonic(&inst).first;
  mnemonic = mnemonic.substr(0, mnemonic.find_first_of(" \t"));
  return {std::string(strip_encoding_suffix(mnemonic)), static_cast<u32>(size)};
}

std::string_view strip_encoding_suffix(std::string_view mnemonic) {
  for (std::string_view suffix : {"_e32", "_e64", "_dpp", "_sdwa"})
    if (mnemonic.ends_with(suffix)) return mnemonic.substr(0, mnemonic.size() - suffix.size());
  return mnemonic;
}

namespace {

[[noreturn]] void execute_undecodable(Wave&, const Inst& inst) {
  char word[16];
  std::snprintf(word, sizeof word, "0x%08x", inst.words[0]);
  throw GuestFault{FaultKind::InvalidEncoding, std::string("the word ") + word + " is not a gfx942 instruction",
                   inst.pc, 4, -1};
}

[[noreturn]] void execute_unknown(Wave&, const Inst& inst) {
  throw GuestFault{FaultKind::UnknownInstruction,
                   "the emulator has no row for this instruction; please report it with the kernel", inst.pc, inst.size,
                   -1};
}

[[noreturn]] void execute_bad_form(Wave&, const Inst& inst) {
  throw GuestFault{FaultKind::UnknownInstruction,
                   "the emulator's row does not take this form of the instruction; please report it", inst.pc,
                   inst.size, -1};
}

[[noreturn]] void execute_left_out(Wave&, const Inst& inst) {
  throw GuestFault{FaultKind::InvalidEncoding,
                   "an instruction that is not for compute kernels (hipbench emulate --coverage)", inst.pc, inst.size,
                   -1};
}

bool has_modifiers(const Inst& inst) {
  const Modifiers& mods = inst.mods;
  if (inst.dpp || mods.sdwa || mods.clamp || mods.omod != 0 || mods.op_sel_given) return true;
  for (u32 k = 0; k < inst.operand_count; ++k)
    if (inst.operands[k].sign_extend) return true;
  return false;
}

// 16-bit integer operations see the inline float constants as f32 (LLVM's assembler and its comment on
// getInlineEncodingV216, after the hardware), but its disassembler prints the bits of a half: "v_add_u16 v0, 0x3c00,
// v1" for 1.0.
void widen_inline_float(const Inst& inst, std::string_view text, Operand& operand) {
  const bool may_be_literal = inst.size == 8 && inst.words[0] >> 31 == 0;
  if (operand.type != OperandType::B16 || operand.kind != OperandKind::Constant || may_be_literal ||
      !text.starts_with("0x"))
    return;
  struct Inline {
    u16 half;
    u32 single;
  };
  static constexpr Inline kInline[] = {{0x3800, 0x3f000000}, {0xb800, 0xbf000000}, {0x3c00, 0x3f800000},
                                       {0xbc00, 0xbf800000}, {0x4000, 0x40000000}, {0xc000, 0xc0000000},
                                       {0x4400, 0x40800000}, {0xc400, 0xc0800000}, {0x3118, 0x3e22f983}};
  for (const Inline& constant : kInline)
    if (operand.constant == constant.half) {
      operand.constant = constant.single;
      return;
    }
}

// Operands and modifiers of `text` as the row wants them; false when the form is not the row's.
bool bind_operands(const InstText& text, const Op& op, Inst& inst) {
  const bool wide = op.operand_count == 0xff;
  if (wide ? text.operands.size() > kMaxOperands : text.operands.size() != op.operand_count) return false;
  inst.operand_count = static_cast<u8>(text.operands.size());
  for (u32 k = 0; k < inst.operand_count; ++k) {
    if (!parse_operand(text.operands[k], wide ? OperandType::Wide : op.operands[k].type, inst.operands[k]))
      return false;
    widen_inline_float(inst, text.operands[k], inst.operands[k]);
  }
  for (std::string_view word : text.modifiers)
    if (!parse_modifier(word, inst)) return false;
  return true;
}

bool is_sopp(u32 word) { return word >> 23 == 0x17f; }

}  // namespace

std::unique_ptr<Inst> decode(Disassembler& disassembler, std::span<const std::byte> bytes, u64 pc) {
  auto inst = std::make_unique<Inst>();
  inst->pc = pc;
  inst->size = 4;
  inst->execute = &execute_undecodable;
  std::memcpy(inst->words, bytes.data(), std::min<size_t>(bytes.size(), sizeof inst->words));
  const Disassembler::Text line = disassembler.disassemble(bytes, pc);
  if (line.size == 0) return inst;
  inst->size = static_cast<u8>(line.size);
  inst->simm16 = static_cast<i16>(inst->words[0] & 0xffff);
  inst->target = pc + 4 + static_cast<u64>(i64{inst->simm16} * 4);
  const InstText text = split_instruction(line.text);
  const std::string_view mnemonic = strip_encoding_suffix(text.mnemonic);
  inst->execute = reason_left_out(mnemonic).empty() ? &execute_unknown : &execute_left_out;
  const Op* op = find_op(mnemonic);
  if (op == nullptr) return inst;
  inst->op = op;
  inst->cls = op->cls;
  // SOPP and SOPK immediates are read from the word, not from their symbolic text.
  if (is_sopp(inst->words[0]) || op->operand_count == 0) {
    inst->execute = op->plain;
    for (std::string_view word : text.modifiers) parse_modifier(word, *inst);
    return inst;
  }
  if (!bind_operands(text, *op, *inst)) {
    inst->execute = &execute_bad_form;
    return inst;
  }
  if (!has_modifiers(*inst))
    inst->execute = op->plain;
  else
    inst->execute = op->general != nullptr ? op->general : &execute_bad_form;
  if (op->pick != nullptr)
    if (const Execute faster = op->pick(*inst)) inst->execute = faster;
  return inst;
}

}  // namespace hipbench::emulator
