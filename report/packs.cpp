#include "report/packs.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include "common/result.hpp"

namespace hipbench::report {

namespace {

// Large enough to deflate well, small enough to unpack in an instant.
constexpr size_t kPackBytes = size_t{256} << 10;

std::string deflated(std::string_view text) {
  std::string packed(compressBound(text.size()), '\0');
  uLongf size = packed.size();
  const int status =
      compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(text.data()),
                static_cast<uLong>(text.size()), Z_DEFAULT_COMPRESSION);
  CHECK(status == Z_OK, "the buffer has the size that zlib asks for");
  packed.resize(size);
  return packed;
}

// The length of the UTF-8 character at the front; 0: it is none.
size_t character_length(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&](size_t i) { return (byte(i) & 0xc0u) == 0x80u; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first < 0xf0) {
    const bool is_overlong = first == 0xe0 && second < 0xa0, is_surrogate = first == 0xed && second >= 0xa0;
    return follows(1) && follows(2) && !is_overlong && !is_surrogate ? 3 : 0;
  }
  if (first >= 0xf0 && first < 0xf5) {
    const bool is_overlong = first == 0xf0 && second < 0x90, is_beyond = first == 0xf4 && second >= 0x90;
    return follows(1) && follows(2) && follows(3) && !is_overlong && !is_beyond ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string base64(std::string_view bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    unsigned bits = 0;
    for (size_t j = 0; j < 3; ++j)
      bits = bits << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    for (size_t j = 0; j < 4; ++j) text += i + j <= bytes.size() ? kDigits[bits >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

std::string json_string(std::string_view text) {
  std::string json = "\"";
  while (!text.empty()) {
    const size_t length = character_length(text);
    const char c = text[0];
    if (length == 0) {
      json += "\\ufffd";
    } else if (length > 1) {
      json += text.substr(0, length);
    } else if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (c == '\n') {
      json += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == '<' || c == 0x7f) {
      json += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      json += c;
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return json + '"';
}

std::optional<size_t> Packs::add(std::string_view key, std::string_view json) {
  // What deflates well may still come when there is hardly any room left: the pack that is being filled is counted at a
  // tenth.
  if (left_ == 0 || (filling_.size() + json.size()) / 10 > left_) return std::nullopt;
  filling_ += fmt::format("{}{}:", filling_.empty() ? '{' : ',', json_string(key));
  filling_ += json;
  const size_t number = packs_.size();
  if (filling_.size() >= kPackBytes) finish_pack();
  return number;
}

void Packs::finish_pack() {
  if (filling_.empty()) return;
  packs_.push_back(base64(deflated(filling_ + '}')));
  left_ -= std::min(left_, packs_.back().size());
  filling_.clear();
}

}  // namespace hipbench::report
