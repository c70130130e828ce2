// The formats of bundles, without LLVM: the drop-in HIP runtime reads the size of the fat binaries it is handed.
#include <fmt/format.h>

#include <algorithm>

#include "emulator/loader/bundle.hpp"
#include "emulator/loader/byte_reader.hpp"
#include "emulator/loader/code_object.hpp"

namespace hipbench::emulator {

namespace {

constexpr u64 kMostEntries = 4096;
constexpr u64 kLongestId = 4096;

// The features of "gfx942:sramecc+:xnack-" against what an MI300X runs with. More named features = more specific.
int feature_match(std::string_view target) {
  const size_t colon = std::min(target.find(':'), target.size());
  const std::string_view processor = target.substr(0, colon);
  int score = processor == "gfx942" ? 10 : processor == "gfx9-4-generic" ? 1 : 0;
  if (score == 0) return 0;
  for (std::string_view rest = target.substr(colon); !rest.empty();) {
    rest.remove_prefix(1);
    const size_t end = std::min(rest.find(':'), rest.size());
    const std::string_view feature = rest.substr(0, end);
    rest.remove_prefix(end);
    if (feature != "sramecc+" && feature != "xnack-") return 0;
    ++score;
  }
  return score;
}

// The length of the zstd frame at `frame`, walking its block headers (RFC 8878 §3.1.1).
Result<u64> zstd_frame_size(const std::byte* frame) {
  const auto byte_at = [&](u64 i) { return std::to_integer<u32>(frame[i]); };
  if (byte_at(0) != 0x28 || byte_at(1) != 0xb5 || byte_at(2) != 0x2f || byte_at(3) != 0xfd)
    return Error{"compressed offload bundle: its data is not a zstd frame"};
  const u32 descriptor = byte_at(4);
  const bool single_segment = descriptor & 0x20, checksum = descriptor & 4;
  constexpr u64 kDictionaryIdBytes[] = {0, 1, 2, 4};
  const u64 content_size_bytes = (descriptor >> 6) == 0 ? (single_segment ? 1 : 0) : u64{1} << (descriptor >> 6);
  u64 at = 5 + (single_segment ? 0 : 1) + kDictionaryIdBytes[descriptor & 3] + content_size_bytes;
  for (;;) {
    const u32 header = byte_at(at) | byte_at(at + 1) << 8 | byte_at(at + 2) << 16;
    const u32 type = header >> 1 & 3;
    if (type == 3) return Error{"compressed offload bundle: a zstd block of the reserved type"};
    at += 3 + (type == 1 ? 1 : header >> 3);  // type 1 repeats one byte
    if (header & 1) return at + (checksum ? 4 : 0);
  }
}

template <typename T>
T read_unchecked(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

// The end of everything that the headers of a 64-bit ELF file mention.
u64 elf_size(const std::byte* elf) {
  constexpr u64 kSegmentHeader = 56, kSectionHeader = 64;
  constexpr u32 kNoBits = 8;
  const u64 segments = read_unchecked<u64>(elf + 32), sections = read_unchecked<u64>(elf + 40);
  const u64 segment_count = read_unchecked<u16>(elf + 56), section_count = read_unchecked<u16>(elf + 60);
  u64 end = std::max(segments + segment_count * kSegmentHeader, sections + section_count * kSectionHeader);
  for (u64 i = 0; i < segment_count; ++i) {
    const std::byte* header = elf + segments + i * kSegmentHeader;
    end = std::max(end, read_unchecked<u64>(header + 8) + read_unchecked<u64>(header + 32));
  }
  for (u64 i = 0; i < section_count; ++i) {
    const std::byte* header = elf + sections + i * kSectionHeader;
    if (read_unchecked<u32>(header + 4) == kNoBits) continue;
    end = std::max(end, read_unchecked<u64>(header + 24) + read_unchecked<u64>(header + 32));
  }
  return end;
}

}  // namespace

Result<std::vector<BundleEntry>> read_bundle(std::span<const std::byte> bytes) {
  if (!as_text(bytes).starts_with(kBundleMagic)) return Error{"not an offload bundle: the magic string is missing"};
  u64 at = kBundleMagic.size();
  const auto count = read_at<u64>(bytes, at);
  if (!count || *count > kMostEntries) return Error{"offload bundle: no sensible number of entries at offset 24"};
  at += 8;
  std::vector<BundleEntry> entries;
  for (u64 i = 0; i < *count; ++i) {
    const auto offset = read_at<u64>(bytes, at), size = read_at<u64>(bytes, at + 8),
               id_size = read_at<u64>(bytes, at + 16);
    if (!offset || !size || !id_size || *id_size > kLongestId)
      return Error{fmt::format("offload bundle: entry {} of {} is cut off or malformed at offset {}", i, *count, at)};
    const auto id = slice(bytes, at + 24, *id_size), content = slice(bytes, *offset, *size);
    if (!id || !content)
      return Error{fmt::format("offload bundle: entry {} ({} bytes at offset {}) lies outside the bundle of {} bytes",
                               i, *size, *offset, bytes.size())};
    entries.push_back({as_text(*id), *content});
    at += 24 + *id_size;
  }
  return entries;
}

int target_match(std::string_view id) {
  if (!id.starts_with("hip-amdgcn-") && !id.starts_with("hipv4-amdgcn-")) return 0;
  const size_t processor = id.find("-gfx");
  return processor == std::string_view::npos ? 0 : feature_match(id.substr(processor + 1));
}

Result<CompressedHeader> read_compressed_header(std::span<const std::byte> bytes) {
  const Error cut_off{"compressed offload bundle: the header is cut off"};
  const auto version = read_at<u16>(bytes, 4), method = read_at<u16>(bytes, 6);
  if (!as_text(bytes).starts_with(kCompressedMagic) || !version || !method) return cut_off;
  CompressedHeader header{.version = *version, .method = *method};
  // After the two halfwords: [total size], decompressed size, 8 bytes of hash. Version 3 widened the sizes.
  if (header.version == 1) {
    const auto size = read_at<u32>(bytes, 8);
    if (!size) return cut_off;
    header.header_size = 20;
    header.decompressed_size = *size;
  } else if (header.version == 2) {
    const auto total = read_at<u32>(bytes, 8), size = read_at<u32>(bytes, 12);
    if (!total || !size) return cut_off;
    header.header_size = 24;
    header.total_size = *total;
    header.decompressed_size = *size;
  } else if (header.version == 3) {
    const auto total = read_at<u64>(bytes, 8), size = read_at<u64>(bytes, 16);
    if (!total || !size) return cut_off;
    header.header_size = 32;
    header.total_size = *total;
    header.decompressed_size = *size;
  } else {
    return Error{fmt::format("compressed offload bundle of version {}; versions 1 to 3 are known", header.version)};
  }
  return header;
}

Result<u64> bundle_size(const void* data) {
  const auto* bytes = static_cast<const std::byte*>(data);
  const auto text_at = [&](std::string_view magic) { return std::memcmp(bytes, magic.data(), magic.size()) == 0; };
  if (text_at(kCompressedMagic)) {
    const CompressedHeader header = TRY(read_compressed_header({bytes, 32}));
    if (header.total_size != 0) return header.total_size;
    if (header.method != 1)
      return Error{
          "compressed offload bundle of version 1 with zlib: it does not tell its size; rebuild with a newer clang"};
    return header.header_size + TRY(zstd_frame_size(bytes + header.header_size));
  }
  if (text_at(kElfMagic))
    return elf_size(bytes);
  if (!text_at(kBundleMagic))
    return Error{"the device code is neither an offload bundle, nor a compressed one, nor an ELF file"};
  const auto u64_at = [&](u64 at) { return read_unchecked<u64>(bytes + at); };
  const u64 count = u64_at(24);
  if (count > kMostEntries) return Error{fmt::format("offload bundle with {} entries", count)};
  u64 at = 32, end = 32;
  for (u64 i = 0; i < count; ++i) {
    if (u64_at(at + 16) > kLongestId)
      return Error{fmt::format("offload bundle: entry {} has an id of {} bytes", i, u64_at(at + 16))};
    end = std::max({end, u64_at(at) + u64_at(at + 8), at + 24 + u64_at(at + 16)});
    at += 24 + u64_at(at + 16);
  }
  return end;
}

}  // namespace hipbench::emulator
