// Decoding against LLVM: random words of every opcode of every encoding. What LLVM prints of an instruction must be all
// in the Inst and nothing else: mnemonic, every operand with its modifiers, every modifier of the instruction.
// Constants are compared with a table of the ISA's and with the immediates of LLVM's own decoded form, not with our
// parser.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <set>

#include "emulator/isa/coverage.hpp"
#include "emulator/isa/decode.hpp"
#include "emulator/isa/wave.hpp"

namespace hipbench::emulator {
namespace {

// ---- LLVM's decoded form: only its immediates are of interest ----

class Immediates {
 public:
  Immediates() {
    const char* triple = "amdgcn-amd-amdhsa";
    std::string error;
    const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
    registers_.reset(target->createMCRegInfo(triple));
    asm_info_.reset(target->createMCAsmInfo(*registers_, triple, llvm::MCTargetOptions{}));
    subtarget_.reset(target->createMCSubtargetInfo(triple, "gfx942", ""));
    context_ =
        std::make_unique<llvm::MCContext>(llvm::Triple(triple), asm_info_.get(), registers_.get(), subtarget_.get());
    disassembler_.reset(target->createMCDisassembler(*subtarget_, *context_));
  }
  std::vector<u64> of(std::span<const std::byte> bytes) {
    llvm::MCInst inst;
    u64 size = 0;
    const llvm::ArrayRef<u8> data(reinterpret_cast<const u8*>(bytes.data()), bytes.size());
    std::vector<u64> found;
    if (disassembler_->getInstruction(inst, size, data, 0, llvm::nulls()) != llvm::MCDisassembler::Success)
      return found;
    for (const llvm::MCOperand& operand : inst)
      if (operand.isImm()) found.push_back(static_cast<u64>(operand.getImm()));
    return found;
  }

 private:
  std::unique_ptr<llvm::MCRegisterInfo> registers_;
  std::unique_ptr<llvm::MCAsmInfo> asm_info_;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget_;
  std::unique_ptr<llvm::MCContext> context_;
  std::unique_ptr<llvm::MCDisassembler> disassembler_;
};

// ---- The text's tokens ----

std::vector<std::string> split_tokens(const std::string& text) {
  std::vector<std::string> tokens(1);
  int depth = 0;
  for (char c : text) {
    depth += (c == '[' || c == '(') - (c == ']' || c == ')');
    const bool separates = depth == 0 && (c == ' ' || c == ',' || c == '\t');
    if (!separates) tokens.back() += c;
    else if (!tokens.back().empty()) tokens.emplace_back();
  }
  if (tokens.back().empty()) tokens.pop_back();
  return tokens;
}

bool is_flag(const std::string& token) {
  static const std::set<std::string> kFlags = {"clamp", "sc0",   "sc1", "nt",  "glc",        "slc",
                                               "lds",   "offen", "gds", "tfe", "row_mirror", "row_half_mirror",
                                               "idxen"};
  return kFlags.contains(token);
}
bool is_modifier(const std::string& token) {
  const size_t colon = token.find(':');
  return is_flag(token) || (colon != std::string::npos && token.find('[') > colon && token.find('(') > colon);
}

// ---- Operands ----

std::string range_text(const std::string& file, u32 first, u32 count) {
  if (count == 1) return file + std::to_string(first);
  return file + "[" + std::to_string(first) + ":" + std::to_string(first + count - 1) + "]";
}

std::string scalar_text(u32 index, u32 dwords) {
  static const std::map<u32, std::string> kPairs = {
      {kFlatScratch, "flat_scratch"}, {kXnackMask, "xnack_mask"}, {kVcc, "vcc"}, {kExec, "exec"}};
  if (index == kM0) return "m0";
  if (index < kFlatScratch) return range_text("s", index, dwords);
  if (index >= kTtmp0 && index < kTtmp0 + 16) return range_text("ttmp", index - kTtmp0, dwords);
  const auto pair = kPairs.find(index & ~1u);
  if (pair == kPairs.end()) return "scalar " + std::to_string(index);
  if (dwords == 2) return pair->second;
  return pair->second + (index % 2 == 0 ? "_lo" : "_hi");
}

std::string register_text(const Operand& operand) {
  switch (operand.kind) {
    case OperandKind::Vgpr:
      return operand.index < kAgprBase ? range_text("v", operand.index, operand.dwords)
                                       : range_text("a", operand.index - kAgprBase, operand.dwords);
    case OperandKind::Scalar: return scalar_text(operand.index, operand.dwords);
    case OperandKind::Scc: return "src_scc";
    case OperandKind::Vccz: return "src_vccz";
    case OperandKind::Execz: return "src_execz";
    case OperandKind::LdsDirect: return "src_lds_direct";
    case OperandKind::Off: return "off";
    default: return "";
  }
}

// Strips what stands around an operand into flags of a fresh Operand.
std::string strip_wrapping(std::string text, Operand& flags) {
  const auto strip = [&](const std::string& head, const std::string& tail) {
    if (!text.starts_with(head) || !text.ends_with(tail) || text.size() <= head.size() + tail.size()) return false;
    text = text.substr(head.size(), text.size() - head.size() - tail.size());
    return true;
  };
  flags.sign_extend = strip("sext(", ")");
  flags.negate = strip("neg(", ")") ||
                 (text.size() > 1 && text[0] == '-' && !std::isdigit(static_cast<u8>(text[1])) && strip("-", ""));
  flags.absolute = strip("|", "|") || strip("abs(", ")");
  return text;
}

// The bits of the inline float constants in the three formats; integer operands of 16 bits see those of f32.
struct FloatConstant {
  const char* text;
  u32 half, single;
  u64 twice;
};
constexpr FloatConstant kFloatConstants[] = {{"0.5", 0x3800, 0x3f000000, 0x3fe0000000000000},
                                             {"-0.5", 0xb800, 0xbf000000, 0xbfe0000000000000},
                                             {"1.0", 0x3c00, 0x3f800000, 0x3ff0000000000000},
                                             {"-1.0", 0xbc00, 0xbf800000, 0xbff0000000000000},
                                             {"2.0", 0x4000, 0x40000000, 0x4000000000000000},
                                             {"-2.0", 0xc000, 0xc0000000, 0xc000000000000000},
                                             {"4.0", 0x4400, 0x40800000, 0x4010000000000000},
                                             {"-4.0", 0xc400, 0xc0800000, 0xc010000000000000},
                                             {"0.15915494", 0x3118, 0x3e22f983, 0x3fc45f306dc9c882},
                                             {"0.15915494309189532", 0x3118, 0x3e22f983, 0x3fc45f306dc9c882}};

u64 width_mask(OperandType type) {
  switch (type) {
    case OperandType::B16:
    case OperandType::F16:
    case OperandType::Bf16: return 0xffff;
    case OperandType::B64:
    case OperandType::I64:
    case OperandType::F64:
    case OperandType::Mask: return ~u64{0};
    default: return 0xffffffff;
  }
}

u64 constant_bits(const std::string& text, OperandType type) {
  const bool is_twice = width_mask(type) == ~u64{0};
  for (const FloatConstant& constant : kFloatConstants)
    if (text == constant.text) {
      const bool is_half = type == OperandType::F16 || type == OperandType::PackedF16;
      return is_twice ? constant.twice : is_half ? constant.half : constant.single & width_mask(type);
    }
  const u64 magnitude = std::strtoull(text.c_str() + (text.starts_with("-") ? 1 : 0), nullptr, 0);
  const u64 integer = text.starts_with("-") ? 0 - magnitude : magnitude;
  const bool literal = text.starts_with("0x") && integer >> 32 == 0;
  if (literal && type == OperandType::F64) return integer << 32;
  if (literal && type == OperandType::I64) return static_cast<u64>(i64{static_cast<i32>(integer)});
  return integer & width_mask(type);
}

// ---- Comparing an Inst with LLVM's text ----

class Comparison {
 public:
  Comparison(const Inst& inst, const std::string& text, std::vector<u64> immediates)
      : inst_(inst), rest_(inst.mods), immediates_(std::move(immediates)) {
    std::vector<std::string> tokens = split_tokens(text);
    expect(strip_encoding_suffix(tokens[0]) == inst.op->name, "mnemonic");
    const Modifiers& mods = inst.mods;
    const bool modified = inst.dpp != nullptr || mods.sdwa || mods.clamp || mods.omod != 0 || mods.op_sel_given;
    expect(inst.op->general != nullptr || !modified, "the row does not take this form");
    if (inst.operand_count == 0) return;  // the immediates are read from the word
    for (size_t k = 1; k < tokens.size(); ++k)
      if (is_modifier(tokens[k])) modifier(tokens[k]);
      else operand(tokens[k]);
    expect(operands_ == inst.operand_count, "number of operands");
    nothing_left();
  }
  std::string problems;

 private:
  void expect(bool condition, const std::string& what) {
    if (!condition) problems += (problems.empty() ? "" : ", ") + what;
  }

  void operand(const std::string& token) {
    if (operands_ >= inst_.operand_count) return expect(false, "operand " + token);
    const Operand& actual = inst_.operands[operands_++];
    if (actual.kind == OperandKind::None) {  // hwreg(…) and the like
      expect(token.find('(') != std::string::npos, "operand " + token);
      return;
    }
    Operand flags;
    std::string text = strip_wrapping(token, flags);
    expect(
        actual.negate == flags.negate && actual.absolute == flags.absolute && actual.sign_extend == flags.sign_extend,
        "signs of " + token);
    if (text == "null") text = "off";
    static const std::set<std::string> kApertures = {"src_shared_base", "src_shared_limit", "src_private_base",
                                                     "src_private_limit", "src_pops_exiting_wave_id"};
    if (actual.kind != OperandKind::Constant)
      return expect(register_text(actual) == text, "operand " + token + " is " + register_text(actual));
    if (kApertures.contains(text)) return;
    const u64 mask = width_mask(actual.type);
    if (is_inline_of_16_bits(text, actual)) return;
    expect((actual.constant & mask) == (constant_bits(text, actual.type) & mask), "constant " + token);
    // Whether a source of v_fma_mix is a half or an f32 is up to op_sel_hi; LLVM decodes its constants for one of both.
    if (inst_.op->name.starts_with("v_fma_mix")) return;
    // The class mask is 32 bits wide; LLVM's SDWA form takes a float constant there for an f16, its other forms for an
    // f32. The two differ in the mask's ten bits for 1/(2 pi) alone.
    if (inst_.mods.sdwa && inst_.op->name.ends_with("_class_f16")) return;
    const u64 low = actual.type == OperandType::I64 && text.starts_with("0x") ? 0xffffffff
                                                                              : mask;  // LLVM keeps literals unextended
    expect(std::any_of(immediates_.begin(), immediates_.end(),
                       [&](u64 imm) { return ((imm ^ actual.constant) & low) == 0; }),
           "constant " + token + " has other bits in LLVM");
  }

  // LLVM's disassembler prints 1.0 of a 16-bit integer operation as the bits of a half; the operation sees an f32.
  bool is_inline_of_16_bits(const std::string& text, const Operand& actual) const {
    if (actual.type != OperandType::B16 || !text.starts_with("0x")) return false;
    const u64 printed = std::strtoull(text.c_str(), nullptr, 0);
    const bool may_be_literal = inst_.size == 8 && inst_.words[0] >> 31 == 0;
    return !may_be_literal &&
           std::any_of(std::begin(kFloatConstants), std::end(kFloatConstants), [&](const FloatConstant& constant) {
             return printed == constant.half && actual.constant == constant.single;
           });
  }

  // Every check puts the modifier back to its default, so that what is left over was invented.
  template <typename T>
  void is(T& field, T value, const std::string& token) {
    expect(field == value, token);
    field = T{};
  }
  void bits(u8& field, const std::string& token) {
    u8 value = 0;
    u32 position = 0;
    for (char c : token.substr(token.find('[')))
      if (c == '0' || c == '1') value = static_cast<u8>(value | (c - '0') << position++);
    is(field, value, token);
  }
  void modifier(const std::string& token) {
    const size_t colon = token.find(':');
    const std::string name = token.substr(0, colon), value = colon == std::string::npos ? "" : token.substr(colon + 1);
    const auto number = [&] { return static_cast<i32>(std::stol(value, nullptr, 0)); };
    if (name == "clamp") is(rest_.clamp, true, token);
    else if (name == "sc0" || name == "glc") is(rest_.sc0, true, token);
    else if (name == "sc1") is(rest_.sc1, true, token);
    else if (name == "nt" || name == "slc") is(rest_.nt, true, token);
    else if (name == "lds") is(rest_.lds, true, token);
    else if (name == "offen") is(rest_.offen, true, token);
    else if (name == "idxen") is(rest_.idxen, true, token);
    else if (name == "tfe") is(rest_.tfe, true, token);
    else if (name == "mul") is(rest_.omod, static_cast<u8>(value == "2" ? 1 : 2), token);
    else if (name == "div") is(rest_.omod, u8{3}, token);
    else if (name == "op_sel") bits(rest_.op_sel, token), rest_.op_sel_given = false;
    else if (name == "op_sel_hi") bits(rest_.op_sel_hi, token), rest_.op_sel_hi_given = false;
    else if (name == "neg_lo" || name == "neg") bits(rest_.neg_lo, token);
    else if (name == "neg_hi") bits(rest_.neg_hi, token);
    else if (name == "cbsz") is(rest_.cbsz, static_cast<u8>(number()), token);
    else if (name == "abid") is(rest_.abid, static_cast<u8>(number()), token);
    else if (name == "blgp") is(rest_.blgp, static_cast<u8>(number()), token);
    else if (name == "offset1") is(rest_.offset1, number(), token);
    else if (value.starts_with("swizzle(")) is(rest_.offset, static_cast<i32>(inst_.words[0] & 0xffff), token);
    else if (name == "offset" || name == "offset0") is(rest_.offset, number(), token);
    else if (name == "format") rest_.format = 0;  // read from the words
    else if (!sdwa(name, value, token) && !dpp(name, value)) expect(false, "modifier " + token);
  }
  static SdwaSelect select(const std::string& value) {
    static const std::vector<std::string> kNames = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                                    "WORD_0", "WORD_1", "DWORD"};
    return static_cast<SdwaSelect>(std::find(kNames.begin(), kNames.end(), value) - kNames.begin());
  }
  bool sdwa(const std::string& name, const std::string& value, const std::string& token) {
    static const std::map<std::string, SdwaUnused> kUnused = {{"UNUSED_PAD", SdwaUnused::Pad},
                                                              {"UNUSED_SEXT", SdwaUnused::SignExtend},
                                                              {"UNUSED_PRESERVE", SdwaUnused::Preserve}};
    if (name == "dst_sel")
      expect(rest_.destination_select == select(value), token), rest_.destination_select = SdwaSelect::Dword;
    else if (name == "dst_unused") is(rest_.destination_unused, kUnused.at(value), token);
    else if (name == "src0_sel" || name == "src1_sel") {
      u32 k = 0;
      while (k < inst_.operand_count && inst_.op->operands[k].destination) ++k;
      k += name == "src1_sel" ? 1 : 0;
      expect(k < inst_.operand_count && inst_.operands[k].select == select(value), token);
    } else {
      return false;
    }
    expect(inst_.mods.sdwa, "SDWA");
    rest_.sdwa = false;
    return true;
  }
  bool dpp(const std::string& name, const std::string& value) {
    static const std::map<std::string, DppControl> kControls = {
        {"row_shl", DppControl::RowShl},       {"row_shr", DppControl::RowShr},   {"row_ror", DppControl::RowRor},
        {"wave_shl", DppControl::WaveShl},     {"wave_rol", DppControl::WaveRol}, {"wave_shr", DppControl::WaveShr},
        {"wave_ror", DppControl::WaveRor},     {"row_mirror", DppControl::RowMirror},
        {"row_half_mirror", DppControl::RowHalfMirror}, {"row_newbcast", DppControl::RowNewBcast}};
    if (!inst_.dpp) return false;
    dpp_seen_ = true;
    const Dpp& dpp = *inst_.dpp;
    if (name == "row_mask") return dpp.row_mask == std::stoul(value, nullptr, 0);
    if (name == "bank_mask") return dpp.bank_mask == std::stoul(value, nullptr, 0);
    if (name == "bound_ctrl") return bound_seen_ = true, dpp.bound_control;
    if (name == "row_bcast") return dpp.control == (value == "15" ? DppControl::RowBcast15 : DppControl::RowBcast31);
    if (name == "quad_perm") {
      for (u32 k = 0; k < 4; ++k)
        if (dpp.quad[k] != value[1 + 2 * k] - '0') return false;
      return dpp.control == DppControl::QuadPerm;
    }
    const auto control = kControls.find(name);
    return control != kControls.end() && dpp.control == control->second &&
           (value.empty() || dpp.amount == std::stoul(value));
  }
  void nothing_left() {
    const Modifiers& r = rest_;
    expect(!r.clamp && r.omod == 0 && r.op_sel == 0 && !r.op_sel_given && r.op_sel_hi == 0 && !r.op_sel_hi_given &&
               r.neg_lo == 0 && r.neg_hi == 0 && r.cbsz == 0 && r.abid == 0 && r.blgp == 0 && !r.sc0 && !r.sc1 &&
               !r.nt && !r.lds && !r.offen && !r.idxen && !r.tfe && !r.sdwa &&
               r.destination_select == SdwaSelect::Dword && r.destination_unused == SdwaUnused::Pad && r.offset == 0 &&
               r.offset1 == 0 && r.format == 0,
           "modifiers that LLVM does not print");
    expect((inst_.dpp != nullptr) == dpp_seen_ && (!inst_.dpp || inst_.dpp->bound_control == bound_seen_), "DPP");
  }

  const Inst& inst_;
  Modifiers rest_;
  std::vector<u64> immediates_;
  u32 operands_ = 0;
  bool dpp_seen_ = false, bound_seen_ = false;
};

// ---- Random words ----

struct Encoding {
  const char* name;
  u32 base, opcode_shift, opcodes;
  u32 first_mask;  // bits of the first word that may be random
};
// SDWA and DPP are VOP1, VOP2 and VOPC with a source that says so; the opcode field of MTBUF is in the middle.
constexpr Encoding kEncodings[] = {
    {"SOP2", 0x80000000, 23, 96, 0x007fffff},   {"SOPK", 0xb0000000, 23, 27, 0x007fffff},
    {"SOP1", 0xbe800000, 8, 256, 0x007f00ff},   {"SOPC", 0xbf000000, 16, 128, 0x0000ffff},
    {"SOPP", 0xbf800000, 16, 128, 0x0000ffff},  {"SMEM", 0xc0000000, 18, 256, 0x0003ffff},
    {"VOP2", 0x00000000, 25, 62, 0x01ffffff},   {"VOP1", 0x7e000000, 9, 256, 0x01fe01ff},
    {"VOPC", 0x7c000000, 17, 256, 0x0001ffff},  {"VOP3", 0xd0000000, 16, 1024, 0x0000ffff},
    {"VOP3P", 0xd3800000, 16, 128, 0x0000ffff}, {"DS", 0xd8000000, 17, 256, 0x0001ffff},
    {"FLAT", 0xdc000000, 18, 128, 0x0003ffff},  {"MUBUF", 0xe0000000, 18, 128, 0x0003ffff},
    {"MTBUF", 0xe8000000, 15, 16, 0x03f87fff},
};

class Words {
 public:
  explicit Words(u64 seed) : random_(seed) {}
  // Some operands only decode when they are even, or VGPRs, or nothing at all: the draw leans to that.
  void draw(const Encoding& encoding, u32 opcode, u32 (&words)[4]) {
    const u64 kind = random_();
    u32 first = bits();
    for (u32& word : words) word = bits();
    if (kind % 3 == 0) first &= ~0x01010101u, words[1] &= ~0x01010101u;
    if (kind / 3 % 4 == 0) words[1] &= 0x00ffffff;
    if (kind / 12 % 4 == 0) words[1] &= 0x1fffffff;
    if (kind / 48 % 3 == 0) words[1] |= 0x04020100;  // sources 256 and up are VGPRs
    if (kind / 48 % 3 == 1)
      words[1] = (words[1] & 0xff00) | (kind / 1000 % 2 == 0 ? 0x7f0000u : 0u) | (kind / 2000 & 0xff);
    if (kind / 144 % 4 == 0) first &= encoding.name == std::string_view("SMEM") ? 0x0003dfffu : 0xffff00ffu;
    const bool vop = encoding.name[0] == 'V' && encoding.name[3] != '3' && encoding.name[4] == 0;
    if (vop && kind / 576 % 2 == 0) first = (first & ~0x1ffu) | (kind / 1152 % 2 == 0 ? 0xf9u : 0xfau);
    // Fields that an instruction does not use must be 0.
    const std::string_view name = encoding.name;
    if (name == "DS") {
      constexpr u32 kUsed[] = {0xffffffff, 0xff0000ff, 0xff000000, 0x000000ff, 0x0000ffff, 0x00ffffff, 0xff00ffff, 0};
      words[1] &= kUsed[kind / 5000 % 8];
      if (kind / 40000 % 4 != 0) first &= ~0x10000u;
      if (words[1] == 0 && kind / 160000 % 2 == 0) first = 0;
    }
    if (name == "VOP3P" && kind / 5000 % 6 == 0) {
      first = (first & 0xff) | 0x4000;
      words[1] = (words[1] & 0x1ff) | 0x18000000;
    }
    if (name == "SOPP" && kind / 5000 % 6 == 0) first = 0;
    words[0] = encoding.base | opcode << encoding.opcode_shift | (first & encoding.first_mask);
  }

 private:
  u32 bits() { return static_cast<u32>(random_()); }
  std::mt19937_64 random_;
};

struct Sweep {
  u64 decoded = 0;
  std::set<std::string> seen;                   // mnemonics with their encoding suffix
  std::map<std::string, std::string> problems;  // a mnemonic's first
};

void sweep(u32 samples_per_opcode, u64 seed, Sweep& result) {
  Disassembler disassembler;
  Immediates immediates;
  Words draw(seed);
  for (const Encoding& encoding : kEncodings)
    for (u32 opcode = 0; opcode < encoding.opcodes; ++opcode)
      for (u32 sample = 0; sample < samples_per_opcode; ++sample) {
        u32 words[4];
        draw.draw(encoding, opcode, words);
        std::byte bytes[sizeof words];
        std::memcpy(bytes, words, sizeof words);
        const Disassembler::Text line = disassembler.disassemble(bytes, 0);
        if (line.size == 0) continue;
        const std::unique_ptr<Inst> inst = decode(disassembler, bytes, 0);
        const std::string mnemonic = line.text.substr(0, line.text.find(' '));
        result.seen.insert(mnemonic);
        ++result.decoded;
        EXPECT_EQ(inst->size, line.size) << line.text;
        if (inst->op == nullptr) {
          EXPECT_FALSE(reason_left_out(strip_encoding_suffix(mnemonic)).empty()) << line.text;
          continue;
        }
        const Comparison comparison(*inst, line.text, immediates.of(bytes));
        if (!comparison.problems.empty())
          result.problems.emplace(mnemonic, "'" + line.text + "': " + comparison.problems);
      }
}

// HIPBENCH_SWEEP_SAMPLES makes it longer (ctest: emulator.decode_sweep_long, label slow).
TEST(DecodeSweep, RandomInstructionsKeepEverythingThatLlvmPrints) {
  const char* samples = std::getenv("HIPBENCH_SWEEP_SAMPLES");
  Sweep result;
  sweep(samples != nullptr ? static_cast<u32>(std::strtoul(samples, nullptr, 10)) : 30, 1, result);
  u32 shown = 0;
  for (const auto& [mnemonic, problem] : result.problems)
    if (shown++ < 40) ADD_FAILURE() << problem;
  EXPECT_EQ(result.problems.size(), 0u);
  EXPECT_GT(result.decoded, 15'000u);
  EXPECT_GT(result.seen.size(), 1'500u);
  std::set<std::string> unseen;
  Disassembler disassembler;
  for (const std::string& mnemonic : instruction_coverage(disassembler).known) unseen.insert(mnemonic);
  for (const std::string& mnemonic : result.seen) unseen.erase(std::string(strip_encoding_suffix(mnemonic)));
  EXPECT_THAT(unseen, testing::SizeIs(testing::Le(samples != nullptr ? 0u : 60u)));
  RecordProperty("decoded", static_cast<int>(result.decoded));
  RecordProperty("mnemonics", static_cast<int>(result.seen.size()));
}

// LLVM's printer is not made for these: they must not reach it.
TEST(Decode, ReservedSdwaSelectsAreNoInstruction) {
  Disassembler disassembler;
  for (const u32 second :
       {0x06060702u, 0x06061e02u, 0x06070602u, 0x07060602u}) {  // dst_sel, dst_unused, src0_sel, src1_sel
    const u32 words[4] = {0x020000f9, second, 0, 0};                                // v_add_f32_sdwa
    std::byte bytes[sizeof words];
    std::memcpy(bytes, words, sizeof words);
    EXPECT_EQ(disassembler.disassemble(bytes, 0).size, 0u) << std::hex << second;
    EXPECT_EQ(decode(disassembler, bytes, 0)->op, nullptr);
  }
}

TEST(Decode, RegistersThatAnOperandCannotNameAreNoInstruction) {
  Disassembler disassembler;
  const u32 words[4] = {0xe0500000, 0x801a0000, 0, 0};  // buffer_load_dword with the resource in s[104:107]
  std::byte bytes[sizeof words];
  std::memcpy(bytes, words, sizeof words);
  EXPECT_EQ(disassembler.disassemble(bytes, 0).size, 0u);
}

}  // namespace
}  // namespace hipbench::emulator
