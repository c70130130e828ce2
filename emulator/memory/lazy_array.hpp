#pragma once
// A huge array of zeros of which only touched pages exist: shadow of an address range.

#include <sys/mman.h>

#include <new>
#include <utility>

#include "emulator/isa/types.hpp"

namespace hipbench::emulator {

template <typename T>
class LazyArray {
 public:
  LazyArray() = default;
  // Throws std::bad_alloc when the system has no such run of addresses.
  explicit LazyArray(u64 count) : bytes_(count * sizeof(T)) {
    void* mapped = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    ::madvise(mapped, bytes_, MADV_NOHUGEPAGE);
    ::madvise(mapped, bytes_, MADV_DONTDUMP);
    data_ = static_cast<T*>(mapped);
  }
  LazyArray(LazyArray&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  LazyArray& operator=(LazyArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~LazyArray() {
    if (data_ != nullptr) ::munmap(data_, bytes_);
  }

  explicit operator bool() const { return data_ != nullptr; }
  T* data() const { return data_; }
  T& operator[](u64 index) const { return data_[index]; }

 private:
  T* data_ = nullptr;
  u64 bytes_ = 0;
};

}  // namespace hipbench::emulator
