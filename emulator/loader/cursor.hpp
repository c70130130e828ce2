#pragma once
// Reads bytes of an untrusted file one value after the other, as DWARF is written.

#include <algorithm>
#include <span>
#include <string_view>

#include "emulator/loader/byte_reader.hpp"

namespace hipbench::emulator {

// Reads forward; past the end everything is zero and ok() is false.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) : bytes_(bytes) {}
  bool ok() const { return ok_; }
  bool at_end() const { return !ok_ || at_ >= bytes_.size(); }
  size_t position() const { return at_; }
  void fail() { ok_ = false; }

  template <typename T>
  T read() {
    const auto value = read_at<T>(bytes_, at_);
    if (!value) {
      ok_ = false;
      return T{};
    }
    at_ += sizeof(T);
    return *value;
  }
  u64 read_offset(bool wide) { return wide ? read<u64>() : read<u32>(); }
  u64 uleb() {
    u64 value = 0;
    for (u32 shift = 0; ok_; shift += 7) {
      const u8 byte = read<u8>();
      if (shift < 64) value |= u64{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) break;
    }
    return value;
  }
  i64 sleb() {
    u64 value = 0;
    u32 shift = 0;
    u8 byte = 0x80;
    while (ok_ && (byte & 0x80) != 0) {
      byte = read<u8>();
      if (shift < 64) value |= u64{byte & 0x7fu} << shift;
      shift += 7;
    }
    if (shift < 64 && (byte & 0x40) != 0) value |= ~u64{0} << shift;
    return static_cast<i64>(value);
  }
  std::string_view text() {
    const std::string_view rest = as_text(bytes_).substr(std::min(at_, bytes_.size()));
    const size_t end = rest.find('\0');
    if (end == std::string_view::npos) {
      ok_ = false;
      return {};
    }
    at_ += end + 1;
    return rest.substr(0, end);
  }
  std::span<const std::byte> take(u64 size) {
    const auto part = slice(bytes_, at_, size);
    if (!part) {
      ok_ = false;
      return {};
    }
    at_ += size;
    return *part;
  }

 private:
  std::span<const std::byte> bytes_;
  size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace hipbench::emulator
