#include "emulator/device/hostcall.hpp"

#include <fmt/format.h>

#include <atomic>
#include <bit>
#include <cstring>
#include <optional>

#include "emulator/device/device.hpp"
#include "emulator/device/device_printf.hpp"

namespace hipbench::emulator {

namespace {

// A wave holds at most one packet, and the device libraries rely on there being one for every wave the chip can hold.
constexpr u64 kPackets = mi300x::kComputeUnits * mi300x::kSimdsPerCu * mi300x::kWavesPerSimd;
constexpr u64 kIndexMask = std::bit_ceil(kPackets) - 1;  // stack entries are an index with a tag above it

// Layout of the buffer in guest memory.
struct Buffer {
  u64 headers, payloads, doorbell, free_stack, ready_stack, index_mask;
};
struct Header {
  u64 next, active_mask;
  u32 service, control;  // control bit 0: waiting for the host
};
static_assert(sizeof(Header) == 24);
// amd_signal_t: adding to a signal with a mailbox makes the device libraries send the interrupt message that we poll
// on.
struct Signal {
  i64 kind = 1;  // user signal
  i64 value = 1;
  u64 mailbox = 0;
  u32 event_id = 1, padding = 0;
  u64 unused[4] = {};
};
constexpr u64 kSignalOffset = 64, kMailboxOffset = 192, kHeadersOffset = 256;
constexpr u64 kPayloadBytes = 64 * 64;  // 64 lanes of eight words
constexpr u64 kPayloadsOffset =
    (kHeadersOffset + kPackets * sizeof(Header) + kPayloadBytes - 1) / kPayloadBytes * kPayloadBytes;
constexpr u64 kBufferBytes = kPayloadsOffset + kPackets * kPayloadBytes;

constexpr u64 kHeapBytes = 128 * 1024;
constexpr u64 kSlabBytes = u64{2} << 20;  // a slab finds its header by masking addresses: it is aligned to its size

enum Service : u32 { kFunctionCall = 1, kPrintf = 2, kDeviceMemory = 3 };

// The first word of a printf packet: bit 0 begins a message, bit 1 ends it, bits 5 to 7 count the words of text and
// arguments that follow, the rest is the message's id (given by the host when it begins).
constexpr u64 kBegin = 1, kEnd = 2;
constexpr u64 kMostMessageWords = u64{32} << 20;  // unfinished text in all: 256 MiB
constexpr u64 kPrintFailed = ~u64{0};

template <typename T>
std::atomic_ref<T> guest_word(std::byte* at) {
  return std::atomic_ref<T>(*reinterpret_cast<T*>(at));
}

}  // namespace

Result<std::unique_ptr<HostcallService>> HostcallService::create(AddressSpace& memory,
                                                                 std::function<void(std::string_view)> print) {
  std::unique_ptr<HostcallService> service(new HostcallService(memory, std::move(print)));
  service->buffer_ = TRY(memory.allocate(kBufferBytes, "hostcall buffer"));
  service->host_ = TRY(memory.host_range(service->buffer_, 1));
  service->heap_ = TRY(memory.allocate(kHeapBytes, "device malloc heap"));
  service->reset_packets();
  return service;
}

void HostcallService::reset_packets() {
  // The free stack holds every packet once; index 0 carries a tag, since a stack entry of 0 means empty.
  u64 next = 0;
  for (u64 i = 0; i < kPackets; ++i) {
    const Header header{.next = next, .active_mask = 0, .service = 0, .control = 0};
    std::memcpy(host_ + kHeadersOffset + i * sizeof(Header), &header, sizeof(header));
    next = i == 0 ? kIndexMask + 1 : i;
  }
  const Buffer buffer{.headers = buffer_ + kHeadersOffset,
                      .payloads = buffer_ + kPayloadsOffset,
                      .doorbell = buffer_ + kSignalOffset,
                      .free_stack = next,
                      .ready_stack = 0,
                      .index_mask = kIndexMask};
  std::memcpy(host_, &buffer, sizeof(buffer));
  const Signal signal{.mailbox = buffer_ + kMailboxOffset};
  std::memcpy(host_ + kSignalOffset, &signal, sizeof(signal));
}

void HostcallService::poll() {
  const auto ready = guest_word<u64>(host_ + offsetof(Buffer, ready_stack));
  if (ready.load(std::memory_order_acquire) == 0) return;
  const std::lock_guard lock(mutex_);
  for (u64 entry = ready.exchange(0, std::memory_order_acquire); entry != 0;) {
    const u64 index = entry & kIndexMask;
    if (index >= kPackets) return;  // the kernel wrote over its own buffer: its waves will wait in vain
    std::byte* header = host_ + kHeadersOffset + index * sizeof(Header);
    const auto control = guest_word<u32>(header + offsetof(Header, control));
    if ((control.load(std::memory_order_acquire) & 1) == 0) return;  // likewise, or a cycle
    entry = guest_word<u64>(header + offsetof(Header, next)).load(std::memory_order_relaxed);
    const u32 service = guest_word<u32>(header + offsetof(Header, service)).load(std::memory_order_relaxed);
    u64 lanes = guest_word<u64>(header + offsetof(Header, active_mask)).load(std::memory_order_relaxed);
    for (; lanes != 0; lanes &= lanes - 1) {
      std::byte* payload =
          host_ + kPayloadsOffset + index * kPayloadBytes + static_cast<u64>(std::countr_zero(lanes)) * sizeof(Slot);
      Slot slot;
      std::memcpy(slot, payload, sizeof(slot));
      serve(service, slot);
      std::memcpy(payload, slot, 2 * sizeof(u64));
    }
    control.store(0, std::memory_order_release);
  }
}

void HostcallService::serve(u32 service, u64* slot) {
  switch (service) {
    case kPrintf:
      serve_printf(slot);
      break;
    case kDeviceMemory:
      serve_memory(slot);
      break;
    case kFunctionCall:
      print_("hipbench: device code asked for a call of a host function, which this device does not do\n");
      slot[0] = slot[1] = 0;
      break;
    default:
      print_(fmt::format("hipbench: device code asked for the unknown host service {}\n", service));
      slot[0] = slot[1] = 0;
  }
}

void HostcallService::serve_printf(u64* slot) {
  const u64 descriptor = slot[0], words = descriptor >> 5 & 7;
  u64 id = descriptor >> 8;
  if ((descriptor & kBegin) != 0) {
    id = next_message_++;
    messages_[id];
  }
  const auto found = messages_.find(id);
  if (found == messages_.end() || message_words_ + words > kMostMessageWords) {
    slot[0] = kPrintFailed;
    return;
  }
  std::vector<u64>& message = found->second;
  message.insert(message.end(), slot + 1, slot + 1 + words);
  message_words_ += words;
  if ((descriptor & kEnd) == 0) {
    slot[0] = (id << 8) | (descriptor & 0xfe);  // what the lane sends with the next part
    return;
  }
  // The first word of the message tells standard output (0) from standard error (1); both are the same stream here.
  std::string text;
  if (!message.empty()) text = format_device_printf(std::span(message).subspan(1));
  message_words_ -= message.size();
  messages_.erase(found);
  if (!text.empty()) print_(text);
  slot[0] = text.size();
}

void HostcallService::serve_memory(u64* slot) {
  const u64 address = slot[0], size = slot[1];
  if (address == 0) {
    slot[0] = allocate(size);
    return;
  }
  const auto found = live_.find(address);
  if (found == live_.end()) {
    print_(fmt::format("hipbench: device code freed {:#x}, which device malloc did not return\n", address));
    return;
  }
  // Nothing is unmapped while a kernel runs: kept for the next request of this size, or until the launch ends.
  returned_.emplace(found->second, address);
  live_.erase(found);
}

// Device memory for malloc's large requests and for the slabs that its small ones come from; 0 = none left.
u64 HostcallService::allocate(u64 size) {
  u64 address = 0;
  if (const auto kept = returned_.find(size); kept != returned_.end()) {
    address = kept->second;
    returned_.erase(kept);
  } else {
    const bool is_slab = size == kSlabBytes;
    const auto fresh =
        memory_.allocate(size, is_slab ? "device malloc slab" : "device malloc", true, is_slab ? kSlabBytes : 4096);
    if (!fresh) return 0;
    address = *fresh;
  }
  live_.emplace(address, size);
  return address;
}

void HostcallService::end_launch(bool completed) {
  const std::lock_guard lock(mutex_);
  for (const auto& [size, address] : returned_)
    CHECK(memory_.free(address).has_value(), "device malloc's own allocation");
  returned_.clear();
  messages_.clear();
  message_words_ = 0;
  if (!completed) reset_packets();
}

}  // namespace hipbench::emulator
