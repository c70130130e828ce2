#include "emulator/loader/code_object.hpp"

#include <fmt/format.h>
#include <llvm/Demangle/Demangle.h>

#include <algorithm>
#include <unordered_map>

#include "emulator/loader/bundle.hpp"
#include "emulator/loader/byte_reader.hpp"
#include "emulator/loader/elf_image.hpp"
#include "emulator/loader/line_table.hpp"
#include "emulator/loader/metadata.hpp"
#include "emulator/memory/address_space.hpp"

namespace hipbench::emulator {

u32 Kernel::allocated_vgprs() const { return ((descriptor.compute_pgm_rsrc1 & 0x3f) + 1) * 8; }
u32 Kernel::accum_offset() const { return ((descriptor.compute_pgm_rsrc3 & 0x3f) + 1) * 4; }

RegisterCounts Kernel::registers() const {
  RegisterCounts counts;
  const u32 all = std::min(allocated_vgprs(), 512u);
  counts.vgprs = std::min({all, accum_offset(), 256u});
  counts.agprs = std::min(all - counts.vgprs, 256u);
  // Granulated as on gfx9: twice the number of further blocks of 16.
  counts.sgprs = std::min(((descriptor.compute_pgm_rsrc1 >> 6 & 0xf) / 2 + 1) * 16, 102u);
  return counts;
}

namespace {

constexpr u64 kDescriptorBytes = 64;
constexpr size_t kLongestDemangled = 2048;  // the demangler recurses on hostile names

std::string demangled(const std::string& name) {
  return name.size() <= kLongestDemangled ? llvm::demangle(name) : name;
}

KernelDescriptor read_descriptor(std::span<const std::byte> bytes) {
  return {.group_segment_fixed_size = *read_at<u32>(bytes, 0),
          .private_segment_fixed_size = *read_at<u32>(bytes, 4),
          .kernarg_size = *read_at<u32>(bytes, 8),
          .kernel_code_entry_byte_offset = *read_at<i64>(bytes, 16),
          .compute_pgm_rsrc1 = *read_at<u32>(bytes, 48),
          .compute_pgm_rsrc2 = *read_at<u32>(bytes, 52),
          .compute_pgm_rsrc3 = *read_at<u32>(bytes, 44),
          .kernel_code_properties = *read_at<u16>(bytes, 56),
          .kernarg_preload = *read_at<u16>(bytes, 58)};
}

class LoadedElf final : public CodeObject {
 public:
  static Result<std::unique_ptr<CodeObject>> create(std::vector<std::byte> elf) {
    std::unique_ptr<LoadedElf> object(new LoadedElf(std::move(elf)));
    object->image_ = TRY(read_elf(object->elf_));
    object->lines_.set_sections(object->image_.debug);
    TRY(object->collect_kernels());
    object->collect_globals();
    for (const ElfSegment& segment : object->image_.segments)
      if (segment.executable) object->code_ranges_.push_back({segment.address, segment.size});
    return std::unique_ptr<CodeObject>(std::move(object));
  }

  std::span<const Kernel> kernels() const override { return kernels_; }
  const Kernel* find_kernel(std::string_view name) const override {
    const auto found = kernel_index_.find(name);
    return found == kernel_index_.end() ? nullptr : &kernels_[found->second];
  }
  std::span<const GlobalSymbol> globals() const override { return globals_; }
  std::span<const std::byte> elf() const override { return elf_; }
  u32 version() const override { return image_.version; }
  u64 load_size() const override { return image_.load_size; }
  std::span<const CodeRange> code_ranges() const override { return code_ranges_; }
  std::optional<SourceLocation> source_location(u64 offset) const override;
  Result<u64> load(AddressSpace& space) const override;

 private:
  explicit LoadedElf(std::vector<std::byte> elf) : elf_(std::move(elf)) {}
  Result<void> collect_kernels();
  void collect_globals();
  bool is_code(u64 address) const {
    return std::any_of(image_.segments.begin(), image_.segments.end(), [&](const ElfSegment& segment) {
      return segment.executable && address - segment.address < segment.size;
    });
  }

  std::vector<std::byte> elf_;
  ElfImage image_;
  LineTable lines_;
  std::vector<Kernel> kernels_;
  std::unordered_map<std::string_view, size_t> kernel_index_;
  std::vector<GlobalSymbol> globals_;
  std::vector<CodeRange> code_ranges_;
};

Result<void> LoadedElf::collect_kernels() {
  std::unordered_map<std::string_view, const ElfSymbol*> symbols;
  for (const ElfSymbol& symbol : image_.symbols) symbols.emplace(symbol.name, &symbol);
  for (KernelMetadata& metadata : TRY(parse_metadata(image_.metadata))) {
    const auto symbol = symbols.find(metadata.symbol);
    if (symbol == symbols.end() || !metadata.symbol.ends_with(".kd"))
      return Error{
          fmt::format("code object: kernel '{}' has no descriptor symbol '{}'", metadata.name, metadata.symbol)};
    Kernel& kernel = metadata.kernel;
    kernel.name = metadata.symbol.substr(0, metadata.symbol.size() - 3);
    kernel.demangled = demangled(kernel.name);
    kernel.descriptor_offset = symbol->second->address;
    const auto bytes = image_.content_at(kernel.descriptor_offset, kDescriptorBytes);
    if (!bytes) return Error{fmt::format("code object: the descriptor of kernel '{}' is not in the file", kernel.name)};
    kernel.descriptor = read_descriptor(*bytes);
    kernel.entry_offset = kernel.descriptor_offset + static_cast<u64>(kernel.descriptor.kernel_code_entry_byte_offset);
    if (!is_code(kernel.entry_offset) || kernel.entry_offset % 256 != 0)
      return Error{fmt::format("code object: kernel '{}' starts at {:#x}, which is not aligned code", kernel.name,
                               kernel.entry_offset)};
    kernels_.push_back(std::move(kernel));
  }
  for (size_t i = 0; i < kernels_.size(); ++i) kernel_index_.emplace(kernels_[i].name, i);
  return {};
}

void LoadedElf::collect_globals() {
  for (const ElfSymbol& symbol : image_.symbols)
    if (symbol.is_object && !symbol.name.ends_with(".kd"))
      globals_.push_back({symbol.name, symbol.address, symbol.size});
}

std::optional<SourceLocation> LoadedElf::source_location(u64 offset) const {
  const auto line = lines_.find(offset);
  if (!line) return std::nullopt;
  SourceLocation location{.file = std::string(line->file), .line = line->line, .function = {}};
  for (const ElfSymbol& symbol : image_.symbols)
    if (symbol.is_function && offset - symbol.address < symbol.size) {
      location.function = demangled(symbol.name);
      break;
    }
  return location;
}

Result<u64> LoadedElf::load(AddressSpace& space) const {
  std::vector<AddressSpace::Segment> parts;
  for (const ElfSegment& segment : image_.segments)
    parts.push_back({segment.address, segment.size, segment.writable,
                     segment.executable ? "code"
                     : segment.writable ? "module variables"
                                        : "module constants",
                     segment.executable});
  // The compiler may widen a load of 12 aligned bytes to 16: a segment ends on a 16-byte boundary where there is room.
  for (size_t i = 0; i < parts.size(); ++i) {
    const u64 end = (parts[i].offset + parts[i].size + 15) / 16 * 16;
    if (i + 1 == parts.size() || end <= parts[i + 1].offset) parts[i].size = end - parts[i].offset;
  }
  const u64 base = TRY(space.allocate_group(parts));
  const auto fill = [&]() -> Result<void> {
    for (const ElfSegment& segment : image_.segments) {
      if (segment.content.empty()) continue;
      std::byte* host = TRY(space.host_range(base + segment.address, segment.content.size()));
      std::memcpy(host, segment.content.data(), segment.content.size());
    }
    for (const ElfRelocation& relocation : image_.relocations) {
      using Field = ElfRelocation::Field;
      u64 value = static_cast<u64>(relocation.value) + (relocation.add_base ? base : 0);
      if (relocation.subtract_place) value -= base + relocation.address;
      if (relocation.field == Field::High32) value >>= 32;
      const u64 width = relocation.field == Field::Word64 ? 8 : 4;
      std::memcpy(TRY(space.host_range(base + relocation.address, width)), &value, width);
    }
    return {};
  };
  const Result<void> filled = fill();
  if (!filled) {
    TRY(space.free(base));
    return filled.error();
  }
  return base;
}

}  // namespace

Result<std::unique_ptr<CodeObject>> CodeObject::parse(std::span<const std::byte> bytes) {
  return LoadedElf::create(TRY(extract_code_object(bytes)));
}

}  // namespace hipbench::emulator
