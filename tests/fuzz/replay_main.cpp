// Runs a fuzz target over every file of the folders given: what once went wrong stays right.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "tests/fuzz/fuzz.hpp"

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  for (int k = 1; k < argc; ++k) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(argv[k], error)) files.push_back(entry.path());
    if (error) fmt::print(stderr, "cannot read the corpus {}: {}\n", argv[k], error.message());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    const hipbench::Result<std::string> content = hipbench::read_file(file);
    if (!content) {
      fmt::print(stderr, "{}\n", content.error().message);
      return 1;
    }
    fmt::print("{}\n", file.filename().string());
    std::fflush(stdout);
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(content->data()), content->size());
  }
  fmt::print("{} inputs\n", files.size());
  return files.empty() ? 1 : 0;
}
