#pragma once
// Name expressions to symbols. Each expression becomes a device variable that holds its address, appended after the
// source; the compiled code's relocations then say which symbol it is. This instantiates templates, resolves
// namespaces, and guesses at nothing. The variables stay in the code object; code is generated as without them.

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hipbench::hip {

// What compiler messages call the appended text. Expression k stands on line k + 1.
inline constexpr std::string_view kNameExpressionsFile = "(name expressions)";

// The text to append to the source.
std::string name_expression_text(std::span<const std::string> expressions);

// The symbols of the expressions for which `elf`, linked or relocatable, has one. Any bytes are safe.
std::map<std::string, std::string> lowered_names(std::span<const std::byte> elf,
                                                 std::span<const std::string> expressions);

// The expression that a compiler message is about ("(name expressions):2:9: error: …" → the second); -1 when about
// none.
int expression_of_message(std::string_view message);

}  // namespace hipbench::hip
