#pragma once
// Code address -> source line, from the DWARF line programs (versions 2 to 5) of a code object. Code inlined from a
// header that is none of the program's own has the line of the call.
//
// Our own reader: LLVM's crashes on malformed debug information, and this input is hostile. Parsed on first use, since
// only reports and profiles ask.

#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emulator/isa/types.hpp"

namespace hipbench::emulator {

struct DebugSections {
  std::span<const std::byte> lines;         // .debug_line
  std::span<const std::byte> line_strings;  // .debug_line_str
  std::span<const std::byte> strings;       // .debug_str
  // Which calls were inlined. Missing or malformed ones cost that, nothing else.
  std::span<const std::byte> info, abbreviations, addresses, range_lists;
};

class LineTable {
 public:
  void set_sections(const DebugSections& sections) { sections_ = sections; }  // they must outlive the table

  struct Line {
    std::string_view file;  // "directory/name" as the compiler wrote them
    u32 line = 0;
  };
  std::optional<Line> find(u64 address) const;

  // Addresses [begin, end) belong to a line of a file. One row of a line program made it.
  struct Range {
    u64 begin = 0, end = 0;
    u32 line = 0, file = 0;  // an index into `files`
  };
  struct Parsed {
    std::vector<Range> ranges;
    std::vector<std::string> files;
  };

 private:
  DebugSections sections_;
  mutable std::once_flag once_;
  mutable Parsed parsed_;
};

// Reads every unit it can; stops quietly at what is malformed.
LineTable::Parsed parse_line_programs(const DebugSections& sections);

}  // namespace hipbench::emulator
