#include "emulator/loader/line_table.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "emulator/loader/cursor.hpp"
#include "emulator/loader/inline_calls.hpp"

namespace hipbench::emulator {

namespace {

// DWARF 5, sections 6.2 and 7.22.
enum StandardOpcode : u8 {
  kExtended,
  kCopy,
  kAdvancePc,
  kAdvanceLine,
  kSetFile,
  kSetColumn,
  kNegateStatement,
  kBasicBlock,
  kConstAddPc,
  kFixedAdvancePc,
};
enum ExtendedOpcode : u8 { kEndSequence = 1, kSetAddress = 2 };
enum ContentType : u64 { kPath = 1, kDirectoryIndex = 2 };

std::string_view string_at(std::span<const std::byte> section, u64 offset) {
  if (offset >= section.size()) return {};
  return Cursor(section.subspan(offset)).text();
}

struct Unit {
  u16 version = 0;
  bool wide = false;  // 64-bit DWARF
  u8 least_instruction = 1, line_range = 1, opcode_base = 1;
  i8 line_base = 0;
  std::vector<u8> opcode_lengths;
  std::vector<std::string> directories;
  std::vector<u32> files;  // indices into Parsed::files, numbered as the program numbers them
};

// A file of the program's own: next to or below the one that was compiled, as its name was written.
bool is_own(std::string_view file, std::string_view compiled) {
  if (!compiled.starts_with('/')) return !file.starts_with('/');
  return file.starts_with(compiled.substr(0, compiled.rfind('/') + 1));
}

class Parser {
 public:
  explicit Parser(const DebugSections& sections) : sections_(sections) {}

  LineTable::Parsed run() {
    Cursor all(sections_.lines);
    while (!all.at_end()) {
      const u32 short_length = all.read<u32>();
      const bool wide = short_length == 0xffffffff;
      const u64 length = wide ? all.read<u64>() : short_length;
      const u64 start = all.position() - (wide ? 12 : 4);
      const auto content = all.take(length);
      if (!all.ok()) break;
      read_unit(Cursor(content), content, wide, start);
    }
    auto& ranges = parsed_.ranges;
    std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
    find_own_lines();
    return std::move(parsed_);
  }

 private:
  void read_unit(Cursor cursor, std::span<const std::byte> content, bool wide, u64 start) {
    Unit unit;
    unit.wide = wide;
    unit.version = cursor.read<u16>();
    if (unit.version < 2 || unit.version > 5) return;
    if (unit.version == 5) cursor.take(2);  // address size (8) and segment selector size (0)
    const u64 header_length = cursor.read_offset(wide);
    const size_t header_start = cursor.position();
    unit.least_instruction = cursor.read<u8>();
    if (unit.version >= 4) cursor.read<u8>();  // operations an instruction: 1, AMDGPU is no VLIW
    cursor.read<u8>();                         // default is_stmt
    unit.line_base = cursor.read<i8>();
    unit.line_range = cursor.read<u8>();
    unit.opcode_base = cursor.read<u8>();
    if (!cursor.ok() || unit.line_range == 0 || unit.opcode_base == 0) return;
    for (u32 i = 1; i < unit.opcode_base; ++i) unit.opcode_lengths.push_back(cursor.read<u8>());
    if (unit.version == 5)
      read_tables(cursor, unit);
    else
      read_old_tables(cursor, unit);
    if (!cursor.ok() || header_length > content.size() - header_start) return;
    run_program(Cursor(content.subspan(header_start + header_length)), unit);
    files_of_units_.emplace(start, std::move(unit.files));
  }

  // A line of a header is nobody's who looks for a mistake: code that was inlined from one belongs to the innermost
  // call in a file of the program's own.
  void find_own_lines() {
    constexpr u64 kMostSteps = 20'000'000;  // calls of hostile files may all cover everything
    u64 steps = 0;
    const std::vector<LineTable::Range> lines = parsed_.ranges;
    for (const InlineCall& call : parse_inline_calls(sections_)) {
      const auto unit = files_of_units_.find(call.lines);
      if (unit == files_of_units_.end() || call.file >= unit->second.size()) continue;
      const u32 file = unit->second[call.file];
      const std::string& compiled = parsed_.files[unit->second[0]];
      if (!is_own(parsed_.files[file], compiled)) continue;
      auto range = std::lower_bound(lines.begin(), lines.end(), call.begin,
                                    [](const LineTable::Range& one, u64 address) { return one.begin < address; });
      for (; range != lines.end() && range->begin < call.end; ++range) {
        if (++steps > kMostSteps) return;
        if (is_own(parsed_.files[range->file], compiled)) continue;
        LineTable::Range& own = parsed_.ranges[static_cast<size_t>(range - lines.begin())];
        own.line = call.line;
        own.file = file;
      }
    }
  }

  u32 add_file(std::string_view directory, std::string_view name) {
    std::string path(name);
    if (!directory.empty() && !name.starts_with('/')) path = std::string(directory) + "/" + path;
    parsed_.files.push_back(std::move(path));
    return static_cast<u32>(parsed_.files.size() - 1);
  }

  void read_old_tables(Cursor& cursor, Unit& unit) {
    unit.directories.emplace_back();  // 0: where the compiler ran, which only .debug_info knows
    for (std::string_view name = cursor.text(); cursor.ok() && !name.empty(); name = cursor.text())
      unit.directories.emplace_back(name);
    unit.files.push_back(add_file("", "?"));  // files count from 1
    for (std::string_view name = cursor.text(); cursor.ok() && !name.empty(); name = cursor.text()) {
      const u64 directory = cursor.uleb();
      cursor.uleb();  // time
      cursor.uleb();  // size
      unit.files.push_back(add_file(directory < unit.directories.size() ? unit.directories[directory] : "", name));
    }
  }

  struct Entry {
    std::string_view path;
    u64 directory = 0;
  };
  std::vector<Entry> read_table(Cursor& cursor, const Unit& unit) {
    std::vector<std::pair<u64, u64>> formats(cursor.read<u8>());  // content type, form
    for (auto& [type, form] : formats) {
      type = cursor.uleb();
      form = cursor.uleb();
    }
    std::vector<Entry> entries;
    const u64 count = cursor.uleb();
    for (u64 i = 0; i < count && cursor.ok() && !formats.empty(); ++i) {
      Entry entry;
      for (const auto& [type, form] : formats) {
        const auto [number, text] = read_form(cursor, form, unit.wide);
        if (type == kPath) entry.path = text;
        if (type == kDirectoryIndex) entry.directory = number;
      }
      entries.push_back(entry);
    }
    return entries;
  }

  void read_tables(Cursor& cursor, Unit& unit) {
    for (const Entry& entry : read_table(cursor, unit)) unit.directories.emplace_back(entry.path);
    for (const Entry& entry : read_table(cursor, unit)) {
      // Directory 0 is where the compiler ran; a name relative to it is what the user typed.
      const bool elsewhere = entry.directory != 0 && entry.directory < unit.directories.size();
      unit.files.push_back(add_file(elsewhere ? unit.directories[entry.directory] : "", entry.path));
    }
  }

  std::pair<u64, std::string_view> read_form(Cursor& cursor, u64 form, bool wide) {
    switch (form) {
      case 0x08:
        return {0, cursor.text()};  // string
      case 0x0e:
        return {0, string_at(sections_.strings, cursor.read_offset(wide))};  // strp
      case 0x1f:
        return {0, string_at(sections_.line_strings, cursor.read_offset(wide))};  // line_strp
      case 0x0b:
        return {cursor.read<u8>(), {}};  // data1
      case 0x05:
        return {cursor.read<u16>(), {}};  // data2
      case 0x06:
        return {cursor.read<u32>(), {}};  // data4
      case 0x07:
        return {cursor.read<u64>(), {}};  // data8
      case 0x0f:
        return {cursor.uleb(), {}};  // udata
      case 0x1e:
        cursor.take(16);
        return {};  // data16 (an MD5)
      case 0x09:
        cursor.take(cursor.uleb());
        return {};  // block
      default:
        cursor.fail();
        return {};
    }
  }

  struct Row {
    u64 address = 0;
    u64 file = 1;
    u64 line = 1;
  };

  void run_program(Cursor cursor, const Unit& unit) {
    Row row, previous;
    bool has_previous = false;
    const auto emit = [&] {
      if (has_previous && previous.address < row.address && previous.file < unit.files.size())
        parsed_.ranges.push_back(
            {previous.address, row.address, static_cast<u32>(previous.line), unit.files[previous.file]});
      previous = row;
      has_previous = true;
    };
    const auto advance = [&](u64 operations) { row.address += operations * unit.least_instruction; };
    while (!cursor.at_end()) {
      const u8 opcode = cursor.read<u8>();
      if (opcode >= unit.opcode_base) {
        const u32 adjusted = opcode - unit.opcode_base;
        advance(adjusted / unit.line_range);
        row.line += static_cast<u64>(static_cast<i64>(unit.line_base) + adjusted % unit.line_range);
        emit();
        continue;
      }
      switch (opcode) {
        case kExtended: {
          Cursor operands(cursor.take(cursor.uleb()));
          const u8 extended = operands.read<u8>();
          if (extended == kSetAddress) row.address = operands.read<u64>();
          if (extended == kEndSequence) {
            emit();
            row = {};
            has_previous = false;
          }
          break;
        }
        case kCopy:
          emit();
          break;
        case kAdvancePc:
          advance(cursor.uleb());
          break;
        case kAdvanceLine:
          row.line += static_cast<u64>(cursor.sleb());
          break;
        case kSetFile:
          row.file = cursor.uleb();
          break;
        case kConstAddPc:
          advance((255u - unit.opcode_base) / unit.line_range);
          break;
        case kFixedAdvancePc:
          row.address += cursor.read<u16>();
          break;
        default:  // no effect on the rows: skip the operands
          for (u32 i = 0; i < unit.opcode_lengths[opcode - 1u]; ++i) cursor.uleb();
      }
    }
  }

  const DebugSections& sections_;
  LineTable::Parsed parsed_;
  std::map<u64, std::vector<u32>> files_of_units_;  // by where the unit starts in .debug_line
};

}  // namespace

LineTable::Parsed parse_line_programs(const DebugSections& sections) { return Parser(sections).run(); }

std::optional<LineTable::Line> LineTable::find(u64 address) const {
  std::call_once(once_, [&] { parsed_ = parse_line_programs(sections_); });
  const auto& ranges = parsed_.ranges;
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), address,
                                      [](u64 a, const Range& range) { return a < range.begin; });
  if (after == ranges.begin()) return std::nullopt;
  const Range& range = *std::prev(after);
  if (address >= range.end || range.line == 0) return std::nullopt;
  return Line{parsed_.files[range.file], range.line};
}

}  // namespace hipbench::emulator
