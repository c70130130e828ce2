#pragma once
// Clang's offload bundles: the container in which host binaries and hipRTC carry code objects for several targets.
// https://clang.llvm.org/docs/ClangOffloadBundler.html#bundled-binary-file-layout

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hpp"
#include "emulator/isa/types.hpp"

namespace hipbench::emulator {

// The ELF for our device inside a raw ELF, a bundle or a compressed bundle.
Result<std::vector<std::byte>> extract_code_object(std::span<const std::byte> bytes);

struct BundleEntry {
  std::string_view id;  // "hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-"
  std::span<const std::byte> bytes;
};
Result<std::vector<BundleEntry>> read_bundle(std::span<const std::byte> bytes);

// How well an entry suits an MI300X (gfx942, sramecc on, xnack off): 0 = not at all, more = more specific.
int target_match(std::string_view bundle_entry_id);

// The header of a compressed bundle ("CCOB"), versions 1 to 3.
struct CompressedHeader {
  u16 version = 0;
  u16 method = 0;  // 0 zlib, 1 zstd
  u64 header_size = 0;
  u64 total_size = 0;  // of the file with its header; 0 = not recorded (version 1)
  u64 decompressed_size = 0;
};
Result<CompressedHeader> read_compressed_header(std::span<const std::byte> bytes);

inline constexpr std::string_view kBundleMagic = "__CLANG_OFFLOAD_BUNDLE__";
inline constexpr std::string_view kCompressedMagic = "CCOB";
inline constexpr std::string_view kElfMagic = "\177ELF";

}  // namespace hipbench::emulator
