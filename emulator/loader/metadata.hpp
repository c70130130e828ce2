#pragma once
// The msgpack metadata of a code object (note NT_AMDGPU_METADATA).
// https://llvm.org/docs/AMDGPUUsage.html#code-object-metadata

#include <span>
#include <vector>

#include "common/result.hpp"
#include "emulator/loader/code_object.hpp"

namespace hipbench::emulator {

struct KernelMetadata {
  std::string name;    // ".name"
  std::string symbol;  // ".symbol": the kernel descriptor's
  Kernel kernel;       // what the metadata knows of it
};

Result<std::vector<KernelMetadata>> parse_metadata(std::span<const std::byte> msgpack);

}  // namespace hipbench::emulator
