#pragma once
// The sorted table behind AddressSpace::find: readers take no lock and never wait.
//
// A reader sees an immutable prefix of a sorted array. The writer (one at a time, under the address space's mutex)
// appends in place where it can, marks freed entries with null, and publishes a new array for anything else. Old arrays
// are kept until release_retired(), which is called only while no kernel runs.

#include <atomic>
#include <memory>
#include <vector>

#include "emulator/memory/address_space.hpp"

namespace hipbench::emulator {

class AllocationTable {
 public:
  AllocationTable();
  const Allocation* find(u64 address) const;
  void insert(const Allocation* allocation);
  void erase(u64 base);
  void release_retired() { retired_.clear(); }

 private:
  struct Entry {
    u64 base = 0;
    std::atomic<const Allocation*> allocation{nullptr};
  };
  struct Array {
    explicit Array(size_t capacity) : entries(capacity) {}
    std::vector<Entry> entries;
    std::atomic<size_t> count{0};
    void push(const Allocation* allocation);
  };
  void rebuild(const Allocation* added);

  std::unique_ptr<Array> owned_;
  std::atomic<const Array*> current_;
  size_t erased_ = 0;  // null entries in the current array
  std::vector<std::unique_ptr<Array>> retired_;
};

}  // namespace hipbench::emulator
