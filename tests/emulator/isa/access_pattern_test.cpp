// Loads and stores take fast ways by how the lanes' addresses lie to each other. Each must do what the lanes do one by
// one.

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "emulator/isa/program.hpp"
#include "emulator/isa/wave.hpp"
#include "tests/emulator/isa/assembler.hpp"

namespace hipbench::emulator {
namespace {

constexpr u32 kBytes = 16384;
constexpr u64 kAll = ~u64{0}, kCode = 0x10000;

using Offsets = std::vector<u32>;
struct Pattern {
  const char* name;
  u32 (*offset)(u32 lane, u32 size);
};
const Pattern kPatterns[] = {
    {"neighbours", [](u32 lane, u32 size) { return 64 + lane * size; }},
    {"neighbours, misaligned", [](u32 lane, u32 size) { return 67 + lane * size; }},
    {"one address", [](u32, u32) { return 80u; }},
    {"one address but for the last lane", [](u32 lane, u32) { return lane == 63 ? 128u : 80u; }},
    {"neighbours but for the last lane", [](u32 lane, u32 size) { return lane == 63 ? 0u : 64 + lane * size; }},
    {"rows of eight", [](u32 lane, u32 size) { return 8192 - 512 * (lane / 8) + lane % 8 * size; }},
    {"rows of sixteen", [](u32 lane, u32 size) { return 512 * (lane / 16) + lane % 16 * size; }},
    {"rows of four", [](u32 lane, u32 size) { return 256 * (lane / 4) + lane % 4 * size; }},
    {"backwards", [](u32 lane, u32 size) { return 4096 - lane * size; }},
    {"strided", [](u32 lane, u32) { return lane * 136; }},
    {"overlapping", [](u32 lane, u32) { return lane / 3 * 2; }},
};

struct Form {
  const char* name;
  u32 bytes;
};
const Form kForms[] = {{"ubyte", 1}, {"ushort", 2}, {"dword", 4}, {"dwordx2", 8}, {"dwordx3", 12}, {"dwordx4", 16}};
const Form kLdsForms[] = {{"u8", 1}, {"u16", 2}, {"b32", 4}, {"b64", 8}, {"b96", 12}, {"b128", 16}};

class AccessPatternTest : public testing::Test {
 protected:
  AccessPatternTest() : space_(AddressSpace::create().value()), memory_(*space_->allocate(kBytes, "mem")) {
    wave_.vgprs = registers_.data();
    wave_.lds = lds_.data();
    wave_.lds_size = kBytes;
    wave_.set_scalar64(2, memory_);
    global_ = *space_->host_range(memory_, kBytes);
  }

  // Registers and both memories anew, the addresses of the pattern in v0 (offsets) and v[2:3] (addresses).
  void prepare(const Pattern& pattern, u32 size, u64 exec) {
    for (u32& word : registers_) word = static_cast<u32>(random_());
    for (u32 at = 0; at < kBytes; ++at) lds_[at] = global_[at] = static_cast<std::byte>(random_());
    wave_.set_exec(exec);
    offsets_.clear();
    for (u32 lane = 0; lane < kWaveSize; ++lane) {
      offsets_.push_back(pattern.offset(lane, size));
      const u64 address = memory_ + offsets_.back();
      wave_.vgpr(0)[lane] = offsets_.back();
      wave_.vgpr(2)[lane] = static_cast<u32>(address);
      wave_.vgpr(3)[lane] = static_cast<u32>(address >> 32);
    }
  }
  void execute(const std::string& text) {
    std::string error;
    const std::vector<std::byte> code = assemble(text + "\ns_endpgm\n", error);
    ASSERT_EQ(error, "") << text;
    Program program({{kCode, code}});
    const Inst* inst = program.at(kCode);
    inst->execute(wave_, *inst);
  }
  // v[4:7] <- `bytes` at each active lane's offset plus `immediate`, dword by dword.
  void load_and_compare(const std::string& text, const std::byte* memory, u32 bytes, u32 immediate, u32 first = 4) {
    const std::vector<u32> before = registers_;
    execute(text);
    const u32 dwords = (bytes + 3) / 4;
    for (u32 lane = 0; lane < kWaveSize; ++lane) {
      u32 expected[4] = {};
      std::memcpy(expected, memory + offsets_[lane] + immediate, bytes);
      for (u32 d = 0; d < dwords; ++d) {
        const size_t at = size_t{first + d} * kWaveSize + lane;
        const bool active = (wave_.exec() >> lane & 1) != 0;
        ASSERT_EQ(registers_[at], active ? expected[d] : before[at]) << text << ", lane " << lane << ", dword " << d;
      }
    }
  }
  void store_and_compare(const std::string& text, std::byte* memory, u32 bytes, u32 immediate) {
    std::vector<std::byte> expected(memory, memory + kBytes);
    for (u32 lane = 0; lane < kWaveSize; ++lane) {
      u32 data[4];
      for (u32 d = 0; d < 4; ++d) data[d] = wave_.vgpr(4 + d)[lane];
      if ((wave_.exec() >> lane & 1) != 0) std::memcpy(expected.data() + offsets_[lane] + immediate, data, bytes);
    }
    execute(text);
    ASSERT_EQ(std::memcmp(expected.data(), memory, kBytes), 0) << text;
  }
  template <typename Check>
  void for_each(std::span<const Form> forms, Check check) {
    for (const Pattern& pattern : kPatterns)
      for (const u64 exec : {kAll, u64{0x5555555555555555}, kAll << 1, u64{1}})
        for (const Form& form : forms) {
          SCOPED_TRACE(std::string(pattern.name) + ", " + form.name);
          prepare(pattern, form.bytes, exec);
          check(form);
          if (HasFatalFailure()) return;
        }
  }

  std::mt19937 random_{1};
  std::unique_ptr<AddressSpace> space_;
  u64 memory_;
  std::byte* global_ = nullptr;
  std::vector<std::byte> lds_ = std::vector<std::byte>(kBytes);
  std::vector<u32> registers_ = std::vector<u32>(size_t{kVgprs} * kWaveSize);
  Wave wave_{*space_};
  Offsets offsets_;
};

std::string register_range(u32 bytes) { return bytes <= 4 ? "v4" : "v[4:" + std::to_string(3 + bytes / 4) + "]"; }
std::string stored(const char* form) { return form[0] == 'u' ? form + 1 : form; }

TEST_F(AccessPatternTest, GlobalLoads) {
  for_each(kForms, [&](const Form& form) {
    const std::string name = std::string("global_load_") + form.name + " " + register_range(form.bytes);
    load_and_compare(name + ", v0, s[2:3]", global_, form.bytes, 0);
    load_and_compare(name + ", v[2:3], off offset:20", global_, form.bytes, 20);
  });
}

TEST_F(AccessPatternTest, GlobalStores) {
  for_each(kForms, [&](const Form& form) {
    const std::string name = "global_store_" + stored(form.name) + " ";
    store_and_compare(name + "v0, " + register_range(form.bytes) + ", s[2:3]", global_, form.bytes, 0);
    store_and_compare(name + "v[2:3], " + register_range(form.bytes) + ", off offset:20", global_, form.bytes, 20);
  });
}

TEST_F(AccessPatternTest, LdsReads) {
  for_each(kLdsForms, [&](const Form& form) {
    load_and_compare(std::string("ds_read_") + form.name + " " + register_range(form.bytes) + ", v0 offset:20",
                     lds_.data(), form.bytes, 20);
  });
}

TEST_F(AccessPatternTest, LdsWrites) {
  for_each(kLdsForms, [&](const Form& form) {
    const std::string width = form.bytes == 1 ? "b8" : (form.bytes == 2 ? "b16" : form.name);
    store_and_compare("ds_write_" + width + " v0, " + register_range(form.bytes) + " offset:20", lds_.data(),
                      form.bytes, 20);
  });
}

TEST_F(AccessPatternTest, LdsReadsOfTwoElements) {
  constexpr Form kPairs[] = {{"b32", 4}, {"b64", 8}};
  for_each(kPairs, [&](const Form& form) {
    const u32 dwords = form.bytes / 4;
    const std::string registers = "v[4:" + std::to_string(3 + 2 * dwords) + "]";
    // The second element is what the first comparison does not look at.
    load_and_compare(std::string("ds_read2_") + form.name + " " + registers + ", v0 offset0:3 offset1:9", lds_.data(),
                     form.bytes, 3 * form.bytes);
    load_and_compare(std::string("ds_read2_") + form.name + " " + registers + ", v0 offset0:3 offset1:9", lds_.data(),
                     form.bytes, 9 * form.bytes, 4 + dwords);
  });
}

TEST_F(AccessPatternTest, AnAccessPastTheEndIsStillAFault) {
  prepare({"", [](u32 lane, u32) { return kBytes - 256 + 4 * lane; }}, 4, kAll);
  execute("global_load_dword v4, v0, s[2:3]");
  EXPECT_THROW(execute("global_load_dword v4, v0, s[2:3] offset:4"), GuestFault);
  EXPECT_THROW(execute("ds_read_b32 v4, v0 offset:4"), GuestFault);
  EXPECT_THROW(execute("ds_write_b32 v0, v4 offset:4"), GuestFault);
  EXPECT_THROW(execute("global_store_dword v0, v4, s[2:3] offset:4"), GuestFault);
}

}  // namespace
}  // namespace hipbench::emulator
