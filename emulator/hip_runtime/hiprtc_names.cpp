#include "emulator/hip_runtime/hiprtc_names.hpp"

#include <elf.h>

#include <charconv>
#include <cstdint>
#include <optional>

#include "emulator/loader/byte_reader.hpp"

namespace hipbench::hip {

namespace {

using emulator::read_at;
using emulator::slice;

constexpr std::string_view kVariable = "__hipbench_name_expression_";
constexpr uint32_t kAbsolute64 = 3, kRelative64 = 13;  // R_AMDGPU_ABS64, R_AMDGPU_RELATIVE64

// Users write "kernel", "&kernel" and "ns::kernel<float, 4>" alike.
std::string_view without_address_of(std::string_view expression) {
  const size_t start = expression.find_first_not_of(" \t\n&");
  return start == std::string_view::npos ? std::string_view() : expression.substr(start);
}

struct Symbol {
  std::string_view name;
  Elf64_Sym raw;
};

class Elf {
 public:
  explicit Elf(std::span<const std::byte> bytes) : bytes_(bytes) {
    const auto header = read_at<Elf64_Ehdr>(bytes, 0);
    if (!header || std::string_view(reinterpret_cast<const char*>(header->e_ident), SELFMAG) != ELFMAG) return;
    is_relocatable_ = header->e_type == ET_REL;
    for (uint64_t k = 0; k < header->e_shnum; ++k)
      if (const auto section = read_at<Elf64_Shdr>(bytes, header->e_shoff + k * sizeof(Elf64_Shdr)))
        sections_.push_back(*section);
    for (uint32_t k = 0; k < sections_.size(); ++k)
      if (sections_[k].sh_type == SHT_SYMTAB || sections_[k].sh_type == SHT_DYNSYM) add_symbols(sections_[k]);
  }

  // The symbol whose address the pointer-sized variable holds.
  std::string pointee(std::string_view variable) const {
    for (const Symbol& symbol : symbols_) {
      if (symbol.name != variable) continue;
      for (const Elf64_Shdr& section : sections_) {
        // A relocatable file's addresses are offsets in a section, which the relocations' section names.
        if (section.sh_type != SHT_RELA || (is_relocatable_ && section.sh_info != symbol.raw.st_shndx)) continue;
        if (std::string found = pointee_in(section, symbol.raw.st_value); !found.empty()) return found;
      }
    }
    return {};
  }

 private:
  std::optional<Symbol> symbol_at(const Elf64_Shdr& table, uint64_t index) const {
    const auto content = slice(bytes_, table.sh_offset, table.sh_size);
    if (!content || table.sh_link >= sections_.size() || index > table.sh_size / sizeof(Elf64_Sym)) return std::nullopt;
    const auto raw = read_at<Elf64_Sym>(*content, index * sizeof(Elf64_Sym));
    const auto names = slice(bytes_, sections_[table.sh_link].sh_offset, sections_[table.sh_link].sh_size);
    if (!raw || !names || raw->st_name >= names->size()) return std::nullopt;
    const std::string_view rest = emulator::as_text(names->subspan(raw->st_name));
    return Symbol{rest.substr(0, rest.find('\0')), *raw};
  }

  void add_symbols(const Elf64_Shdr& table) {
    for (uint64_t k = 1; k < table.sh_size / sizeof(Elf64_Sym); ++k) {
      const auto symbol = symbol_at(table, k);
      if (!symbol) return;
      if (symbol->raw.st_shndx != SHN_UNDEF && !symbol->name.empty()) symbols_.push_back(*symbol);
    }
  }

  std::string pointee_in(const Elf64_Shdr& relocations, uint64_t place) const {
    const auto content = slice(bytes_, relocations.sh_offset, relocations.sh_size);
    if (!content) return {};
    for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= content->size(); at += sizeof(Elf64_Rela)) {
      const auto relocation = read_at<Elf64_Rela>(*content, at);
      if (relocation->r_offset != place) continue;
      const uint64_t type = ELF64_R_TYPE(relocation->r_info);
      if (type == kRelative64) return symbol_with_address(static_cast<uint64_t>(relocation->r_addend));
      if (type != kAbsolute64 || relocations.sh_link >= sections_.size()) return {};
      const auto symbol = symbol_at(sections_[relocations.sh_link], ELF64_R_SYM(relocation->r_info));
      return symbol && relocation->r_addend == 0 ? std::string(symbol->name) : std::string();
    }
    return {};
  }

  std::string symbol_with_address(uint64_t address) const {
    for (const Symbol& symbol : symbols_) {
      const unsigned type = ELF64_ST_TYPE(symbol.raw.st_info);
      if (symbol.raw.st_value == address && (type == STT_FUNC || type == STT_OBJECT)) return std::string(symbol.name);
    }
    return {};
  }

  std::span<const std::byte> bytes_;
  bool is_relocatable_ = false;
  std::vector<Elf64_Shdr> sections_;
  std::vector<Symbol> symbols_;
};

}  // namespace

std::string name_expression_text(std::span<const std::string> expressions) {
  // The source may end without a newline.
  std::string text = "\n#line 1 \"" + std::string(kNameExpressionsFile) + "\"\n";
  for (size_t k = 0; k < expressions.size(); ++k) {
    text += "extern \"C\" __device__ __attribute__((used)) const void* " + std::string(kVariable) + std::to_string(k) +
            "[] = {(const void*)(&";
    for (const char c : without_address_of(expressions[k])) text += c == '\n' ? ' ' : c;
    text += ")};\n";
  }
  return text;
}

std::map<std::string, std::string> lowered_names(std::span<const std::byte> elf,
                                                 std::span<const std::string> expressions) {
  const Elf image(elf);
  std::map<std::string, std::string> names;
  for (size_t k = 0; k < expressions.size(); ++k) {
    std::string symbol = image.pointee(std::string(kVariable) + std::to_string(k));
    if (!symbol.empty()) names.emplace(expressions[k], std::move(symbol));
  }
  return names;
}

int expression_of_message(std::string_view message) {
  if (!message.starts_with(kNameExpressionsFile) || message.substr(kNameExpressionsFile.size(), 1) != ":") return -1;
  message.remove_prefix(kNameExpressionsFile.size() + 1);
  int line = 0;
  const auto [end, failed] = std::from_chars(message.data(), message.data() + message.size(), line);
  return failed == std::errc() && end != message.data() ? line - 1 : -1;
}

}  // namespace hipbench::hip
