#include "emulator/isa/operand_text.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>

#include "emulator/isa/float_formats.hpp"
#include "emulator/isa/op_table.hpp"
#include "emulator/isa/wave.hpp"

namespace hipbench::emulator {

namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\n')) text.remove_suffix(1);
  return text;
}

// Splits at a separator that is not inside brackets.
std::vector<std::string_view> split_outside_brackets(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size()) {
      if (text[i] == '[' || text[i] == '(') ++depth;
      if (text[i] == ']' || text[i] == ')') --depth;
      if (text[i] != separator || depth > 0) continue;
    }
    const std::string_view part = trim(text.substr(start, i - start));
    if (!part.empty()) parts.push_back(part);
    start = i + 1;
  }
  return parts;
}

std::optional<u32> parse_number(std::string_view text) {
  u32 value = 0;
  int base = 10;
  if (text.starts_with("0x")) {
    text.remove_prefix(2);
    base = 16;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "5" of "v5" or "2:3" of "v[2:3]": first index and count.
bool parse_register_range(std::string_view text, u32& first, u32& count) {
  if (text.starts_with('[') && text.ends_with(']')) {
    text = text.substr(1, text.size() - 2);
    const size_t colon = text.find(':');
    const auto low = parse_number(text.substr(0, colon));
    const auto high = colon == std::string_view::npos ? low : parse_number(text.substr(colon + 1));
    if (!low || !high || *high < *low) return false;
    first = *low;
    count = *high - *low + 1;
    return true;
  }
  const auto index = parse_number(text);
  if (!index) return false;
  first = *index;
  count = 1;
  return true;
}

struct NamedScalar {
  std::string_view name;
  u32 index, dwords;
};
constexpr NamedScalar kNamedScalars[] = {
    {"vcc", kVcc, 2},           {"vcc_lo", kVcc, 1},         {"vcc_hi", kVcc + 1, 1},
    {"exec", kExec, 2},         {"exec_lo", kExec, 1},       {"exec_hi", kExec + 1, 1},
    {"m0", kM0, 1},             {"flat_scratch", kFlatScratch, 2}, {"flat_scratch_lo", kFlatScratch, 1},
    {"flat_scratch_hi", kFlatScratch + 1, 1}, {"xnack_mask", kXnackMask, 2}, {"xnack_mask_lo", kXnackMask, 1},
    {"xnack_mask_hi", kXnackMask + 1, 1},
};

struct NamedConstant {
  std::string_view name;
  u64 value;
};
constexpr NamedConstant kNamedConstants[] = {
    {"src_shared_base", kLdsAperture},      {"src_shared_limit", kLdsAperture + 0xffffffff},
    {"src_private_base", kScratchAperture}, {"src_private_limit", kScratchAperture + 0xffffffff},
    {"src_pops_exiting_wave_id", 0},
};

bool parse_register(std::string_view text, Operand& operand) {
  u32 first = 0, count = 0;
  auto set = [&](OperandKind kind, u32 base, u32 limit) {
    if (first + count > limit) return false;
    operand.kind = kind;
    operand.index = static_cast<u16>(base + first);
    operand.dwords = static_cast<u16>(count);
    return true;
  };
  for (const NamedScalar& named : kNamedScalars)
    if (text == named.name) {
      operand.kind = OperandKind::Scalar;
      operand.index = static_cast<u16>(named.index);
      operand.dwords = static_cast<u16>(named.dwords);
      return true;
    }
  if (text.starts_with("ttmp") && parse_register_range(text.substr(4), first, count))
    return set(OperandKind::Scalar, kTtmp0, 16);
  if (text.empty()) return false;
  const std::string_view rest = text.substr(1);
  if (text[0] == 'v' && parse_register_range(rest, first, count)) return set(OperandKind::Vgpr, 0, 256);
  if (text[0] == 'a' && parse_register_range(rest, first, count)) return set(OperandKind::Vgpr, kAgprBase, 256);
  if (text[0] == 's' && parse_register_range(rest, first, count))
    return set(OperandKind::Scalar, 0, 104);  // FLAT_SCRATCH ends s[100:103]
  return false;
}

bool is_two_dwords(OperandType type) {
  return type == OperandType::B64 || type == OperandType::I64 || type == OperandType::F64 || type == OperandType::Mask;
}

// Inline constants are produced as 32 bits whatever the width of the operation (LLVM's comment on
// getInlineEncodingV216, after the hardware): integers sign-extended; floats as a half below zeros for f16 operations,
// as an f32 for 16-bit integer ones.
u64 integer_bits(i64 value, OperandType type) {
  switch (type) {
    case OperandType::PackedF32: return u64{static_cast<u32>(value)} << 32 | static_cast<u32>(value);
    case OperandType::B64:
    case OperandType::I64:
    case OperandType::F64:
    case OperandType::Mask: return static_cast<u64>(value);
    default: return static_cast<u32>(value);
  }
}

u64 hex_bits(u64 value, OperandType type) {
  if (value >> 32 != 0) return value;  // a full 64-bit constant
  if (type == OperandType::F64) return value << 32;
  if (type == OperandType::I64) return static_cast<u64>(static_cast<i64>(static_cast<i32>(value)));
  if (type == OperandType::PackedF32) return value << 32 | value;
  return value;
}

u64 float_bits(f64 value, OperandType type) {
  // 1/(2π) is printed rounded; its bits are the ISA's.
  if (is_two_dwords(type)) return std::abs(value - 0.15915494) < 1e-7 ? 0x3fc45f306dc9c882 : std::bit_cast<u64>(value);
  const f32 single = static_cast<f32>(value);
  switch (type) {
    case OperandType::F16:
    case OperandType::PackedF16: return f32_to_f16(single);
    case OperandType::Bf16: return std::bit_cast<u32>(single) >> 16;
    case OperandType::PackedF32: return u64{std::bit_cast<u32>(single)} << 32 | std::bit_cast<u32>(single);
    default: return std::bit_cast<u32>(single);
  }
}

bool parse_constant(std::string_view text, OperandType type, Operand& operand) {
  const std::string copy(text);
  char* end = nullptr;
  operand.kind = OperandKind::Constant;
  if (copy.find('.') != std::string::npos) {
    const f64 value = std::strtod(copy.c_str(), &end);
    operand.constant = float_bits(value, type);
  } else if (copy.starts_with("0x")) {
    operand.constant = hex_bits(std::strtoull(copy.c_str(), &end, 16), type);
  } else {
    operand.constant = integer_bits(std::strtoll(copy.c_str(), &end, 0), type);
  }
  return end != nullptr && *end == 0 && end != copy.c_str();
}

bool strip_call(std::string_view& text, std::string_view name) {
  if (!text.starts_with(name) || text.size() < name.size() + 2 || text[name.size()] != '(' || text.back() != ')')
    return false;
  text = text.substr(name.size() + 1, text.size() - name.size() - 2);
  return true;
}

}  // namespace

InstText split_instruction(std::string_view line) {
  InstText result;
  line = trim(line);
  const size_t space = line.find_first_of(" \t");
  result.mnemonic = line.substr(0, space);
  if (space == std::string_view::npos) return result;
  Inst probe;
  for (std::string_view piece : split_outside_brackets(line.substr(space), ',')) {
    bool first = true;
    for (std::string_view word : split_outside_brackets(piece, ' ')) {
      if (first && !parse_modifier(word, probe))
        result.operands.push_back(word);
      else
        result.modifiers.push_back(word);
      first = false;
    }
  }
  return result;
}

bool parse_operand(std::string_view text, OperandType type, Operand& operand) {
  operand.type = type;
  if (strip_call(text, "sext")) operand.sign_extend = true;
  if (strip_call(text, "neg")) operand.negate = true;
  if (text.size() > 1 && text[0] == '-' && (text[1] < '0' || text[1] > '9')) {
    operand.negate = true;
    text.remove_prefix(1);
  }
  if (strip_call(text, "abs")) operand.absolute = true;
  if (text.size() > 2 && text.front() == '|' && text.back() == '|') {
    operand.absolute = true;
    text = text.substr(1, text.size() - 2);
  }
  if (parse_register(text, operand)) return true;
  for (const NamedConstant& named : kNamedConstants)
    if (text == named.name) {
      operand.kind = OperandKind::Constant;
      operand.constant = named.value;
      return true;
    }
  if (text == "off" || text == "null") return operand.kind = OperandKind::Off, true;
  if (text == "scc" || text == "src_scc") return operand.kind = OperandKind::Scc, true;
  if (text == "vccz" || text == "src_vccz") return operand.kind = OperandKind::Vccz, true;
  if (text == "execz" || text == "src_execz") return operand.kind = OperandKind::Execz, true;
  if (text == "lds_direct" || text == "src_lds_direct") return operand.kind = OperandKind::LdsDirect, true;
  // Symbolic immediates; the rows that take them read the encoding's bits.
  for (std::string_view symbolic : {"hwreg", "sendmsg", "gpr_idx", "vmcnt", "lgkmcnt", "expcnt"})
    if (strip_call(text, symbolic)) return operand.kind = OperandKind::None, true;
  return parse_constant(text, type, operand);
}

namespace {

constexpr std::array<std::string_view, 7> kSdwaSelects = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                                          "WORD_0", "WORD_1", "DWORD"};

std::optional<SdwaSelect> parse_select(std::string_view text) {
  for (size_t i = 0; i < kSdwaSelects.size(); ++i)
    if (text == kSdwaSelects[i]) return static_cast<SdwaSelect>(i);
  return std::nullopt;
}

// "[0,1,1]" as a bit set, first element in bit 0.
u8 parse_bits(std::string_view list) {
  u8 bits = 0;
  u32 position = 0;
  for (char c : list)
    if (c == '0' || c == '1') {
      bits = static_cast<u8>(bits | (c == '1' ? 1u << position : 0u));
      ++position;
    }
  return bits;
}

Dpp& dpp_of(Inst& inst) {
  if (!inst.dpp) inst.dpp = std::make_unique<Dpp>();
  return *inst.dpp;
}

bool parse_dpp(std::string_view name, std::string_view value, Inst& inst) {
  struct Named {
    std::string_view name;
    DppControl control;
  };
  static constexpr Named kControls[] = {
      {"row_shl", DppControl::RowShl},         {"row_shr", DppControl::RowShr},
      {"row_ror", DppControl::RowRor},         {"wave_shl", DppControl::WaveShl},
      {"wave_rol", DppControl::WaveRol},       {"wave_shr", DppControl::WaveShr},
      {"wave_ror", DppControl::WaveRor},       {"row_mirror", DppControl::RowMirror},
      {"row_half_mirror", DppControl::RowHalfMirror}, {"row_newbcast", DppControl::RowNewBcast},
  };
  for (const Named& named : kControls)
    if (name == named.name) {
      dpp_of(inst).control = named.control;
      dpp_of(inst).amount = static_cast<u8>(parse_number(value).value_or(0));
      return true;
    }
  if (name == "row_bcast") {
    dpp_of(inst).control = value == "31" ? DppControl::RowBcast31 : DppControl::RowBcast15;
    return true;
  }
  if (name == "quad_perm") {
    dpp_of(inst).control = DppControl::QuadPerm;
    u32 k = 0;
    for (char c : value)
      if (c >= '0' && c <= '3' && k < 4) dpp_of(inst).quad[k++] = static_cast<u8>(c - '0');
    return k == 4;
  }
  if (name == "row_mask") return dpp_of(inst).row_mask = static_cast<u8>(parse_number(value).value_or(0xf)), true;
  if (name == "bank_mask") return dpp_of(inst).bank_mask = static_cast<u8>(parse_number(value).value_or(0xf)), true;
  if (name == "bound_ctrl") return dpp_of(inst).bound_control = true, true;  // LLVM prints it only when it is on
  return false;
}

bool parse_sdwa(std::string_view name, std::string_view value, Inst& inst) {
  Modifiers& mods = inst.mods;
  if (name == "dst_unused") {
    mods.sdwa = true;
    mods.destination_unused = value == "UNUSED_PRESERVE" ? SdwaUnused::Preserve
                              : value == "UNUSED_SEXT"   ? SdwaUnused::SignExtend
                                                         : SdwaUnused::Pad;
    return true;
  }
  const std::optional<SdwaSelect> select = parse_select(value);
  if (!select) return false;
  if (name == "dst_sel") return mods.sdwa = true, mods.destination_select = *select, true;
  // Source selects go to the operands, which are parsed first: destinations are counted by the row.
  if (name == "src0_sel" || name == "src1_sel") {
    mods.sdwa = true;
    if (inst.op == nullptr) return true;  // only probing whether the word is a modifier
    u32 source = 0;
    while (source + 1 < kMaxOperands && inst.op->operands[source].destination) ++source;
    if (name == "src1_sel") ++source;
    if (source < kMaxOperands) inst.operands[source].select = *select;
    return true;
  }
  return false;
}

}  // namespace

bool parse_modifier(std::string_view word, Inst& inst) {
  Modifiers& mods = inst.mods;
  struct Flag {
    std::string_view name;
    bool Modifiers::* member;
  };
  static constexpr Flag kFlags[] = {
      {"clamp", &Modifiers::clamp}, {"sc0", &Modifiers::sc0},     {"sc1", &Modifiers::sc1},
      {"nt", &Modifiers::nt},       {"lds", &Modifiers::lds},     {"gds", &Modifiers::gds},
      {"offen", &Modifiers::offen}, {"idxen", &Modifiers::idxen}, {"tfe", &Modifiers::tfe},
      {"glc", &Modifiers::sc0},     {"slc", &Modifiers::nt},
  };
  for (const Flag& flag : kFlags)
    if (word == flag.name) return mods.*flag.member = true, true;
  if (word == "row_mirror" || word == "row_half_mirror") return parse_dpp(word, "", inst);
  const size_t colon = word.find(':');
  if (colon == std::string_view::npos || word.find('[') < colon) return false;
  const std::string_view name = word.substr(0, colon), value = word.substr(colon + 1);
  if (name == "mul") return mods.omod = value == "4" ? 2 : 1, true;
  if (name == "div") return mods.omod = 3, true;
  if (name == "op_sel") return mods.op_sel = parse_bits(value), mods.op_sel_given = true, true;
  if (name == "op_sel_hi") return mods.op_sel_hi = parse_bits(value), mods.op_sel_hi_given = true, true;
  if (name == "neg_lo" || name == "neg") return mods.neg_lo = parse_bits(value), true;
  if (name == "neg_hi") return mods.neg_hi = parse_bits(value), true;
  if (parse_dpp(name, value, inst) || parse_sdwa(name, value, inst)) return true;
  // ds_swizzle_b32 prints its pattern by name; the encoding has the bits.
  if (name == "offset" && value.starts_with("swizzle("))
    return mods.offset = static_cast<i32>(inst.words[0] & 0xffff), true;
  const bool negative = value.starts_with('-');
  const std::optional<u32> number = parse_number(negative ? value.substr(1) : value);
  if (name == "format" || name == "dfmt" || name == "nfmt")
    return mods.format = static_cast<i32>(number.value_or(0)), true;
  if (!number) return false;
  const i32 amount = negative ? -static_cast<i32>(*number) : static_cast<i32>(*number);
  if (name == "offset" || name == "offset0") return mods.offset = amount, true;
  if (name == "offset1") return mods.offset1 = amount, true;
  if (name == "cbsz") return mods.cbsz = static_cast<u8>(amount), true;
  if (name == "abid") return mods.abid = static_cast<u8>(amount), true;
  if (name == "blgp") return mods.blgp = static_cast<u8>(amount), true;
  return false;
}

}  // namespace hipbench::emulator
