#include "emulator/loader/bundle.hpp"

#include <fmt/format.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Support/Compression.h>
#include <llvm/Support/Error.h>

#include "emulator/loader/byte_reader.hpp"

namespace hipbench::emulator {

namespace {

constexpr u64 kMostDecompressedBytes = u64{2} << 30;

Result<std::vector<std::byte>> decompress(std::span<const std::byte> bytes) {
  const CompressedHeader header = TRY(read_compressed_header(bytes));
  const u64 end = header.total_size == 0 ? bytes.size() : header.total_size;
  if (end > bytes.size() || end < header.header_size)
    return Error{fmt::format("compressed offload bundle: {} of {} bytes are here", bytes.size(), end)};
  if (header.method > 1) return Error{fmt::format("compressed offload bundle: unknown method {}", header.method)};
  if (header.decompressed_size > kMostDecompressedBytes)
    return Error{fmt::format("compressed offload bundle of {} bytes decompressed; at most {} are accepted",
                             header.decompressed_size, kMostDecompressedBytes)};
  const auto format = header.method == 0 ? llvm::compression::Format::Zlib : llvm::compression::Format::Zstd;
  if (const char* reason = llvm::compression::getReasonIfUnsupported(format))
    return Error{fmt::format("compressed offload bundle: {}", reason)};
  const auto packed = bytes.subspan(header.header_size, end - header.header_size);
  llvm::SmallVector<u8, 0> plain;
  if (llvm::Error failure = llvm::compression::decompress(
          format, {reinterpret_cast<const u8*>(packed.data()), packed.size()}, plain, header.decompressed_size))
    return Error{fmt::format("compressed offload bundle: {}", llvm::toString(std::move(failure)))};
  if (plain.size() != header.decompressed_size)
    return Error{fmt::format("compressed offload bundle: {} bytes came out, the header says {}", plain.size(),
                             header.decompressed_size)};
  const auto* begin = reinterpret_cast<const std::byte*>(plain.data());
  return std::vector<std::byte>(begin, begin + plain.size());
}

Result<std::span<const std::byte>> choose_entry(std::span<const BundleEntry> entries) {
  const BundleEntry* best = nullptr;
  std::string seen;
  for (const BundleEntry& entry : entries) {
    const int score = target_match(entry.id);
    if (score > 0 && (best == nullptr || score > target_match(best->id))) best = &entry;
    seen += fmt::format("{}{}", seen.empty() ? "" : ", ", entry.id);
  }
  if (best == nullptr)
    return Error{
        fmt::format("the offload bundle has no code for gfx942 (sramecc+, xnack-); it has: {}. Compile with "
                    "--offload-arch=gfx942",
                    seen.empty() ? "nothing" : seen)};
  return best->bytes;
}

}  // namespace

Result<std::vector<std::byte>> extract_code_object(std::span<const std::byte> bytes) {
  std::vector<std::byte> plain;
  if (as_text(bytes).starts_with(kCompressedMagic)) {
    plain = TRY(decompress(bytes));
    bytes = plain;
  }
  if (as_text(bytes).starts_with(kBundleMagic)) {
    const std::vector<BundleEntry> entries = TRY(read_bundle(bytes));
    bytes = TRY(choose_entry(entries));
  }
  if (!as_text(bytes).starts_with(kElfMagic))
    return Error{"not a code object: neither an ELF file nor an offload bundle with one for gfx942"};
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

}  // namespace hipbench::emulator
