#pragma once
// An AMDGPU ELF code object, read and checked: segments, symbols, relocations, the metadata note.
// https://llvm.org/docs/AMDGPUUsage.html#elf-code-object

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/result.hpp"
#include "emulator/isa/types.hpp"
#include "emulator/loader/line_table.hpp"

namespace hipbench::emulator {

struct ElfSegment {
  u64 address = 0;                     // load-relative
  std::span<const std::byte> content;  // from the file; the rest up to size is zero
  u64 size = 0;
  bool writable = false, executable = false;
};

struct ElfSymbol {
  std::string name;
  u64 address = 0, size = 0;
  bool is_object = false, is_function = false;
};

// A dynamic relocation, resolved as far as it can be without the load base.
struct ElfRelocation {
  enum class Field { Low32, High32, Word64 } field = Field::Word64;
  u64 address = 0;        // of the field, load-relative
  i64 value = 0;          // symbol + addend
  bool add_base = false;  // the value is an address of this image
  bool subtract_place = false;
};

struct ElfImage {
  u32 version = 0;                   // code object version
  std::vector<ElfSegment> segments;  // ascending, disjoint
  u64 load_size = 0;
  std::vector<ElfSymbol> symbols;  // defined ones, each once
  std::vector<ElfRelocation> relocations;
  std::span<const std::byte> metadata;  // msgpack
  DebugSections debug;                  // empty where there is none

  // File content at [address, address + size) of one segment; nothing where it is not backed by the file.
  std::optional<std::span<const std::byte>> content_at(u64 address, u64 size) const;
};

// `elf` must outlive the image.
Result<ElfImage> read_elf(std::span<const std::byte> elf);

}  // namespace hipbench::emulator
