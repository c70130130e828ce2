#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "common/result.hpp"

namespace hipbench {

// The whole file. Errors name the path and the reason.
Result<std::string> read_file(const std::filesystem::path& path);

// Writes beside the target and renames, so that a reader never sees half a file.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view content);

// A fresh private directory (mode 0700) that is removed with everything in it when the object goes.
class TemporaryDirectory {
 public:
  static Result<TemporaryDirectory> create(std::string_view prefix);
  TemporaryDirectory(TemporaryDirectory&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  ~TemporaryDirectory();
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

// SHA-256 of the bytes in lower-case hex (64 characters): content identity of sources, toolchains and caches.
std::string sha256_hex(std::string_view bytes);

// The folder of the running executable: where our other programs and lib/ lie beside it.
std::filesystem::path executable_directory();

}  // namespace hipbench
