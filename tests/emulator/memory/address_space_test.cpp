#include "emulator/memory/address_space.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>

#include <cstring>
#include <map>
#include <random>
#include <thread>

namespace hipbench::emulator {
namespace {

using testing::HasSubstr;

std::unique_ptr<AddressSpace> make_space(u64 budget = 0) {
  auto space = AddressSpace::create(budget);
  EXPECT_TRUE(space) << (space ? "" : space.error().message);
  return std::move(space).value();
}

TEST(AddressSpace, GivesAlignedMemoryThatReadsAsZeroAndKeepsWhatIsWritten) {
  auto space = make_space();
  const u64 base = *space->allocate(1000, "a");
  EXPECT_EQ(base % 256, 0u);
  MemoryView view(*space);
  EXPECT_EQ(*view.read(base + 999, 1), std::byte{0});
  *view.write(base + 5, 1) = std::byte{42};
  EXPECT_EQ(**space->host_range(base + 5, 1), std::byte{42});
  EXPECT_EQ(space->used(), 1000u);
}

TEST(AddressSpace, FaultsOneBytePastTheEndAndNamesTheBuffer) {
  auto space = make_space();
  const u64 base = *space->allocate(1000, "c");
  MemoryView view(*space);
  view.read(base + 996, 4);
  try {
    view.read(base + 997, 4, 7);
    FAIL() << "no fault";
  } catch (const GuestFault& fault) {
    EXPECT_EQ(fault.kind, FaultKind::OutOfBounds);
    EXPECT_EQ(fault.lane, 7);
    EXPECT_EQ(fault.address, base + 997);
    EXPECT_THAT(fault.message, HasSubstr("read of 4 bytes"));
    EXPECT_THAT(fault.message, HasSubstr("'c' + 997"));
  }
  try {
    view.write(base + 1000, 2);
    FAIL() << "no fault";
  } catch (const GuestFault& fault) {
    EXPECT_THAT(fault.message, HasSubstr("write of 2 bytes"));
    EXPECT_THAT(fault.message, HasSubstr(": right past the end of 'c' (1000 bytes)"));
  }
  EXPECT_THROW(view.read(base - 1, 1), GuestFault);
  EXPECT_THROW(view.read(base + 1000, 1), GuestFault);
  EXPECT_THROW(view.read(0, 4), GuestFault);
  EXPECT_THROW(view.read(~u64{0} - 3, 8), GuestFault);
  EXPECT_THAT(space->describe(base + 1004), HasSubstr("4 bytes past the end of 'c' (1000 bytes)"));
  EXPECT_THAT(space->describe(16), HasSubstr("a null pointer"));
  EXPECT_THAT(space->describe(0x7fffffff0000), HasSubstr("host pointer"));
}

TEST(AddressSpace, ReadOnlyMemoryFaultsOnWrites) {
  auto space = make_space();
  const u64 base = *space->allocate(64, "code", false);
  MemoryView view(*space);
  view.read(base, 4);
  try {
    view.write(base, 4, 3);
    FAIL() << "no fault";
  } catch (const GuestFault& fault) {
    EXPECT_EQ(fault.kind, FaultKind::WriteToReadOnly);
  }
}

TEST(AddressSpace, UseAfterFreeFaultsAndSaysSo) {
  auto space = make_space();
  const u64 first = *space->allocate(4096, "weights");
  ASSERT_TRUE(space->free(first));
  const u64 second = *space->allocate(4096, "next");
  EXPECT_NE(first, second);
  MemoryView view(*space);
  EXPECT_THROW(view.read(first + 8, 4), GuestFault);
  EXPECT_THAT(space->describe(first + 8), HasSubstr("use after free of 'weights' + 8"));
  EXPECT_FALSE(space->free(first));
  EXPECT_FALSE(space->free(second + 256));
}

TEST(AddressSpace, FreeGivesThePagesBack) {
  auto space = make_space();
  constexpr u64 kSize = u64{64} << 20;
  const u64 base = *space->allocate(kSize, "big");
  std::byte* host = *space->host_range(base, kSize);
  std::memset(host, 1, kSize);
  ASSERT_TRUE(space->free(base));
  std::vector<unsigned char> resident(kSize / 4096);
  ASSERT_EQ(mincore(host, kSize, resident.data()), 0);
  EXPECT_EQ(std::count_if(resident.begin(), resident.end(), [](unsigned char page) { return page & 1; }), 0);
}

TEST(AddressSpace, GroupsKeepDistancesAndAreFreedTogether) {
  auto space = make_space();
  const AddressSpace::Segment segments[] = {
      {0, 0x500, false, "rodata"}, {0x1500, 0x100, false, "code"}, {0x2600, 0x20, true, "data"}};
  const u64 base = *space->allocate_group(segments);
  EXPECT_EQ(space->find(base + 0x15ff)->label, "code");
  EXPECT_EQ(space->find(base + 0x1600), nullptr);
  EXPECT_TRUE(space->find(base + 0x2600)->writable);
  EXPECT_FALSE(space->free(base + 0x1500));
  ASSERT_TRUE(space->free(base));
  EXPECT_EQ(space->find(base + 0x2600), nullptr);
  const AddressSpace::Segment overlapping[] = {{0, 0x500, false, "a"}, {0x400, 0x100, false, "b"}};
  EXPECT_FALSE(space->allocate_group(overlapping));
}

TEST(AddressSpace, HonoursAlignment) {
  auto space = make_space();
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(space->allocate(100, "small"));
    EXPECT_EQ(*space->allocate(u64{2} << 20, "slab", true, u64{2} << 20) % (u64{2} << 20), 0u);
  }
}

TEST(AddressSpace, RefusesMoreThanTheDeviceHas) {
  auto space = make_space();
  EXPECT_FALSE(space->allocate(kDeviceMemorySize + 1, "too much"));
  const u64 half = *space->allocate(kDeviceMemorySize / 2, "half");
  ASSERT_TRUE(space->allocate(kDeviceMemorySize / 2, "other half"));
  EXPECT_FALSE(space->allocate(1, "one more"));
  ASSERT_TRUE(space->free(half));
  EXPECT_TRUE(space->allocate(1, "one more"));
  EXPECT_FALSE(space->allocate(0, "nothing"));
  EXPECT_FALSE(space->allocate(~u64{0}, "overflow"));
}

TEST(AddressSpace, SharedMemoryIsASealedMemfdWithTheSamePages) {
  auto space = make_space();
  const auto shared = *space->allocate_shared(5000, "pinned");
  EXPECT_EQ(fcntl(shared.fd, F_GET_SEALS), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  void* client = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, shared.fd, 0);
  ASSERT_NE(client, MAP_FAILED);
  static_cast<char*>(client)[100] = 'x';
  MemoryView view(*space);
  EXPECT_EQ(*view.read(shared.base + 100, 1), std::byte{'x'});
  EXPECT_THROW(view.read(shared.base + 5000, 1), GuestFault);
  munmap(client, 8192);
  ASSERT_TRUE(space->free(shared.base));
  EXPECT_EQ(fcntl(shared.fd, F_GETFD), -1);
}

TEST(AddressSpace, StopsAtTheResidentBudgetInsteadOfTouchingMore) {
  auto space = make_space(u64{64} << 20);
  const u64 base = *space->allocate(u64{1} << 40 >> 4, "64 GiB");
  EXPECT_FALSE(space->over_budget());
  EXPECT_FALSE(space->host_range(base, u64{256} << 20));
  std::byte* host = *space->host_range(base, 1);
  for (u64 i = 0; i < (u64{80} << 20); i += 4096) host[i] = std::byte{1};
  const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };  // the answer is kept for 1 ms
  pause();
  EXPECT_TRUE(space->over_budget());
  EXPECT_TRUE(space->host_range(base, u64{2} << 20)) << "pages that are there already may still be read";
  EXPECT_FALSE(space->allocate_shared(u64{1} << 20, "pinned"));
  ASSERT_TRUE(space->free(base));
  pause();
  EXPECT_FALSE(space->over_budget());
}

// Random allocations and frees against a plain map.
TEST(AddressSpaceProperty, FindAgreesWithAPlainMap) {
  auto space = make_space();
  std::mt19937_64 random(7);
  std::map<u64, u64> model;
  for (int step = 0; step < 20000; ++step) {
    if (model.empty() || random() % 5 < 3) {
      const u64 size = 1 + random() % (random() % 4 == 0 ? u64{1} << 34 : u64{1} << 16);
      const auto base = space->allocate(size, "x");
      if (!base) continue;
      const auto next = model.lower_bound(*base);
      if (next != model.end()) ASSERT_GE(next->first, *base + size + 4096);
      if (next != model.begin()) ASSERT_GE(*base, std::prev(next)->first + std::prev(next)->second + 4096);
      model[*base] = size;
    } else {
      auto victim = model.lower_bound(kDeviceMemoryBase + random() % (u64{1} << 40));
      if (victim == model.end()) victim = model.begin();
      ASSERT_TRUE(space->free(victim->first));
      model.erase(victim);
    }
    auto probe = model.lower_bound(kDeviceMemoryBase + random() % (u64{1} << 40));
    if (probe == model.end()) continue;
    EXPECT_EQ(space->find(probe->first)->base, probe->first);
    EXPECT_EQ(space->find(probe->first + probe->second - 1)->base, probe->first);
    EXPECT_EQ(space->find(probe->first + probe->second), nullptr);
    EXPECT_EQ(space->find(probe->first - 1), nullptr);
  }
}

TEST(AddressSpace, FindsWithoutLocksWhileOthersAllocate) {
  auto space = make_space();
  const u64 known = *space->allocate(100, "known");
  AddressSpace::Pin pin(*space);
  std::atomic<bool> done = false;
  std::atomic<u64> newest = known;
  std::jthread reader([&] {
    while (!done) {
      ASSERT_EQ(space->find(known + 99)->base, known);
      const u64 base = newest;
      ASSERT_NE(space->find(base), nullptr);
      ASSERT_EQ(space->find(base)->base, base);
    }
  });
  for (int i = 0; i < 5000; ++i) newest = *space->allocate(100, "new");
  done = true;
}

TEST(AddressSpace, FreeWaitsForTheRunningKernel) {
  auto space = make_space();
  const u64 base = *space->allocate(100, "x");
  std::atomic<bool> freed = false;
  std::jthread other;
  {
    AddressSpace::Pin pin(*space);
    other = std::jthread([&] {
      EXPECT_TRUE(space->free(base));
      freed = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(freed);
    EXPECT_NE(space->find(base), nullptr);
  }
  other.join();
  EXPECT_EQ(space->find(base), nullptr);
}

TEST(MemoryView, CoversOnlyRangesInsideOneAllocation) {
  auto space = make_space();
  const u64 base = *space->allocate(1000, "a");
  MemoryView view(*space);
  EXPECT_TRUE(view.covers(base, base + 1000));
  EXPECT_TRUE(view.covers(base + 10, base + 20));
  EXPECT_FALSE(view.covers(base, base + 1001));
  EXPECT_FALSE(view.covers(base - 1, base + 10));
  EXPECT_FALSE(view.covers(base + 20, base + 10));
}

}  // namespace
}  // namespace hipbench::emulator
