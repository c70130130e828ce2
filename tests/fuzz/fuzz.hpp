#pragma once
// What the fuzz targets share. Each target is one function of libFuzzer's interface; the same file is linked with
// libFuzzer (preset fuzz) and with replay_main.cpp, which runs it over the stored corpus in every test run.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "common/files.hpp"
#include "common/result.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace hipbench::fuzz {

// Takes an input apart from its front; yields zeros once it is used up.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : rest_(data, size) {}

  bool empty() const { return rest_.empty(); }
  template <typename T>
  T take() {
    T value{};
    const std::span<const uint8_t> part = take(sizeof value);
    if (!part.empty()) std::memcpy(&value, part.data(), part.size());
    return value;
  }
  std::span<const uint8_t> take(size_t size) {
    const std::span<const uint8_t> part = rest_.first(std::min(size, rest_.size()));
    rest_ = rest_.subspan(part.size());
    return part;
  }
  std::span<const uint8_t> take_rest() { return take(rest_.size()); }

 private:
  std::span<const uint8_t> rest_;
};

// A file that hipbench_device_code compiled. Without it nothing can be tested: ends the program.
inline std::string device_code(const std::string& name) {
  Result<std::string> content = read_file(std::string(HIPBENCH_BINARY_DIR "/tests/data/") + name);
  if (!content) __builtin_trap();
  return std::move(*content);
}

}  // namespace hipbench::fuzz
