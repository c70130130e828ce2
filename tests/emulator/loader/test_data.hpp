#pragma once
#include <gtest/gtest.h>

#include <span>
#include <string>

#include "common/files.hpp"

namespace hipbench::emulator {

// What hipbench_device_code compiled.
inline std::string test_data(std::string_view name) {
  auto content = read_file(std::string(HIPBENCH_BINARY_DIR "/tests/data/") + std::string(name));
  EXPECT_TRUE(content) << (content ? "" : content.error().message);
  return content ? *content : "";
}

inline std::span<const std::byte> as_bytes(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace hipbench::emulator
