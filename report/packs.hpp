#pragma once
// Long texts inside the page: many of them one after the other as a JSON object, deflated (zlib) and in base64, so that
// a browser can unpack them with what it has. Similar texts beside each other deflate well.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hipbench::report {

std::string base64(std::string_view bytes);

// A string of JSON that may stand inside an HTML element: "<" is escaped, invalid UTF-8 becomes U+FFFD.
std::string json_string(std::string_view text);

class Packs {
 public:
  // What all packs together may take, as they stand in the page.
  explicit Packs(size_t budget_bytes) : left_(budget_bytes) {}

  // `json` is a value. Returns the number of the pack that it will be in; none when there is no room for it.
  std::optional<size_t> add(std::string_view key, std::string_view json);
  // Also ends the pack that is being filled, so that what follows is not mixed with what was.
  void finish_pack();

  // After finish_pack(): each pack's base64.
  const std::vector<std::string>& packs() const { return packs_; }

 private:
  std::vector<std::string> packs_;
  std::string filling_;
  size_t left_;
};

}  // namespace hipbench::report
