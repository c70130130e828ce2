#include "evaluator/inspect.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "emulator/loader/code_object.hpp"

namespace hipbench {

namespace {

// The sections of a shared object that matter here. Everything is bounds-checked: the compiler's product is not
// trusted, since the candidate can put anything into it.
class SharedObject {
 public:
  explicit SharedObject(const std::string& bytes) : bytes_(bytes) {}

  template <typename T>
  std::optional<T> at(uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  std::string_view range(uint64_t offset, uint64_t size) const {
    if (offset > bytes_.size() || bytes_.size() - offset < size) return {};
    return std::string_view(bytes_).substr(offset, size);
  }
  std::optional<Elf64_Shdr> section(std::string_view name) const {
    const auto header = at<Elf64_Ehdr>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
    const auto names = at<Elf64_Shdr>(header->e_shoff + uint64_t{header->e_shstrndx} * sizeof(Elf64_Shdr));
    if (!names) return std::nullopt;
    for (uint64_t k = 0; k < header->e_shnum; ++k) {
      const auto candidate = at<Elf64_Shdr>(header->e_shoff + k * sizeof(Elf64_Shdr));
      if (!candidate) return std::nullopt;
      if (string_at(names->sh_offset + candidate->sh_name) == name) return candidate;
    }
    return std::nullopt;
  }
  std::string_view string_at(uint64_t offset) const {
    if (offset >= bytes_.size()) return {};
    const std::string_view rest = std::string_view(bytes_).substr(offset);
    return rest.substr(0, rest.find('\0'));
  }
  // DT_NEEDED names.
  std::vector<std::string> needed() const {
    std::vector<std::string> names;
    const auto dynamic = section(".dynamic"), strings = section(".dynstr");
    if (!dynamic || !strings) return names;
    for (uint64_t at_offset = 0; at_offset + sizeof(Elf64_Dyn) <= dynamic->sh_size; at_offset += sizeof(Elf64_Dyn)) {
      const auto entry = at<Elf64_Dyn>(dynamic->sh_offset + at_offset);
      if (!entry || entry->d_tag == DT_NULL) break;
      if (entry->d_tag == DT_NEEDED) names.emplace_back(string_at(strings->sh_offset + entry->d_un.d_val));
    }
    return names;
  }

 private:
  const std::string& bytes_;
};

constexpr std::string_view kAllowedLibraries[] = {
    "libamdhip64.so.6", "libc.so.6",     "libm.so.6",      "libstdc++.so.6",
    "libgcc_s.so.1",    "libpthread.so.0", "libdl.so.2",   "ld-linux-x86-64.so.2",
};

std::optional<Verdict> check_libraries(const SharedObject& object) {
  for (const std::string& library : object.needed())
    if (std::find(std::begin(kAllowedLibraries), std::end(kAllowedLibraries), library) == std::end(kAllowedLibraries))
      return Verdict{VerdictKind::Rejected,
                     fmt::format("rule `libraries`: the candidate links {}; only the HIP runtime and the C and C++ "
                                 "libraries may be linked",
                                 library),
                     {}};
  return std::nullopt;
}

KernelResources resources_of(const emulator::Kernel& kernel) {
  KernelResources resources;
  resources.name = kernel.demangled.empty() ? kernel.name : kernel.demangled;
  resources.vgprs = kernel.vgpr_count;
  resources.agprs = kernel.agpr_count;
  resources.sgprs = kernel.sgpr_count;
  resources.vgpr_spills = kernel.vgpr_spill_count;
  resources.sgpr_spills = kernel.sgpr_spill_count;
  resources.lds_bytes = kernel.descriptor.group_segment_fixed_size;
  resources.scratch_bytes = kernel.descriptor.private_segment_fixed_size;
  return resources;
}

}  // namespace

bool may_use_eight_bit_math(const Problem& problem) {
  const auto fields = problem.pointer_fields();
  return std::any_of(fields.begin(), fields.end(),
                     [](const PointerField& field) { return field.type == ElementType::E4m3Fnuz; });
}

std::string_view device_code(const Compiled& compiled, Track track) {
  if (track == Track::Kernel) return compiled.code;
  const SharedObject object(compiled.code);
  const auto section = object.section(".hip_fatbin");
  return section ? object.range(section->sh_offset, section->sh_size) : std::string_view();
}

std::optional<Verdict> check_instructions(const Problem& problem,
                                          std::span<const emulator::InstructionUse> instructions) {
  if (may_use_eight_bit_math(problem)) return std::nullopt;
  for (const emulator::InstructionUse& use : instructions)
    if (emulator::is_eight_bit_math(use.mnemonic))
      return Verdict{
          VerdictKind::Rejected,
          fmt::format("rule `precision`: the code holds {}, but {} is stated in 16-bit types: compute with the types "
                      "that the problem "
                      "states",
                      use.mnemonic, problem.id()),
          fmt::format("first at code offset {:#x}{}{}", use.offset, use.source.empty() ? "" : ", ", use.source)};
  return std::nullopt;
}

std::variant<std::vector<KernelResources>, Verdict> inspect(const Compiled& compiled, Track track) {
  const std::string_view code = device_code(compiled, track);
  if (track == Track::Host) {
    if (std::optional<Verdict> rejected = check_libraries(SharedObject(compiled.code))) return std::move(*rejected);
    if (code.empty())
      return Verdict{VerdictKind::Rejected,
                     "rule `device code`: the candidate has no __global__ function; a kernel must do the work",
                     {}};
  }
  const auto parsed = emulator::CodeObject::parse(std::as_bytes(std::span(code)));
  if (!parsed) return Verdict{VerdictKind::Rejected, "rule `code object`: " + parsed.error().message, {}};
  std::vector<KernelResources> kernels;
  for (const emulator::Kernel& kernel : (*parsed)->kernels()) {
    kernels.push_back(resources_of(kernel));
    if (kernels.back().lds_bytes > kMaxLdsBytes)
      return Verdict{VerdictKind::Rejected,
                     fmt::format("rule `LDS`: {} declares {} bytes of LDS, a workgroup has {}", kernels.back().name,
                                 kernels.back().lds_bytes, kMaxLdsBytes),
                     {}};
  }
  return kernels;
}

}  // namespace hipbench
