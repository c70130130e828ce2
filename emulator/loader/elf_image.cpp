#include "emulator/loader/elf_image.hpp"

#include <fmt/format.h>
#include <llvm/BinaryFormat/ELF.h>
#include <llvm/Object/ELF.h>

#include <algorithm>
#include <unordered_set>

#include "emulator/loader/byte_reader.hpp"

namespace hipbench::emulator {

namespace {

namespace elf = llvm::ELF;
using File = llvm::object::ELFFile<llvm::object::ELF64LE>;

constexpr u64 kMostLoadBytes = u64{64} << 30;
constexpr u32 kMachGfx9_4Generic = 0x5f;  // EF_AMDGPU_MACH_AMDGCN_GFX9_4_GENERIC, newer than LLVM 19

template <typename T>
Result<T> from_llvm(llvm::Expected<T> expected) {
  if (!expected) return Error{"code object: " + llvm::toString(expected.takeError())};
  return std::move(*expected);
}

Result<u32> check_header(const File::Elf_Ehdr& header) {
  if (header.e_machine != elf::EM_AMDGPU)
    return Error{fmt::format("code object: ELF machine {}, not AMDGPU", u32{header.e_machine})};
  if (header.e_type != elf::ET_DYN)
    return Error{"code object: not a linked shared object (relocatable -fgpu-rdc code must be linked first)"};
  if (header.e_ident[elf::EI_OSABI] != elf::ELFOSABI_AMDGPU_HSA)
    return Error{"code object: not for the HSA runtime (OS ABI)"};
  const u32 version = header.e_ident[elf::EI_ABIVERSION] + 2u;
  if (version < 4 || version > 6)
    return Error{
        fmt::format("code object version {}; versions 4 to 6 are supported (-mcode-object-version=5)", version)};
  const u32 flags = header.e_flags, machine = flags & elf::EF_AMDGPU_MACH;
  if (machine != elf::EF_AMDGPU_MACH_AMDGCN_GFX942 && machine != kMachGfx9_4Generic)
    return Error{
        fmt::format("code object for another processor (EF_AMDGPU_MACH {:#x}); gfx942 (0x4c) is needed", machine)};
  if ((flags & elf::EF_AMDGPU_FEATURE_XNACK_V4) == elf::EF_AMDGPU_FEATURE_XNACK_ON_V4)
    return Error{"code object compiled with xnack+, which this device has off"};
  if ((flags & elf::EF_AMDGPU_FEATURE_SRAMECC_V4) == elf::EF_AMDGPU_FEATURE_SRAMECC_OFF_V4)
    return Error{"code object compiled with sramecc-, which this device has on"};
  return version;
}

Result<void> read_segments(const File& file, std::span<const std::byte> bytes, ElfImage& image) {
  for (const auto& header : TRY(from_llvm(file.program_headers()))) {
    if (header.p_type != elf::PT_LOAD || header.p_memsz == 0) continue;
    const u64 address = header.p_vaddr, size = header.p_memsz;
    const auto content = slice(bytes, header.p_offset, header.p_filesz);
    if (!content || header.p_filesz > size)
      return Error{fmt::format("code object: the segment at {:#x} lies outside the file", address)};
    if (address > kMostLoadBytes || size > kMostLoadBytes - address)
      return Error{fmt::format("code object: the segment at {:#x} of {} bytes is too large", address, size)};
    if (address < image.load_size)
      return Error{fmt::format("code object: the segment at {:#x} overlaps the one before", address)};
    // Code that rewrites itself could become anything after it was inspected; compilers make no such segment.
    if ((header.p_flags & elf::PF_W) != 0 && (header.p_flags & elf::PF_X) != 0)
      return Error{fmt::format("code object: the segment at {:#x} is both writable and executable", address)};
    image.segments.push_back({.address = address,
                              .content = *content,
                              .size = size,
                              .writable = (header.p_flags & elf::PF_W) != 0,
                              .executable = (header.p_flags & elf::PF_X) != 0});
    image.load_size = address + size;
  }
  if (image.segments.empty() || image.segments.front().address != 0)
    return Error{"code object: no segment at address 0, where the ELF header belongs"};
  return {};
}

Result<void> read_symbols(const File& file, ElfImage& image) {
  std::unordered_set<std::string_view> seen;
  for (const auto& section : TRY(from_llvm(file.sections()))) {
    if (section.sh_type != elf::SHT_DYNSYM && section.sh_type != elf::SHT_SYMTAB) continue;
    const llvm::StringRef names = TRY(from_llvm(file.getStringTableForSymtab(section)));
    for (const auto& symbol : TRY(from_llvm(file.symbols(&section)))) {
      if (symbol.st_shndx == elf::SHN_UNDEF || symbol.st_shndx == elf::SHN_ABS) continue;
      const bool is_object = symbol.getType() == elf::STT_OBJECT, is_function = symbol.getType() == elf::STT_FUNC;
      if (!is_object && !is_function) continue;
      const llvm::StringRef name = TRY(from_llvm(symbol.getName(names)));
      if (symbol.st_value > image.load_size || symbol.st_size > image.load_size - symbol.st_value)
        return Error{fmt::format("code object: symbol '{}' lies outside the image", std::string_view(name))};
      if (!seen.insert(std::string_view(name)).second) continue;
      image.symbols.push_back({name.str(), symbol.st_value, symbol.st_size, is_object, is_function});
    }
  }
  return {};
}

// The dynamic symbol that a relocation names: its load-relative value, or zero for an undefined weak one.
struct Target {
  u64 value = 0;
  bool in_image = false;
};

Result<Target> relocation_target(const ElfImage& image, u64 symbol_table, u64 string_table, u32 index) {
  if (index == 0) return Target{};
  const auto entry = image.content_at(symbol_table + u64{index} * sizeof(File::Elf_Sym), sizeof(File::Elf_Sym));
  if (!entry)
    return Error{fmt::format("code object: a relocation names dynamic symbol {}, which does not exist", index)};
  File::Elf_Sym symbol;
  std::memcpy(&symbol, entry->data(), sizeof(symbol));
  if (symbol.st_shndx == elf::SHN_ABS) return Target{symbol.st_value, false};
  if (symbol.st_shndx != elf::SHN_UNDEF) return Target{symbol.st_value, true};
  if (symbol.getBinding() == elf::STB_WEAK) return Target{};
  std::string name;
  for (u64 at = string_table + symbol.st_name; name.size() < 256; ++at) {
    const auto character = image.content_at(at, 1);
    if (!character || (*character)[0] == std::byte{0}) break;
    name += static_cast<char>((*character)[0]);
  }
  return Error{fmt::format("undefined device symbol '{}': no definition in the code object", name)};
}

Result<ElfRelocation> resolve(const ElfImage& image, const File::Elf_Rela& rela, u64 symbol_table, u64 string_table) {
  const u32 type = rela.getType(false);
  ElfRelocation relocation{.address = rela.r_offset, .value = rela.r_addend};
  using Field = ElfRelocation::Field;
  switch (type) {
    case elf::R_AMDGPU_RELATIVE64:
      relocation.add_base = true;
      return relocation;
    case elf::R_AMDGPU_ABS64:
      break;
    case elf::R_AMDGPU_REL64:
      relocation.subtract_place = true;
      break;
    case elf::R_AMDGPU_ABS32:
    case elf::R_AMDGPU_ABS32_LO:
      relocation.field = Field::Low32;
      break;
    case elf::R_AMDGPU_ABS32_HI:
      relocation.field = Field::High32;
      break;
    case elf::R_AMDGPU_REL32:
    case elf::R_AMDGPU_REL32_LO:
      relocation.field = Field::Low32;
      relocation.subtract_place = true;
      break;
    case elf::R_AMDGPU_REL32_HI:
      relocation.field = Field::High32;
      relocation.subtract_place = true;
      break;
    default:
      return Error{
          fmt::format("code object: unsupported dynamic relocation of type {} at {:#x}", type, relocation.address)};
  }
  const Target target = TRY(relocation_target(image, symbol_table, string_table, rela.getSymbol(false)));
  relocation.value = static_cast<i64>(static_cast<u64>(relocation.value) + target.value);
  relocation.add_base = target.in_image;
  return relocation;
}

// From the dynamic section, as a loader reads it: section headers are for linkers.
Result<void> read_relocations(const File& file, std::span<const std::byte> bytes, ElfImage& image) {
  u64 rela = 0, rela_size = 0, symbol_table = 0, string_table = 0;
  for (const auto& header : TRY(from_llvm(file.program_headers()))) {
    if (header.p_type != elf::PT_DYNAMIC) continue;
    const auto dynamic = slice(bytes, header.p_offset, header.p_filesz);
    if (!dynamic) return Error{"code object: the dynamic section lies outside the file"};
    for (u64 at = 0; at + 16 <= dynamic->size(); at += 16) {
      const u64 tag = *read_at<u64>(*dynamic, at), value = *read_at<u64>(*dynamic, at + 8);
      if (tag == elf::DT_NULL) break;
      if (tag == elf::DT_RELA) rela = value;
      if (tag == elf::DT_RELASZ) rela_size = value;
      if (tag == elf::DT_SYMTAB) symbol_table = value;
      if (tag == elf::DT_STRTAB) string_table = value;
      if ((tag == elf::DT_RELSZ || tag == elf::DT_PLTRELSZ) && value != 0)
        return Error{"code object: REL or PLT relocations, which AMDGPU code objects do not have"};
    }
  }
  if (rela_size == 0) return {};
  const auto table = image.content_at(rela, rela_size);
  if (!table)
    return Error{
        fmt::format("code object: the relocation table ({} bytes at {:#x}) lies outside the image", rela_size, rela)};
  for (u64 at = 0; at + sizeof(File::Elf_Rela) <= table->size(); at += sizeof(File::Elf_Rela)) {
    File::Elf_Rela entry;
    std::memcpy(&entry, table->data() + at, sizeof(entry));
    if (entry.getType(false) == elf::R_AMDGPU_NONE) continue;
    const ElfRelocation relocation = TRY(resolve(image, entry, symbol_table, string_table));
    const u64 width = relocation.field == ElfRelocation::Field::Word64 ? 8 : 4;
    const bool inside = std::any_of(image.segments.begin(), image.segments.end(), [&](const ElfSegment& segment) {
      const u64 offset = relocation.address - segment.address;
      return offset < segment.size && segment.size - offset >= width;
    });
    if (!inside)
      return Error{fmt::format("code object: a relocation at {:#x}, outside the segments", relocation.address)};
    image.relocations.push_back(relocation);
  }
  return {};
}

Result<void> read_metadata_note(const File& file, std::span<const std::byte> bytes, ElfImage& image) {
  for (const auto& header : TRY(from_llvm(file.program_headers()))) {
    if (header.p_type != elf::PT_NOTE) continue;
    // LLVM's own check adds offset and size without a look at overflow.
    if (!slice(bytes, header.p_offset, header.p_filesz))
      return Error{"code object: a note segment lies outside the file"};
    llvm::Error failure = llvm::Error::success();
    for (const auto& note : file.notes(header, failure)) {
      if (note.getName() != "AMDGPU" || note.getType() != elf::NT_AMDGPU_METADATA || !image.metadata.empty()) continue;
      const auto description = note.getDesc(4);
      image.metadata = {reinterpret_cast<const std::byte*>(description.data()), description.size()};
    }
    if (failure) return Error{"code object: " + llvm::toString(std::move(failure))};
  }
  if (image.metadata.empty()) return Error{"code object: no AMDGPU metadata note"};
  return {};
}

// Missing or malformed debug sections cost source lines in reports, nothing else.
void find_debug_sections(const File& file, std::span<const std::byte> bytes, ElfImage& image) {
  auto sections = file.sections();
  if (!sections) return llvm::consumeError(sections.takeError());
  for (const auto& section : *sections) {
    auto name = file.getSectionName(section);
    if (!name) {
      llvm::consumeError(name.takeError());
      continue;
    }
    if (section.sh_type == elf::SHT_NOBITS || (section.sh_flags & elf::SHF_COMPRESSED) != 0) continue;
    const auto content = slice(bytes, section.sh_offset, section.sh_size);
    if (!content) continue;
    if (*name == ".debug_line") image.debug.lines = *content;
    if (*name == ".debug_line_str") image.debug.line_strings = *content;
    if (*name == ".debug_str") image.debug.strings = *content;
    if (*name == ".debug_info") image.debug.info = *content;
    if (*name == ".debug_abbrev") image.debug.abbreviations = *content;
    if (*name == ".debug_addr") image.debug.addresses = *content;
    if (*name == ".debug_rnglists") image.debug.range_lists = *content;
  }
}

}  // namespace

std::optional<std::span<const std::byte>> ElfImage::content_at(u64 address, u64 size) const {
  for (const ElfSegment& segment : segments)
    if (address - segment.address < segment.size) return slice(segment.content, address - segment.address, size);
  return std::nullopt;
}

Result<ElfImage> read_elf(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(File::Elf_Ehdr) || bytes[elf::EI_CLASS] != std::byte{elf::ELFCLASS64} ||
      bytes[elf::EI_DATA] != std::byte{elf::ELFDATA2LSB})
    return Error{"code object: not a 64-bit little-endian ELF file"};
  const File file = TRY(from_llvm(File::create({reinterpret_cast<const char*>(bytes.data()), bytes.size()})));
  ElfImage image;
  image.version = TRY(check_header(file.getHeader()));
  TRY(read_segments(file, bytes, image));
  TRY(read_symbols(file, image));
  TRY(read_relocations(file, bytes, image));
  TRY(read_metadata_note(file, bytes, image));
  find_debug_sections(file, bytes, image);
  return image;
}

}  // namespace hipbench::emulator
