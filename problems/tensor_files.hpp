#pragma once
// A problem's tensors as .npy files, FIELD.npy each, so that people can compare with PyTorch or NumPy. f32 is '<f4',
// f16 is
// '<f2'; bf16 and FP8, which NumPy lacks, travel as their raw bits in '<u2' and '|u1'.

#include <filesystem>

#include "common/result.hpp"
#include "problems/problem.hpp"

namespace hipbench {

// NumPy's type string for an element.
std::string_view npy_type(ElementType type);

// The inputs from `folder`, of exactly the shapes that tensor_shape() gives. Errors name the file, what it holds, what
// it should hold and how to make that.
Result<Buffers> read_input_tensors(const Problem& problem, const Shape& shape, const std::filesystem::path& folder);

// All pointer fields that are not empty, whole tensors: generate()'s result.
Result<void> write_tensors(const Problem& problem, const Shape& shape, const Buffers& tensors,
                           const std::filesystem::path& folder);

// Packed writable ranges, as expected() returns them for all rows. Of a field that is not writable as a whole, the file
// holds the writable ranges alone: (ranges, elements of each).
Result<void> write_packed_outputs(const Problem& problem, const Shape& shape, const Buffers& packed,
                                  const std::filesystem::path& folder);

}  // namespace hipbench
