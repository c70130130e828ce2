#pragma once
// Checked little-endian reads from bytes that nobody vouches for.

#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "emulator/isa/types.hpp"

namespace hipbench::emulator {

// The part [offset, offset + size) of bytes, or nothing when it does not lie inside.
inline std::optional<std::span<const std::byte>> slice(std::span<const std::byte> bytes, u64 offset, u64 size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return std::nullopt;
  return bytes.subspan(offset, size);
}

template <typename T>
std::optional<T> read_at(std::span<const std::byte> bytes, u64 offset) {
  const auto part = slice(bytes, offset, sizeof(T));
  if (!part) return std::nullopt;
  T value;
  std::memcpy(&value, part->data(), sizeof(T));
  return value;
}

inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace hipbench::emulator
