#pragma once
// From the bytes that clang, hipRTC or a fat binary hold to kernels that can be launched: offload bundles (plain and
// compressed CCOB), AMDGPU ELF code objects v4 to v6, kernel descriptors, msgpack metadata, relocations.
// Input is hostile: every offset is checked, and what is malformed is an Error that says what and where.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hpp"
#include "emulator/isa/code_rules.hpp"
#include "emulator/isa/types.hpp"

namespace hipbench::emulator {

class AddressSpace;

struct KernelArgument {
  std::string name;        // as in the source, may be empty
  std::string value_kind;  // the metadata's word: "by_value", "global_buffer", "hidden_block_count_x", …
  u32 offset = 0;          // bytes from the start of the kernarg segment
  u32 size = 0;
  std::string type_name;  // may be empty
};

// https://llvm.org/docs/AMDGPUUsage.html#kernel-descriptor, fields as encoded for gfx942.
struct KernelDescriptor {
  u32 group_segment_fixed_size = 0;    // static LDS bytes
  u32 private_segment_fixed_size = 0;  // scratch bytes a lane
  u32 kernarg_size = 0;
  i64 kernel_code_entry_byte_offset = 0;
  u32 compute_pgm_rsrc1 = 0, compute_pgm_rsrc2 = 0, compute_pgm_rsrc3 = 0;
  u16 kernel_code_properties = 0;
  u16 kernarg_preload = 0;
};

struct Kernel {
  std::string name;           // symbol without ".kd"
  std::string demangled;      // for people
  u64 descriptor_offset = 0;  // virtual addresses relative to the load base
  u64 entry_offset = 0;
  KernelDescriptor descriptor;
  std::vector<KernelArgument> arguments;  // explicit, then hidden, in metadata order
  u32 kernarg_segment_size = 0, kernarg_segment_align = 8;
  u32 max_flat_workgroup_size = 1024;
  u32 required_workgroup_size[3] = {0, 0, 0};  // 0 = none required
  u32 vgpr_count = 0, agpr_count = 0, sgpr_count = 0, vgpr_spill_count = 0, sgpr_spill_count = 0;
  bool uses_dynamic_stack = false;
  // VGPRs a lane as allocated on gfx942: (granulated count + 1) * 8 of the unified file; AGPR 0 is at accum_offset.
  u32 allocated_vgprs() const;
  u32 accum_offset() const;
  // The registers that its waves have, of each kind.
  RegisterCounts registers() const;
};

struct GlobalSymbol {
  std::string name;
  u64 offset = 0, size = 0;
};

struct SourceLocation {
  std::string file;      // as the compiler wrote it
  u32 line = 0;          // 0 = unknown
  std::string function;  // the enclosing function of the code, demangled (not an inlined one); may be empty
};

// One parsed code object, not yet in device memory.
class CodeObject {
 public:
  // Accepts a raw ELF, an offload bundle or a compressed bundle; picks the gfx942 entry (sramecc on, xnack off, or
  // any). `bytes` are copied.
  static Result<std::unique_ptr<CodeObject>> parse(std::span<const std::byte> bytes);
  virtual ~CodeObject() = default;

  virtual std::span<const Kernel> kernels() const = 0;
  virtual const Kernel* find_kernel(std::string_view name) const = 0;
  virtual std::span<const GlobalSymbol> globals()
      const = 0;  // device variables, __constant__ and managed ones included
  virtual std::span<const std::byte> elf() const = 0;
  virtual u32 version() const = 0;  // code object version: 4, 5 or 6
  virtual u64 load_size() const = 0;
  struct CodeRange {
    u64 offset, size;  // executable segments relative to the load base
  };
  virtual std::span<const CodeRange> code_ranges() const = 0;
  // Line of the source for a load-relative code address, from DWARF line tables (-gline-tables-only or -g).
  virtual std::optional<SourceLocation> source_location(u64 offset) const = 0;

  // Copies the segments into device memory and relocates them; returns the load base, where `AddressSpace::free` ends
  // the instance. May be called again for a fresh, independent one (device variables back at their initial values).
  virtual Result<u64> load(AddressSpace& space) const = 0;
};

// The size in bytes of the offload bundle, compressed bundle or ELF that starts at `data`, as __hipRegisterFatBinary
// and hipModuleLoadData are handed them (no length given), read from its own headers. In the library
// hb_emulator_bundle, which needs no LLVM.
Result<u64> bundle_size(const void* data);

}  // namespace hipbench::emulator
