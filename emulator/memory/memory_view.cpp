#include <fmt/format.h>

#include "emulator/memory/address_space.hpp"

namespace hipbench::emulator {

std::byte* MemoryView::lookup(u64 address, u32 size, int lane) {
  const Allocation* allocation = space_->find(address);
  if (allocation != nullptr && allocation->size - (address - allocation->base) >= size) {
    last_ = Window{allocation->base, allocation->size, allocation->host, allocation->writable};
    return last_.host + (address - last_.base);
  }
  throw GuestFault{FaultKind::OutOfBounds,
                   fmt::format("access of {} bytes at {:#x}: {}", size, address, space_->describe(address)), address,
                   size, lane};
}

void MemoryView::fault_read_only(u64 address, u32 size, int lane) const {
  throw GuestFault{
      FaultKind::WriteToReadOnly,
      fmt::format("write of {} bytes to read-only memory at {:#x}: {}", size, address, space_->describe(address)),
      address, size, lane};
}

bool MemoryView::covers(u64 low, u64 high) {
  if (high < low) return false;
  if (low - last_.base >= last_.size) {
    const Allocation* allocation = space_->find(low);
    if (allocation == nullptr) return false;
    last_ = Window{allocation->base, allocation->size, allocation->host, allocation->writable};
  }
  return high - last_.base <= last_.size;
}

}  // namespace hipbench::emulator
