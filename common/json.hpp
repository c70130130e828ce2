#pragma once
// JSON documents whose keys stay in the order in which they were written. Reading and writing are compiled once, in
// json.cpp: the library's templates are most of what a source that uses them costs to compile.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "common/result.hpp"

namespace hipbench {

using Json = nlohmann::ordered_json;

// Error: what is wrong and where, which may quote any bytes of the text. Texts come from models, candidates and callers
// too: more than 1,000 members in an object (looking one up is linear) or 100 levels are refused.
Result<Json> parse_json(std::string_view text);

// On one line, or with `indent` spaces a level. Any bytes may be in its strings: what is not UTF-8 becomes U+FFFD.
std::string json_text(const Json& json, int indent = -1);

}  // namespace hipbench

extern template class nlohmann::basic_json<nlohmann::ordered_map>;
