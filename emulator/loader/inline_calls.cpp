#include "emulator/loader/inline_calls.hpp"

#include <map>
#include <optional>
#include <utility>

#include "emulator/loader/cursor.hpp"

namespace hipbench::emulator {

namespace {

// DWARF 5, section 7.5; range lists: 7.25.
enum Tag : u64 { kCompileUnit = 0x11, kInlinedSubroutine = 0x1d };
enum Attribute : u64 {
  kStatementList = 0x10,
  kLowPc = 0x11,
  kHighPc = 0x12,
  kRanges = 0x55,
  kCallFile = 0x58,
  kCallLine = 0x59,
  kAddressBase = 0x73,
  kRangeListBase = 0x74,
};
enum Form : u64 { kAddress = 0x01, kRangeListIndex = 0x23, kImplicitConstant = 0x21, kAddressIndex = 0x1b };
enum RangeEntry : u8 {
  kEndOfList, kBaseIndex, kStartEndIndices, kStartIndexLength, kOffsetPair, kBaseAddress, kStartEnd, kStartLength,
};
constexpr u8 kUnitOfCompiler = 1;
constexpr size_t kMostCalls = 1'000'000;  // hostile entries may all share one long list of ranges

struct AttributeSpec {
  u64 name = 0, form = 0;
  i64 constant = 0;  // of implicit ones
};
struct Abbreviation {
  u64 tag = 0;
  bool has_children = false;
  std::vector<AttributeSpec> attributes;
};

std::map<u64, Abbreviation> read_abbreviations(Cursor cursor) {
  std::map<u64, Abbreviation> result;
  for (u64 code = cursor.uleb(); cursor.ok() && code != 0; code = cursor.uleb()) {
    Abbreviation& one = result[code];
    one = {cursor.uleb(), cursor.read<u8>() != 0, {}};
    while (cursor.ok()) {
      AttributeSpec spec{cursor.uleb(), cursor.uleb(), 0};
      if (spec.form == kImplicitConstant) spec.constant = cursor.sleb();
      if (spec.name == 0 && spec.form == 0) break;
      one.attributes.push_back(spec);
    }
  }
  return result;
}

// A value as a number where it is one; what it points to is not read.
u64 read_value(Cursor& cursor, const AttributeSpec& spec) {
  const auto skip = [&](u64 bytes) {
    cursor.take(bytes);
    return u64{0};
  };
  switch (spec.form) {
    case 0x0b: case 0x0c: case 0x11: case 0x25: case 0x29:  // data1, flag, ref1, strx1, addrx1
      return cursor.read<u8>();
    case 0x05: case 0x12: case 0x26: case 0x2a:  // data2, ref2, strx2, addrx2
      return cursor.read<u16>();
    case 0x27: case 0x2b:  // strx3, addrx3
      return cursor.read<u16>() | u64{cursor.read<u8>()} << 16;
    case 0x06: case 0x0e: case 0x10: case 0x13: case 0x17: case 0x1c: case 0x1d: case 0x1f: case 0x28: case 0x2c:
      return cursor.read<u32>();  // data4, strp, ref_addr, ref4, sec_offset, …_sup, line_strp, strx4, addrx4
    case 0x01: case 0x07: case 0x14: case 0x20: case 0x24:  // addr, data8, ref8, ref_sig8, ref_sup8
      return cursor.read<u64>();
    case 0x0f:
    case 0x15:
    case 0x1a:
    case 0x1b:
    case 0x22:
    case 0x23:  // udata, ref_udata, strx, addrx, loclistx, rnglistx
      return cursor.uleb();
    case 0x0d:
      return static_cast<u64>(cursor.sleb());  // sdata
    case 0x08:
      return static_cast<void>(cursor.text()), 0;  // string
    case 0x03:
      return skip(cursor.read<u16>());  // block2
    case 0x04:
      return skip(cursor.read<u32>());  // block4
    case 0x0a:
      return skip(cursor.read<u8>());  // block1
    case 0x09: case 0x18:
      return skip(cursor.uleb());  // block, exprloc
    case 0x1e:
      return skip(16);  // data16
    case 0x19:
      return 1;  // flag_present
    case kImplicitConstant:
      return static_cast<u64>(spec.constant);
    default:
      cursor.fail();
      return 0;
  }
}

bool is_address_index(u64 form) { return form == kAddressIndex || (form >= 0x29 && form <= 0x2c); }

class Unit {
 public:
  Unit(const DebugSections& sections, std::vector<InlineCall>& calls) : sections_(sections), calls_(calls) {}

  // From behind the unit's length.
  void read(Cursor cursor) {
    const u16 version = cursor.read<u16>();
    const u8 type = cursor.read<u8>(), address_bytes = cursor.read<u8>();
    const u64 abbreviations = cursor.read<u32>();
    if (version != 5 || type != kUnitOfCompiler || address_bytes != 8) return;
    if (abbreviations > sections_.abbreviations.size()) return;
    const auto known = read_abbreviations(Cursor(sections_.abbreviations.subspan(abbreviations)));
    while (!cursor.at_end() && calls_.size() < kMostCalls) {
      const u64 code = cursor.uleb();
      if (code == 0) continue;  // the end of some entry's children
      const auto found = known.find(code);
      if (found == known.end()) return;
      read_entry(cursor, found->second);
    }
  }

 private:
  struct Entry {
    std::optional<std::pair<u64, u64>> low, high, ranges;  // value and form
    InlineCall call;
  };

  void read_entry(Cursor& cursor, const Abbreviation& abbreviation) {
    Entry entry;
    for (const AttributeSpec& spec : abbreviation.attributes) {
      const u64 value = read_value(cursor, spec);
      if (spec.name == kLowPc) entry.low = {value, spec.form};
      if (spec.name == kHighPc) entry.high = {value, spec.form};
      if (spec.name == kRanges) entry.ranges = {value, spec.form};
      if (spec.name == kCallFile) entry.call.file = value;
      if (spec.name == kCallLine) entry.call.line = static_cast<u32>(value);
      if (abbreviation.tag != kCompileUnit) continue;
      if (spec.name == kStatementList) lines_ = value;
      if (spec.name == kAddressBase) address_base_ = value;
      if (spec.name == kRangeListBase) range_list_base_ = value;
    }
    if (!cursor.ok()) return;
    const std::optional<u64> low = entry.low ? address(*entry.low) : std::nullopt;
    if (abbreviation.tag == kCompileUnit) base_ = low.value_or(0);
    if (abbreviation.tag != kInlinedSubroutine) return;
    entry.call.lines = lines_;
    if (entry.ranges) return add_ranges(entry.call, *entry.ranges);
    if (!low || !entry.high) return;
    const bool is_end = entry.high->second == kAddress || is_address_index(entry.high->second);
    const std::optional<u64> high = is_end ? address(*entry.high) : *low + entry.high->first;
    if (high) add(entry.call, *low, *high);
  }

  std::optional<u64> address(std::pair<u64, u64> value) const {
    return is_address_index(value.second) ? address_at(value.first) : value.first;
  }
  std::optional<u64> address_at(u64 index) const {
    if (index > sections_.addresses.size()) return std::nullopt;  // before it is multiplied
    return read_at<u64>(sections_.addresses, address_base_ + index * 8);
  }

  void add(InlineCall call, u64 begin, u64 end) {
    if (begin >= end) return;
    call.begin = begin;
    call.end = end;
    calls_.push_back(call);
  }

  void add_ranges(const InlineCall& call, std::pair<u64, u64> where) {
    u64 offset = where.first;
    if (where.second == kRangeListIndex) {
      if (where.first > sections_.range_lists.size()) return;
      const auto relative = read_at<u32>(sections_.range_lists, range_list_base_ + where.first * 4);
      if (!relative) return;
      offset = range_list_base_ + *relative;
    }
    if (offset > sections_.range_lists.size()) return;
    Cursor list(sections_.range_lists.subspan(offset));
    u64 base = base_;
    while (!list.at_end() && calls_.size() < kMostCalls) {
      std::optional<u64> begin, end;
      switch (list.read<u8>()) {
        case kBaseIndex:
          base = address_at(list.uleb()).value_or(0);
          continue;
        case kBaseAddress:
          base = list.read<u64>();
          continue;
        case kStartEndIndices:
          begin = address_at(list.uleb());
          end = address_at(list.uleb());
          break;
        case kStartIndexLength:
          begin = address_at(list.uleb());
          end = begin.value_or(0) + list.uleb();
          break;
        case kOffsetPair:
          begin = base + list.uleb();
          end = base + list.uleb();
          break;
        case kStartEnd:
          begin = list.read<u64>();
          end = list.read<u64>();
          break;
        case kStartLength:
          begin = list.read<u64>();
          end = *begin + list.uleb();
          break;
        default:
          return;  // the end, or nothing that DWARF 5 knows
      }
      if (list.ok() && begin && end) add(call, *begin, *end);
    }
  }

  const DebugSections& sections_;
  std::vector<InlineCall>& calls_;
  u64 lines_ = 0, address_base_ = 0, range_list_base_ = 0, base_ = 0;
};

}  // namespace

std::vector<InlineCall> parse_inline_calls(const DebugSections& sections) {
  std::vector<InlineCall> calls;
  Cursor all(sections.info);
  while (!all.at_end()) {
    const u32 length = all.read<u32>();  // 64-bit DWARF is for files beyond 4 GiB
    const auto content = all.take(length);
    if (!all.ok()) break;
    Unit(sections, calls).read(Cursor(content));
  }
  return calls;
}

}  // namespace hipbench::emulator
