#pragma once
// printf of device code: the message that a lane sends is a format string and its arguments, eight bytes each.

#include <span>
#include <string>

#include "emulator/isa/types.hpp"

namespace hipbench::emulator {

// `words` begin with the format string, NUL-terminated and padded to eight bytes; then the arguments in order:
// integers, doubles and pointers one word each, strings inline, padded likewise. Hostile input: conversions without an
// argument print nothing, widths and precisions are limited, %n is skipped.
std::string format_device_printf(std::span<const u64> words);

}  // namespace hipbench::emulator
