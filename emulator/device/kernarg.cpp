#include "emulator/device/kernarg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "emulator/memory/address_space.hpp"

namespace hipbench::emulator {

namespace {

// A caller's structure may be padded at its end, to the largest alignment that HIP's vector types and user types have.
constexpr u32 kMostPadding = 256;

bool is_hidden(const KernelArgument& argument) { return argument.value_kind.starts_with("hidden_"); }

// The value of a hidden argument, or nothing when the kind is unknown. The compiler counts grids in whole workgroups
// and HIP launches only whole ones, so the remainders are zero.
std::optional<u64> hidden_value(std::string_view kind, const HiddenValues& values) {
  const Dim3& grid = values.grid;
  const Dim3& block = values.block;
  const u64 dimensions = grid.z * block.z > 1 ? 3 : grid.y * block.y > 1 ? 2 : 1;
  const std::pair<std::string_view, u64> table[] = {
      {"hidden_block_count_x", grid.x},
      {"hidden_block_count_y", grid.y},
      {"hidden_block_count_z", grid.z},
      {"hidden_group_size_x", block.x},
      {"hidden_group_size_y", block.y},
      {"hidden_group_size_z", block.z},
      {"hidden_remainder_x", 0},
      {"hidden_remainder_y", 0},
      {"hidden_remainder_z", 0},
      {"hidden_global_offset_x", 0},
      {"hidden_global_offset_y", 0},
      {"hidden_global_offset_z", 0},
      {"hidden_grid_dims", dimensions},
      {"hidden_none", 0},
      {"hidden_printf_buffer", values.printf_buffer},
      {"hidden_hostcall_buffer", values.hostcall_buffer},
      {"hidden_default_queue", values.queue},
      {"hidden_completion_action", 0},
      {"hidden_multigrid_sync_arg", values.grid_sync},
      {"hidden_heap_v1", values.heap},
      {"hidden_dynamic_lds_size", values.dynamic_lds},
      {"hidden_private_base", kScratchAperture >> 32},
      {"hidden_shared_base", kLdsAperture >> 32},
      {"hidden_queue_ptr", values.queue},
  };
  for (const auto& [name, value] : table)
    if (name == kind) return value;
  return std::nullopt;
}

}  // namespace

u32 explicit_kernarg_size(const Kernel& kernel) {
  u32 end = 0;
  for (const KernelArgument& argument : kernel.arguments)
    if (!is_hidden(argument)) end = std::max(end, argument.offset + argument.size);
  return end;
}

bool has_argument(const Kernel& kernel, std::string_view value_kind) {
  return std::any_of(kernel.arguments.begin(), kernel.arguments.end(),
                     [&](const KernelArgument& argument) { return argument.value_kind == value_kind; });
}

Result<std::vector<std::byte>> build_kernarg_segment(const Kernel& kernel,
                                                     std::span<const std::byte> explicit_arguments,
                                                     const HiddenValues& values) {
  const u32 wanted = explicit_kernarg_size(kernel);
  if (explicit_arguments.size() < wanted || explicit_arguments.size() >= u64{wanted} + kMostPadding)
    return Error{fmt::format("kernel '{}' takes {} bytes of arguments, {} were given", kernel.demangled, wanted,
                             explicit_arguments.size())};
  std::vector<std::byte> segment(std::max(kernel.kernarg_segment_size, kernel.descriptor.kernarg_size));
  if (wanted != 0) std::memcpy(segment.data(), explicit_arguments.data(), wanted);
  for (const KernelArgument& argument : kernel.arguments) {
    if (!is_hidden(argument)) continue;
    const auto value = hidden_value(argument.value_kind, values);
    if (!value)
      return Error{fmt::format("kernel '{}' wants the hidden argument '{}', which this device does not know",
                               kernel.demangled, argument.value_kind)};
    // Offsets were checked against the segment when the code object was parsed; sizes above 8 are left zero at the top.
    std::memcpy(segment.data() + argument.offset, &*value, std::min<u32>(argument.size, sizeof(*value)));
  }
  return segment;
}

}  // namespace hipbench::emulator
