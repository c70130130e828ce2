#include "emulator/memory/address_space.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include "emulator/memory/allocation_table.hpp"
#include "emulator/memory/resident_budget.hpp"

namespace hipbench::emulator {

namespace {

constexpr u64 kPage = 4096;
constexpr u64 kRedZone = 4096;
constexpr u64 kFar = u64{1} << 40;  // beyond this no buffer helps to explain an address
constexpr u64 kDeviceAddresses = kHostSharedBase - kDeviceMemoryBase;  // 1 TiB of addresses for 192 GiB of memory
constexpr size_t kFreedRemembered = 512;                               // for use-after-free reports

constexpr u64 round_up(u64 value, u64 unit) { return (value + unit - 1) / unit * unit; }

// A run of guest addresses and the host addresses reserved for them.
struct Region {
  u64 base = 0, size = 0;
  std::byte* host = nullptr;
  u64 cursor = 0;             // where the search for free addresses goes on
  std::map<u64, u64> blocks;  // base -> end (rounded to pages) of what is in use
  AllocationTable table;

  bool holds(u64 address) const { return address - base < size; }
  std::byte* host_at(u64 address) const { return host + (address - base); }

  // The next free run of `bytes` with red zones on both sides, going on from the cursor and once round; 0 = none.
  u64 take(u64 bytes, u64 alignment = kPage) {
    for (const u64 start : {cursor, base + kRedZone}) {
      u64 at = start;
      auto next = blocks.upper_bound(at);
      if (next != blocks.begin()) at = std::max(at, std::prev(next)->second + kRedZone);
      at = round_up(at, alignment);
      for (; at + bytes + kRedZone <= base + size; ++next) {
        // (Rounding up may have gone past the start of `next`; then this fails and the search goes on behind it.)
        if (next == blocks.end() || at + bytes + kRedZone <= next->first) {
          blocks[at] = at + bytes;
          cursor = at + bytes + kRedZone;
          return at;
        }
        at = round_up(next->second + kRedZone, alignment);
      }
    }
    return 0;
  }
};

Result<std::byte*> reserve(u64 size) {
  void* host = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (host == MAP_FAILED)
    return Error{
        fmt::format("cannot reserve {} GiB of addresses for device memory: {}. Raise the address-space limit "
                    "(ulimit -v unlimited) and set vm.overcommit_memory to 0 or 1",
                    size >> 30, std::strerror(errno))};
  // Huge pages would let one strided instruction touch 128 MiB, which no budget check could catch in time.
  madvise(host, size, MADV_NOHUGEPAGE);
  madvise(host, size, MADV_DONTDUMP);
  return static_cast<std::byte*>(host);
}

// Gives the pages of [host, host + bytes) back; they read as zero afterwards.
void drop_pages(std::byte* host, u64 bytes) {
  void* again =
      mmap(host, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  CHECK(again == host, "remapping our own reservation cannot fail");
  madvise(host, bytes, MADV_NOHUGEPAGE);
  madvise(host, bytes, MADV_DONTDUMP);
}

}  // namespace

struct AddressSpace::Impl {
  explicit Impl(ResidentBudget b) : budget(std::move(b)) {}

  // What one allocate call made, and what one free call takes back.
  struct Block {
    std::vector<std::unique_ptr<Allocation>> allocations;
    u64 used = 0;  // bytes counted as in use
    UniqueFd fd;   // of shared memory
  };
  struct Freed {
    u64 base, size;
    std::string label;
  };

  ResidentBudget budget;
  mutable std::mutex mutex;
  std::condition_variable unpinned;
  int pins = 0;
  Region device, shared;
  std::map<u64, Block> blocks;              // by the base that free() takes
  std::map<u64, const Allocation*> sorted;  // every live allocation
  std::deque<Freed> freed;
  u64 used = 0;
  std::atomic<u64> shared_bytes{0};
  mutable std::atomic<i64> budget_checked_us{0};
  mutable std::atomic<bool> budget_exceeded{false};

  Region& region_of(u64 address) { return shared.holds(address) ? shared : device; }
  void publish(Region& region, Block& block) {
    for (const auto& allocation : block.allocations) {
      sorted[allocation->base] = allocation.get();
      region.table.insert(allocation.get());
    }
  }
  Result<u64> add(std::span<const Segment> segments, u64 alignment);
  const Allocation* holding(u64 address) const {
    auto after = sorted.upper_bound(address);
    if (after == sorted.begin()) return nullptr;
    const Allocation* allocation = std::prev(after)->second;
    return address - allocation->base < allocation->size ? allocation : nullptr;
  }
};

AddressSpace::AddressSpace(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

AddressSpace::~AddressSpace() {
  for (Region* region : {&impl_->device, &impl_->shared})
    if (region->host != nullptr) munmap(region->host, region->size);
}

Result<std::unique_ptr<AddressSpace>> AddressSpace::create(u64 resident_budget) {
  auto impl = std::make_unique<Impl>(TRY(ResidentBudget::create(resident_budget)));
  std::unique_ptr<AddressSpace> space(new AddressSpace(std::move(impl)));
  const auto set_up = [](Region& region, u64 base, u64 size) -> Result<void> {
    region.host = TRY(reserve(size));
    region.base = base;
    region.size = size;
    region.cursor = base + kRedZone;
    return {};
  };
  TRY(set_up(space->impl_->device, kDeviceMemoryBase, kDeviceAddresses));
  TRY(set_up(space->impl_->shared, kHostSharedBase, kHostSharedSize));
  return space;
}

Result<u64> AddressSpace::Impl::add(std::span<const Segment> segments, u64 alignment) {
  const u64 bytes = round_up(segments.back().offset + segments.back().size, kPage);
  u64 wanted = 0;
  for (const Segment& segment : segments) wanted += segment.size;
  std::lock_guard lock(mutex);
  if (wanted > kDeviceMemorySize - used)
    return Error{fmt::format("out of device memory: {} bytes asked for '{}', {} of {} free", wanted,
                             segments.front().label, kDeviceMemorySize - used, kDeviceMemorySize)};
  const u64 base = device.take(bytes, alignment);
  if (base == 0) return Error{fmt::format("out of device memory: no free run of {} addresses", bytes)};
  Block block;
  block.used = wanted;
  for (const Segment& segment : segments) {
    const u64 at = base + segment.offset;
    block.allocations.push_back(std::make_unique<Allocation>(
        Allocation{.base = at,
                   .size = segment.size,
                   .host = device.host_at(at),
                   .writable = segment.writable,
                   .label = segment.label,
                   .code = segment.code}));
  }
  publish(device, block);
  blocks.emplace(base, std::move(block));
  used += wanted;
  return base;
}

Result<u64> AddressSpace::allocate(u64 size, std::string label, bool writable, u64 alignment) {
  const Segment segment{0, size, writable, std::move(label)};
  return allocate_group({&segment, 1}, alignment);
}

Result<u64> AddressSpace::allocate_group(std::span<const Segment> segments, u64 alignment) {
  if (segments.empty()) return Error{"an allocation needs at least one segment"};
  u64 end = 0;
  for (const Segment& segment : segments) {
    if (segment.size == 0) return Error{fmt::format("allocation '{}' of 0 bytes", segment.label)};
    if (segment.offset < end || segment.offset > kDeviceMemorySize || segment.size > kDeviceMemorySize)
      return Error{fmt::format("out of device memory: '{}' wants {} bytes at offset {}, after {}", segment.label,
                               segment.size, segment.offset, end)};
    end = segment.offset + segment.size;
  }
  return impl_->add(segments, std::max(alignment, kPage));
}

Result<AddressSpace::Shared> AddressSpace::allocate_shared(u64 size, std::string label) {
  if (size == 0 || size > kHostSharedSize) return Error{fmt::format("shared allocation '{}' of {} bytes", label, size)};
  const u64 bytes = round_up(size, kPage);
  if (impl_->budget.exceeded(impl_->shared_bytes, bytes))
    return Error{fmt::format("out of memory: {} bytes of shared memory for '{}' do not fit the budget of {} bytes",
                             size, label, impl_->budget.bytes())};
  UniqueFd fd(memfd_create("hipbench-shared", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid() || ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0 ||
      fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return Error{fmt::format("cannot make {} bytes of shared memory: {}", size, std::strerror(errno))};
  std::lock_guard lock(impl_->mutex);
  const u64 base = impl_->shared.take(bytes);
  if (base == 0) return Error{fmt::format("out of shared addresses for {} bytes", size)};
  std::byte* host = impl_->shared.host_at(base);
  if (mmap(host, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd.get(), 0) == MAP_FAILED) {
    impl_->shared.blocks.erase(base);
    return Error{fmt::format("cannot map {} bytes of shared memory: {}", size, std::strerror(errno))};
  }
  Impl::Block block;
  block.allocations.push_back(std::make_unique<Allocation>(Allocation{.base = base, .size = size, .host = host, .label = std::move(label)}));
  const int raw_fd = fd.get();
  block.fd = std::move(fd);
  impl_->publish(impl_->shared, block);
  impl_->blocks.emplace(base, std::move(block));
  impl_->shared_bytes += bytes;
  return Shared{base, raw_fd};
}

Result<void> AddressSpace::free(u64 base) {
  std::unique_lock lock(impl_->mutex);
  impl_->unpinned.wait(lock, [&] { return impl_->pins == 0; });
  const auto found = impl_->blocks.find(base);
  if (found == impl_->blocks.end()) {
    const Allocation* inside = impl_->holding(base);
    return Error{inside != nullptr
                     ? fmt::format("free of {:#x}, which lies inside '{}' but is not its start", base, inside->label)
                     : fmt::format("free of {:#x}, where nothing is allocated", base)};
  }
  Region& region = impl_->region_of(base);
  Impl::Block& block = found->second;
  for (const auto& allocation : block.allocations) {
    region.table.erase(allocation->base);
    impl_->sorted.erase(allocation->base);
    impl_->freed.push_back({allocation->base, allocation->size, allocation->label});
    if (written_.enabled() && impl_->device.holds(base))
      written_.forget(allocation->base - kDeviceMemoryBase, allocation->size);
  }
  while (impl_->freed.size() > kFreedRemembered) impl_->freed.pop_front();
  const u64 bytes = region.blocks.at(base) - base;
  drop_pages(region.host_at(base), bytes);
  region.blocks.erase(base);
  impl_->used -= block.used;
  if (block.fd.valid()) impl_->shared_bytes -= bytes;
  impl_->blocks.erase(found);
  region.table.release_retired();
  return {};
}

Result<void> AddressSpace::set_label(u64 base, std::string label) {
  std::unique_lock lock(impl_->mutex);
  impl_->unpinned.wait(lock, [&] { return impl_->pins == 0; });
  const auto found = impl_->blocks.find(base);
  if (found == impl_->blocks.end()) return Error{fmt::format("no allocation starts at {:#x}", base)};
  found->second.allocations.front()->label = std::move(label);
  return {};
}

Result<void> AddressSpace::watch(u64 base, std::atomic<bool>* touched, u64 open_begin, u64 open_end) {
  std::unique_lock lock(impl_->mutex);
  impl_->unpinned.wait(lock, [&] { return impl_->pins == 0; });
  const auto found = impl_->blocks.find(base);
  if (found == impl_->blocks.end()) return Error{fmt::format("no allocation starts at {:#x}", base)};
  Allocation& allocation = *found->second.allocations.front();
  allocation.touched = touched;
  allocation.open_begin = open_begin;
  allocation.open_end = open_end;
  return {};
}

const Allocation* AddressSpace::find(u64 address) const {
  if (impl_->device.holds(address)) return impl_->device.table.find(address);
  if (impl_->shared.holds(address)) return impl_->shared.table.find(address);
  return nullptr;
}

AddressSpace::Pin::Pin(AddressSpace& space) : space_(space) {
  std::lock_guard lock(space_.impl_->mutex);
  ++space_.impl_->pins;
}

AddressSpace::Pin::~Pin() {
  std::lock_guard lock(space_.impl_->mutex);
  if (--space_.impl_->pins == 0) space_.impl_->unpinned.notify_all();
}

Result<void> AddressSpace::start_tracking() {
  const std::lock_guard lock(impl_->mutex);
  try {
    written_.enable(impl_->device.size);
  } catch (const std::bad_alloc&) {
    return Error{"cannot reserve the addresses that the memory checks need. Raise the address-space limit (ulimit -v)"};
  }
  return {};
}

void AddressSpace::track(u64 base) {
  const std::lock_guard lock(impl_->mutex);
  const Allocation* allocation = impl_->holding(base);
  if (written_.enabled() && allocation != nullptr && impl_->device.holds(base))
    written_.track(allocation->base - kDeviceMemoryBase, allocation->size);
}

void AddressSpace::mark_written(u64 address, u64 size) {
  if (written_.enabled() && impl_->device.holds(address)) written_.mark(address - kDeviceMemoryBase, size);
}

void AddressSpace::forget_tracked() {
  if (!written_.enabled()) return;
  const std::lock_guard lock(impl_->mutex);
  for (const auto& [base, allocation] : impl_->sorted)
    if (impl_->device.holds(base)) written_.forget(base - kDeviceMemoryBase, allocation->size);
}

std::span<std::byte> AddressSpace::device_window() const { return {impl_->device.host, impl_->device.size}; }

bool AddressSpace::over_budget() const {
  using namespace std::chrono;
  const i64 now_us = duration_cast<microseconds>(steady_clock::now().time_since_epoch()).count();
  i64 last = impl_->budget_checked_us.load(std::memory_order_relaxed);
  if (now_us - last >= 1000 && impl_->budget_checked_us.compare_exchange_strong(last, now_us))
    impl_->budget_exceeded.store(impl_->budget.exceeded(impl_->shared_bytes.load()), std::memory_order_relaxed);
  return impl_->budget_exceeded.load(std::memory_order_relaxed);
}

u64 AddressSpace::used() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->used;
}

Result<std::byte*> AddressSpace::host_range(u64 address, u64 size) const {
  std::byte* host = nullptr;
  {
    std::lock_guard lock(impl_->mutex);
    const Allocation* allocation = impl_->holding(address);
    if (allocation == nullptr || allocation->size - (address - allocation->base) < size)
      return Error{fmt::format("{} bytes at {:#x} are not in one buffer", size, address)};
    host = allocation->host + (address - allocation->base);
  }
  constexpr u64 kAlwaysFits = u64{1} << 20;
  if (size < kAlwaysFits || !impl_->budget.exceeded(impl_->shared_bytes, size)) return host;
  // Over the budget only if the pages are not there yet.
  std::byte* first = host - reinterpret_cast<std::uintptr_t>(host) % kPage;
  const u64 span = round_up(static_cast<u64>(host - first) + size, kPage);
  std::vector<unsigned char> resident(span / kPage);
  if (mincore(first, span, resident.data()) != 0) return Error{fmt::format("mincore: {}", std::strerror(errno))};
  u64 missing = 0;
  for (const unsigned char page : resident) missing += page & 1 ? 0 : kPage;
  if (missing != 0 && impl_->budget.exceeded(impl_->shared_bytes, missing))
    return Error{
        fmt::format("out of memory: {} bytes at {:#x} do not fit the resident budget of {} bytes on this machine", size,
                    address, impl_->budget.bytes())};
  return host;
}

std::string AddressSpace::describe(u64 address) const {
  std::lock_guard lock(impl_->mutex);
  const auto place = [&](u64 base, u64 size, const std::string& label) {
    return fmt::format("'{}' + {} (its size is {} bytes)", label, address - base, size);
  };
  if (const Allocation* inside = impl_->holding(address)) return place(inside->base, inside->size, inside->label);
  for (auto freed = impl_->freed.rbegin(); freed != impl_->freed.rend(); ++freed)
    if (address - freed->base < freed->size)
      return fmt::format("use after free of '{}' + {} (its size was {} bytes)", freed->label, address - freed->base,
                         freed->size);
  if (address < kPage) return "a null pointer";
  auto after = impl_->sorted.upper_bound(address);
  // A little past the end of a buffer is an overrun of that buffer; anything else is told by its nearest neighbours.
  if (after != impl_->sorted.begin()) {
    const Allocation* below = std::prev(after)->second;
    const u64 past = address - (below->base + below->size);
    if (past < kRedZone)
      return fmt::format("{} past the end of '{}' ({} bytes)",
                         past == 0 ? "right" : fmt::format("{} byte{}", past, past == 1 ? "" : "s"), below->label,
                         below->size);
  }
  if (after != impl_->sorted.end() && after->second->base - address <= kRedZone)
    return fmt::format("{} bytes before the start of '{}'", after->second->base - address, after->second->label);
  if (after == impl_->sorted.begin()) return "in no buffer";
  const Allocation* below = std::prev(after)->second;
  if (address - below->base > kFar) return "in no buffer, nor near one (is it a host pointer, or not initialised?)";
  return fmt::format("in no buffer (the nearest below is {})", place(below->base, below->size, below->label));
}

}  // namespace hipbench::emulator
