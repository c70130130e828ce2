#include "problems/tensor_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/npy.hpp"

namespace hipbench {

namespace {

std::filesystem::path file_of(const std::filesystem::path& folder, const PointerField& field) {
  return folder / (field.name + ".npy");
}

std::string how_to_make(ElementType type) {
  switch (type) {
    case ElementType::E4m3Fnuz:
      return "'|u1', the raw bits of e4m3fnuz; in PyTorch x.view(torch.uint8).numpy()";
    case ElementType::Bf16:
      return "'<u2', the raw bits of bf16; in PyTorch x.view(torch.uint16).numpy()";
    case ElementType::F16:
      return "'<f2' (or its raw bits as '<u2'); in PyTorch x.half().numpy()";
    case ElementType::F32:
      return "'<f4'; in PyTorch x.float().numpy()";
  }
  return "";
}

bool is_type(std::string_view npy, ElementType type) {
  return npy == npy_type(type) || (type == ElementType::F16 && npy == "<u2");
}

// What to put right, where the two shapes show it.
std::string shape_hint(const std::vector<int64_t>& got, const std::vector<int64_t>& wanted) {
  if (got.size() == 2 && wanted.size() == 2 && got[0] == wanted[1] && got[1] == wanted[0])
    return "; it is transposed: save numpy.ascontiguousarray(x.T)";
  return "";
}

Result<std::vector<std::byte>> read_tensor(const Problem& problem, const Shape& shape, size_t pointer,
                                           const std::filesystem::path& folder) {
  const PointerField& field = problem.pointer_fields()[pointer];
  const std::filesystem::path file = file_of(folder, field);
  NpyTensor tensor = TRY(read_npy(file));
  if (!is_type(tensor.type, field.type)) {
    return Error{fmt::format("{} holds '{}', but '{}' must be {}", file.string(), tensor.type, field.name,
                             how_to_make(field.type))};
  }
  const std::vector<int64_t> wanted = problem.tensor_shape(shape, pointer);
  if (tensor.shape != wanted) {
    return Error{fmt::format("{} has the shape {}, but for {} '{}' must have {}{}", file.string(), tensor.shape_text(),
                             shape.label, field.name, npy_shape_text(wanted), shape_hint(tensor.shape, wanted))};
  }
  return std::move(tensor.data);
}

Result<void> make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Error{fmt::format("cannot make the folder {}: {}", folder.string(), error.message())};
  return {};
}

}  // namespace

std::string_view npy_type(ElementType type) {
  switch (type) {
    case ElementType::E4m3Fnuz: return "|u1";
    case ElementType::Bf16: return "<u2";
    case ElementType::F16: return "<f2";
    case ElementType::F32: return "<f4";
  }
  return "";
}

Result<Buffers> read_input_tensors(const Problem& problem, const Shape& shape, const std::filesystem::path& folder) {
  const std::span<const PointerField> fields = problem.pointer_fields();
  std::vector<std::string> missing;
  std::error_code error;
  for (const PointerField& field : fields)
    if (field.access != Access::Out && !std::filesystem::exists(file_of(folder, field), error))
      missing.push_back(field.name + ".npy");
  if (!missing.empty())
    return Error{fmt::format("{} lacks {}; each input of {} is one file there", folder.string(),
                             fmt::join(missing, ", "), problem.id())};
  Buffers inputs(fields.size());
  for (size_t k = 0; k < fields.size(); ++k)
    if (fields[k].access != Access::Out) inputs[k] = TRY(read_tensor(problem, shape, k, folder));
  return inputs;
}

Result<void> write_tensors(const Problem& problem, const Shape& shape, const Buffers& tensors,
                           const std::filesystem::path& folder) {
  TRY(make_folder(folder));
  const std::span<const PointerField> fields = problem.pointer_fields();
  for (size_t k = 0; k < fields.size(); ++k)
    if (!tensors[k].empty())
      TRY(write_npy(file_of(folder, fields[k]), npy_type(fields[k].type), problem.tensor_shape(shape, k), tensors[k]));
  return {};
}

Result<void> write_packed_outputs(const Problem& problem, const Shape& shape, const Buffers& packed,
                                  const std::filesystem::path& folder) {
  TRY(make_folder(folder));
  const std::span<const PointerField> fields = problem.pointer_fields();
  for (size_t k = 0; k < fields.size(); ++k) {
    if (fields[k].access == Access::In) continue;
    std::vector<int64_t> extents = problem.tensor_shape(shape, k);
    const StridedRange range = problem.writable(shape, k);
    if (range.total_bytes() != problem.byte_count(shape, k)) {
      extents = {static_cast<int64_t>(range.rows),
                 static_cast<int64_t>(range.row_bytes / element_size(fields[k].type))};
    }
    TRY(write_npy(file_of(folder, fields[k]), npy_type(fields[k].type), extents, packed[k]));
  }
  return {};
}

}  // namespace hipbench
