#include "emulator/loader/bundle.hpp"

#include <gmock/gmock.h>
#include <zlib.h>

#include <cstring>

#include "emulator/loader/code_object.hpp"
#include "tests/emulator/loader/test_data.hpp"

namespace hipbench::emulator {
namespace {

using testing::HasSubstr;

template <typename T>
void append(std::string& text, T value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// The compressed bundle of the test data (version 2, zstd) in another version or method.
std::string recompressed(u16 version, u16 method) {
  const std::string original = test_data("loader.ccob");
  const auto header = *read_compressed_header(as_bytes(original));
  std::string content = original.substr(header.header_size);
  u64 plain_size = header.decompressed_size;
  if (method == 0) {
    const std::string plain = test_data("loader.bundle");
    uLongf size = compressBound(plain.size());
    content.resize(size);
    compress(reinterpret_cast<Bytef*>(content.data()), &size, reinterpret_cast<const Bytef*>(plain.data()),
             plain.size());
    content.resize(size);
    plain_size = plain.size();
  }
  std::string result = "CCOB";
  append(result, version);
  append(result, method);
  if (version == 3) {
    append(result, u64{32 + content.size()});
    append(result, plain_size);
  } else {
    if (version == 2) append(result, static_cast<u32>(24 + content.size()));
    append(result, static_cast<u32>(plain_size));
  }
  append(result, u64{0});  // a hash that nothing depends on
  return result + content;
}

TEST(TargetMatch, TakesOnlyCodeThatRunsOnAnMi300x) {
  EXPECT_GT(target_match("hipv4-amdgcn-amd-amdhsa--gfx942"), 0);
  EXPECT_GT(target_match("hip-amdgcn-amd-amdhsa--gfx942"), 0);
  EXPECT_GT(target_match("hipv4-amdgcn-amd-amdhsa-unknown-gfx942"), 0);
  EXPECT_GT(target_match("hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-"),
            target_match("hipv4-amdgcn-amd-amdhsa--gfx942:xnack-"));
  EXPECT_GT(target_match("hipv4-amdgcn-amd-amdhsa--gfx942"), target_match("hipv4-amdgcn-amd-amdhsa--gfx9-4-generic"));
  EXPECT_GT(target_match("hipv4-amdgcn-amd-amdhsa--gfx9-4-generic"), 0);
  for (const char* other :
       {"host-x86_64-unknown-linux--", "hipv4-amdgcn-amd-amdhsa--gfx90a", "hipv4-amdgcn-amd-amdhsa--gfx9-generic",
        "hipv4-amdgcn-amd-amdhsa--gfx942:xnack+", "hipv4-amdgcn-amd-amdhsa--gfx942:sramecc-",
        "hipv4-amdgcn-amd-amdhsa--gfx9420", "openmp-amdgcn-amd-amdhsa--gfx942", ""})
    EXPECT_EQ(target_match(other), 0) << other;
}

TEST(Bundle, PicksTheEntryForTheDevice) {
  for (const char* name : {"loader.bundle", "loader_xnack.bundle"}) {
    const std::string bundle = test_data(name);
    const auto object = CodeObject::parse(as_bytes(bundle));
    ASSERT_TRUE(object) << object.error().message;
    EXPECT_NE((*object)->find_kernel("copy"), nullptr);
  }
}

TEST(Bundle, SaysWhatIsThereWhenNothingFits) {
  const std::string bundle = test_data("loader_gfx90a.bundle");
  const auto object = CodeObject::parse(as_bytes(bundle));
  ASSERT_FALSE(object);
  EXPECT_THAT(object.error().message, HasSubstr("gfx90a"));
  EXPECT_THAT(object.error().message, HasSubstr("--offload-arch=gfx942"));
}

TEST(CompressedBundle, ReadsEveryVersionAndMethod) {
  for (u16 version = 1; version <= 3; ++version)
    for (u16 method = 0; method <= 1; ++method) {
      const std::string bundle = recompressed(version, method);
      const auto object = CodeObject::parse(as_bytes(bundle));
      ASSERT_TRUE(object) << "version " << version << " method " << method << ": " << object.error().message;
      EXPECT_NE((*object)->find_kernel("copy"), nullptr);
    }
  const std::string future = recompressed(4, 1);
  EXPECT_FALSE(CodeObject::parse(as_bytes(future)));
}

TEST(BundleSize, IsReadFromTheHeaderWhateverFollows) {
  for (const std::string& bundle : {test_data("loader.bundle"), test_data("loader.ccob"), recompressed(1, 1),
                                    recompressed(3, 0), test_data("loader_v5.elf")}) {
    const std::string followed = bundle + std::string(100, 'x');
    const auto size = bundle_size(followed.data());
    ASSERT_TRUE(size) << size.error().message;
    EXPECT_EQ(*size, bundle.size());
  }
  EXPECT_FALSE(bundle_size("neither of the two kinds of bundle, but long enough to look at"));
}

}  // namespace
}  // namespace hipbench::emulator
