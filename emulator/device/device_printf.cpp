#include "emulator/device/device_printf.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace hipbench::emulator {

namespace {

constexpr int kWidest = 4096;

std::string_view text_of(std::span<const u64> words) {
  const std::string_view bytes(reinterpret_cast<const char*>(words.data()), words.size_bytes());
  return bytes.substr(0, std::min(bytes.find('\0'), bytes.size()));
}

size_t words_of(std::string_view text) { return (text.size() + 1 + 7) / 8; }

// One conversion: %[flags][width][.precision][length]letter.
struct Conversion {
  std::string flags;
  std::optional<int> width, precision;
  std::string length;
  char letter = 0;  // 0 = malformed
};

class Formatter {
 public:
  explicit Formatter(std::span<const u64> words) {
    format_ = text_of(words);
    arguments_ = words.subspan(std::min(words.size(), words_of(format_)));
  }

  std::string run() {
    while (at_ < format_.size()) {
      const size_t percent = std::min(format_.find('%', at_), format_.size());
      out_ += format_.substr(at_, percent - at_);
      at_ = percent;
      if (at_ < format_.size()) convert();
    }
    return std::move(out_);
  }

 private:
  bool next_is(char c) const { return at_ < format_.size() && format_[at_] == c; }

  u64 take() {
    if (arguments_.empty()) return 0;
    const u64 word = arguments_.front();
    arguments_ = arguments_.subspan(1);
    return word;
  }

  std::optional<int> number() {
    if (next_is('*')) {
      ++at_;
      return std::clamp(static_cast<int>(take()), -kWidest, kWidest);
    }
    std::optional<int> value;
    for (; at_ < format_.size() && format_[at_] >= '0' && format_[at_] <= '9'; ++at_)
      value = std::min(value.value_or(0) * 10 + (format_[at_] - '0'), kWidest);
    return value;
  }

  Conversion parse() {
    Conversion conversion;
    ++at_;  // the percent sign
    for (; at_ < format_.size() && std::strchr("-+ #0", format_[at_]) != nullptr; ++at_)
      conversion.flags += format_[at_];
    conversion.width = number();
    if (next_is('.')) {
      ++at_;
      conversion.precision = number().value_or(0);
    }
    for (; at_ < format_.size() && std::strchr("hlqjztL", format_[at_]) != nullptr; ++at_)
      conversion.length += format_[at_];
    if (at_ < format_.size()) conversion.letter = format_[at_++];
    return conversion;
  }

  void convert() {
    const size_t start = at_;
    const Conversion conversion = parse();
    if (conversion.letter == '%') {
      out_ += '%';
      return;
    }
    if (conversion.letter == 0 || std::strchr("diouxXcfFeEgGaAspn", conversion.letter) == nullptr) {
      out_ += format_.substr(start, at_ - start);  // not a conversion: as it stands
      return;
    }
    if (arguments_.empty()) return;
    switch (conversion.letter) {
      case 'n':
        take();
        break;
      case 's':
        string(conversion);
        break;
      case 'p':
        print(conversion, "", reinterpret_cast<void*>(take()));
        break;
      case 'c':
        print(conversion, "", static_cast<int>(take()));
        break;
      case 'd':
      case 'i':
        integer<signed char, short, int, long long>(conversion);
        break;
      case 'o':
      case 'u':
      case 'x':
      case 'X':
        integer<unsigned char, unsigned short, unsigned, unsigned long long>(conversion);
        break;
      default:
        print(conversion, "", std::bit_cast<double>(take()));
        break;
    }
  }

  template <typename Char, typename Short, typename Int, typename Long>
  void integer(const Conversion& conversion) {
    const u64 word = take();
    if (conversion.length == "hh") return print(conversion, "hh", static_cast<Int>(static_cast<Char>(word)));
    if (conversion.length == "h") return print(conversion, "h", static_cast<Int>(static_cast<Short>(word)));
    if (conversion.length.empty()) return print(conversion, "", static_cast<Int>(word));
    print(conversion, "ll", static_cast<Long>(word));
  }

  void string(const Conversion& conversion) {
    const std::string text(text_of(arguments_));
    arguments_ = arguments_.subspan(std::min(arguments_.size(), words_of(text)));
    if (!conversion.width && !conversion.precision)
      out_ += text;
    else
      print(conversion, "", text.c_str());
  }

  template <typename T>
  void print(const Conversion& conversion, const char* length, T value) {
    std::string spec = "%" + conversion.flags;
    if (conversion.width && *conversion.width < 0) spec += '-';
    if (conversion.width) spec += std::to_string(std::abs(*conversion.width));
    if (conversion.precision && *conversion.precision >= 0) spec += '.' + std::to_string(*conversion.precision);
    spec += length;
    spec += conversion.letter;
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-nonliteral"
    // The specification was rebuilt from checked parts and matches the type of the value.
    const int size = std::snprintf(nullptr, 0, spec.c_str(), value);
    if (size <= 0) return;
    std::vector<char> text(static_cast<size_t>(size) + 1);
    std::snprintf(text.data(), text.size(), spec.c_str(), value);
#pragma clang diagnostic pop
    out_.append(text.data(), static_cast<size_t>(size));
  }

  std::string_view format_;
  std::span<const u64> arguments_;
  size_t at_ = 0;
  std::string out_;
};

}  // namespace

std::string format_device_printf(std::span<const u64> words) { return Formatter(words).run(); }

}  // namespace hipbench::emulator
