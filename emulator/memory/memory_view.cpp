#include <fmt/format.h>

#include "emulator/memory/address_space.hpp"

namespace hipbench::emulator {

namespace {

constexpr bool is_shared(u64 address) { return address - kHostSharedBase < kHostSharedSize; }

}  // namespace

bool MemoryView::remember(u64 address) {
  for (u32 k = 0; k < kWindows; ++k)
    if (address - windows_[k].base < windows_[k].size) {
      last_ = k;
      return true;
    }
  const Allocation* allocation = space_->find(address);
  if (allocation == nullptr) return false;
  last_ = oldest_;
  oldest_ = (oldest_ + 1) % kWindows;
  if (allocation->touched != nullptr) {
    const u64 open = allocation->open_end - allocation->open_begin;
    if (address - allocation->base - allocation->open_begin < open) {
      windows_[last_] = Window{allocation->base + allocation->open_begin, open, allocation->host + allocation->open_begin, false};
      return true;
    }
    allocation->touched->store(true, std::memory_order_relaxed);
  }
  const bool shared = is_shared(allocation->base);
  windows_[last_] = Window{allocation->base, allocation->size, allocation->host, allocation->writable && !shared};
  return true;
}

std::byte* MemoryView::lookup(u64 address, u32 size, int lane, const char* access) {
  if (remember(address)) {
    const Window& window = windows_[last_];
    if (window.size - (address - window.base) >= size) return window.host + (address - window.base);
    // Across the end of the open part of something watched.
    const Allocation* whole = space_->find(address);
    if (whole->touched != nullptr && whole->size - (address - whole->base) >= size) {
      whole->touched->store(true, std::memory_order_relaxed);
      return whole->host + (address - whole->base);
    }
  }
  throw GuestFault{FaultKind::OutOfBounds,
                   fmt::format("{} of {} byte{} at {:#x}: {}", access, size, size == 1 ? "" : "s", address,
                               space_->describe(address)),
                   address, size, lane};
}

void MemoryView::write_unlike_others(u64 address, u32 size, int lane, u32 lanes) const {
  if (is_shared(windows_[last_].base)) return space_->note_write_to_host(u64{size} * lanes);
  throw GuestFault{FaultKind::WriteToReadOnly,
                   fmt::format("write of {} byte{} to read-only memory at {:#x}: {}", size, size == 1 ? "" : "s",
                               address, space_->describe(address)),
                   address, size, lane};
}

}  // namespace hipbench::emulator
