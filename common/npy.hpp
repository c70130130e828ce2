#pragma once
// Tensors in NumPy's .npy files (numpy.lib.format, versions 1.0 to 3.0), little-endian, bool and number types. Files in
// Fortran order (numpy.save(x.T)) are read too; NpyTensor is always in C order.
// FP8 and bf16, which NumPy lacks, travel as their raw bits in u1 and u2.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hpp"

namespace hipbench {

struct NpyTensor {
  std::string type;            // NumPy's type string: "<f4", "<u2", "|u1"
  std::vector<int64_t> shape;  // outermost first; empty = a scalar
  std::vector<std::byte> data;

  std::string shape_text() const;  // "(64, 128)", as NumPy prints it
};

// Errors name the file and what is wrong with it: another kind of file, a type without fixed size, data that is shorter
// or longer than the header says.
Result<NpyTensor> read_npy(const std::filesystem::path& path);

// A file of version 1.0, written as a whole or not at all.
Result<void> write_npy(const std::filesystem::path& path, std::string_view type, std::span<const int64_t> shape,
                       std::span<const std::byte> data);

std::string npy_shape_text(std::span<const int64_t> shape);

}  // namespace hipbench
