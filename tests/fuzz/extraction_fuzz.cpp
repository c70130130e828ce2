// Answers of any bytes: a candidate is found or it is not.
#include "agents/extract.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view kPrevious = "=== previous\n";
  const size_t at = text.find(kPrevious);
  const std::string_view previous = at == std::string_view::npos ? "" : text.substr(at + kPrevious.size());
  const hipbench::agents::Extraction found = hipbench::agents::extract_candidate(text.substr(0, at), previous);
  // What was found stays the same when the model says it again and nothing else.
  if (!found.source.empty() && found.source.find("```") == std::string::npos &&
      found.source.find('{') == std::string::npos)
    (void)hipbench::agents::extract_candidate("```\n" + found.source + "```\n", found.source);
  return 0;
}
