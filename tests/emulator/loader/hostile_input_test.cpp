// The loader's input comes from candidates: whatever the bytes are, it answers with an Error or a code object.
#include <algorithm>
#include <cstring>
#include <random>

#include "emulator/loader/code_object.hpp"
#include "emulator/memory/address_space.hpp"
#include "tests/emulator/loader/test_data.hpp"

namespace hipbench::emulator {
namespace {

// Touches everything that a parsed code object offers.
void use(const std::string& bytes, AddressSpace& space) {
  const auto object = CodeObject::parse(as_bytes(bytes));
  if (!object) {
    EXPECT_FALSE(object.error().message.empty());
    return;
  }
  for (const Kernel& kernel : (*object)->kernels()) (*object)->source_location(kernel.entry_offset);
  if (const auto base = (*object)->load(space)) EXPECT_TRUE(space.free(*base));
}

void mutate(const std::string& original, int variants, unsigned seed) {
  auto space = std::move(AddressSpace::create()).value();
  std::mt19937 random(seed);
  constexpr u64 kNasty[] = {0, 1, 0x7f, 0xff, 0xffff, 0x7fffffff, 0xffffffff, ~u64{0}, u64{1} << 63};
  for (int variant = 0; variant < variants; ++variant) {
    std::string bytes = original;
    const unsigned edits = 1 + random() % 4;
    for (unsigned i = 0; i < edits; ++i) {
      const size_t at = random() % bytes.size();
      if (random() % 2 == 0) {
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
      } else {
        const u64 value = kNasty[random() % std::size(kNasty)];
        const size_t width = std::min<size_t>(size_t{1} << random() % 4, bytes.size() - at);
        std::memcpy(bytes.data() + at, &value, width);
      }
    }
    if (random() % 16 == 0) bytes.resize(random() % bytes.size());
    use(bytes, *space);
  }
}

TEST(HostileInput, MutatedCodeObjectsNeverCrashTheLoader) { mutate(test_data("loader_v5.elf"), 4000, 1); }
// Much of a small file is debug information.
TEST(HostileInput, MutatedDebugInformationNeverCrashesTheLoader) { mutate(test_data("inlined.elf"), 8000, 4); }
TEST(HostileInput, MutatedBundlesNeverCrashTheLoader) { mutate(test_data("loader.bundle").substr(0, 4096), 2000, 2); }
TEST(HostileInput, MutatedCompressedBundlesNeverCrashTheLoader) { mutate(test_data("loader.ccob"), 2000, 3); }

// Headers decide most; they are a small part of the file, so they get a share of their own.
TEST(HostileInput, MutatedHeadersNeverCrashTheLoader) {
  const std::string elf = test_data("loader_v5.elf");
  auto space = std::move(AddressSpace::create()).value();
  for (size_t at = 0; at < 0x238; ++at)
    for (const int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      std::string bytes = elf;
      bytes[at] = static_cast<char>(value);
      use(bytes, *space);
    }
}

// Every word of every ELF header, so that no sum of an offset and a size goes unchecked, not even one that wraps around
// to a small number.
TEST(HostileInput, WrappingOffsetsNeverCrashTheLoader) {
  const std::string elf = test_data("loader_v5.elf");
  auto space = std::move(AddressSpace::create()).value();
  const auto word = [&](size_t at) {
    u64 value;
    std::memcpy(&value, elf.data() + at, 8);
    return value;
  };
  std::vector<size_t> words;
  for (size_t at = 0; at < 64 + 56 * static_cast<size_t>(elf[56]); at += 8) words.push_back(at);
  for (size_t at = word(40); at + 8 <= elf.size(); at += 8) words.push_back(at);
  for (const size_t at : words)
    for (const u64 value :
         {~u64{0}, ~u64{0} - 8, ~u64{0} - 0x23b, ~u64{0} - elf.size(), u64{1} << 63, u64{elf.size()}}) {
      std::string bytes = elf;
      std::memcpy(bytes.data() + at, &value, 8);
      use(bytes, *space);
      // A large size beside an offset that wraps.
      if (at + 32 <= elf.size()) {
        const u64 size = 0 - value;
        std::memcpy(bytes.data() + at + 24, &size, 8);  // p_filesz after p_offset
        use(bytes, *space);
        bytes = elf;
        std::memcpy(bytes.data() + at, &value, 8);
        std::memcpy(bytes.data() + at + 8, &size, 8);  // sh_size after sh_offset
        use(bytes, *space);
      }
    }
}

TEST(HostileInput, TruncatedCodeObjectsNeverCrashTheLoader) {
  const std::string elf = test_data("loader_v5.elf");
  auto space = std::move(AddressSpace::create()).value();
  for (size_t size = 0; size < elf.size(); size += 13) use(elf.substr(0, size), *space);
}

}  // namespace
}  // namespace hipbench::emulator
