#pragma once
// The cases of tests/data/isa/*.s: reading the files and evaluating the values in them. The format is in the README
// there.

#include <string>
#include <string_view>
#include <vector>

#include "emulator/isa/types.hpp"

namespace hipbench::emulator {

struct AsmAssignment {
  std::string target;      // "v0", "v[2:3]", "mem[16]"
  std::string value;       // a list, or a formula when `formula`
  bool formula = false;
};

struct AsmCase {
  std::string name;        // "valu_f32.s:12: v_add_f32: rounding"
  std::string snippet;     // lines
  std::vector<AsmAssignment> before, after;
  std::string fault;       // words of the fault that the snippet must end in; empty = none
};

// Families ("@" lines) are expanded: one case a member.
std::vector<AsmCase> read_asm_cases(const std::string& path);

// One value of a list. `bits` as initial state; as an expectation it may allow more.
struct AsmValue {
  u64 bits = 0;
  bool any = false;            // "?"
  char nan = 0;                // 'f', 'h', 'd': any NaN of that format
  u32 ulp = 0;                 // within so many units in the last place of an f32

  std::vector<AsmValue> parts;  // of a pair

  bool accepts(u64 actual, u32 width) const;
};
std::vector<AsmValue> parse_asm_list(std::string_view list, u32 width);

// C operators on 64-bit integers; `variable` is the value of lane or i.
i64 evaluate_asm_formula(std::string_view formula, i64 variable);

}  // namespace hipbench::emulator
