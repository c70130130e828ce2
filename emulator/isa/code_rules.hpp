#pragma once
// What the instructions of a launch may be, beyond being valid. Applied when one is decoded for a kernel, however it is
// reached (isa/program.hpp): executing costs nothing more, and nothing that runs was not looked at.

#include <compare>
#include <string_view>

#include "emulator/isa/types.hpp"

namespace hipbench::emulator {

// Registers that a wave has, of each kind, from the first on.
struct RegisterCounts {
  u32 vgprs = 256, agprs = 256, sgprs = 102;
  auto operator<=>(const RegisterCounts&) const = default;
};

struct CodeRules {
  RegisterCounts registers;
  bool eight_bit_math = true;  // false: what is_eight_bit_math() names faults
  auto operator<=>(const CodeRules&) const = default;
};

// FP8 and BF8 conversions and matrix instructions, and products of 8-bit or narrower integers (quantised data).
inline bool is_eight_bit_math(std::string_view mnemonic) {
  const auto names = [&](std::string_view type) { return mnemonic.find(type) != std::string_view::npos; };
  if (names("fp8") || names("bf8")) return true;
  const bool multiplies =
      mnemonic.starts_with("v_mfma_") || mnemonic.starts_with("v_smfmac_") || mnemonic.starts_with("v_dot");
  return multiplies && (names("i8") || names("u8") || names("i4") || names("u4"));
}

}  // namespace hipbench::emulator
