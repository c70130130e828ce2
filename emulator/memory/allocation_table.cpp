#include "emulator/memory/allocation_table.hpp"

#include <algorithm>

namespace hipbench::emulator {

AllocationTable::AllocationTable() : owned_(std::make_unique<Array>(64)), current_(owned_.get()) {}

void AllocationTable::Array::push(const Allocation* allocation) {
  const size_t index = count.load(std::memory_order_relaxed);
  entries[index].base = allocation->base;
  entries[index].allocation.store(allocation, std::memory_order_relaxed);
  count.store(index + 1, std::memory_order_release);
}

const Allocation* AllocationTable::find(u64 address) const {
  const Array& array = *current_.load(std::memory_order_acquire);
  const auto begin = array.entries.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(array.count.load(std::memory_order_acquire));
  const auto after = std::upper_bound(begin, end, address, [](u64 a, const Entry& entry) { return a < entry.base; });
  if (after == begin) return nullptr;
  const Allocation* allocation = std::prev(after)->allocation.load(std::memory_order_acquire);
  return allocation != nullptr && address - allocation->base < allocation->size ? allocation : nullptr;
}

void AllocationTable::insert(const Allocation* allocation) {
  const size_t count = owned_->count.load(std::memory_order_relaxed);
  const bool is_last = count == 0 || owned_->entries[count - 1].base < allocation->base;
  if (is_last && count < owned_->entries.size())
    owned_->push(allocation);
  else
    rebuild(allocation);
}

void AllocationTable::erase(u64 base) {
  auto& entries = owned_->entries;
  const auto end = entries.begin() + static_cast<std::ptrdiff_t>(owned_->count.load(std::memory_order_relaxed));
  const auto entry = std::lower_bound(entries.begin(), end, base, [](const Entry& e, u64 b) { return e.base < b; });
  CHECK(entry != end && entry->base == base, "every live allocation has its entry");
  entry->allocation.store(nullptr, std::memory_order_release);
  // Rebuilding when half the entries are dead makes a free cheap on average, whatever the order.
  if (++erased_ > 64 && erased_ * 2 > owned_->count.load(std::memory_order_relaxed)) rebuild(nullptr);
}

void AllocationTable::rebuild(const Allocation* added) {
  const size_t count = owned_->count.load(std::memory_order_relaxed);
  auto fresh = std::make_unique<Array>(std::max<size_t>(64, (count - erased_ + 1) * 2));
  for (size_t i = 0; i < count; ++i) {
    const Allocation* allocation = owned_->entries[i].allocation.load(std::memory_order_relaxed);
    if (allocation == nullptr) continue;
    if (added != nullptr && added->base < allocation->base) fresh->push(std::exchange(added, nullptr));
    fresh->push(allocation);
  }
  if (added != nullptr) fresh->push(added);
  current_.store(fresh.get(), std::memory_order_release);
  retired_.push_back(std::exchange(owned_, std::move(fresh)));
  erased_ = 0;
}

}  // namespace hipbench::emulator
