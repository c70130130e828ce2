#pragma once
// Which pieces of a code object's code were inlined, and the lines of the calls: from .debug_info of DWARF 5, which
// clang writes even with -gline-tables-only. Of other versions there are none. All input is hostile.

#include <vector>

#include "emulator/loader/line_table.hpp"

namespace hipbench::emulator {

struct InlineCall {
  u64 begin = 0, end = 0;  // addresses of the inlined code, or of one piece of it
  u64 lines = 0;           // the unit's line program: an offset in .debug_line
  u64 file = 0;            // as that numbers it
  u32 line = 0;
};

// Callers before what they call.
std::vector<InlineCall> parse_inline_calls(const DebugSections& sections);

}  // namespace hipbench::emulator
