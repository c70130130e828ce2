#include "evaluator/device_buffers.hpp"

#include <algorithm>
#include <cstring>

namespace hipbench {

Result<DeviceBuffers> DeviceBuffers::create(emulator::Client& device, const Problem& problem, const Shape& shape, const Buffers& inputs) {
  DeviceBuffers buffers(device, problem, shape);
  const auto fields = problem.pointer_fields();
  for (size_t k = 0; k < fields.size(); ++k) {
    const uint64_t bytes = problem.byte_count(shape, k);
    std::vector<std::byte> content(bytes, kPoison);
    if (fields[k].access != Access::Out) {
      CHECK(inputs[k].size() == bytes);
      content = inputs[k];
    }
    const StridedRange writable = problem.writable(shape, k);
    for (uint64_t row = 0; row < writable.rows; ++row)
      std::fill_n(content.begin() + static_cast<std::ptrdiff_t>(writable.offset + row * writable.stride_bytes), writable.row_bytes, kPoison);
    buffers.addresses_.push_back(TRY(device.allocate(bytes, fields[k].name)));
    TRY(device.write(buffers.addresses_.back(), content));
    buffers.initial_.push_back(std::move(content));
  }
  const auto idle = TRY(device.synchronize());
  if (idle) return Error{"the inputs could not be written to the device: " + idle->text};
  return buffers;
}

DeviceBuffers::DeviceBuffers(DeviceBuffers&& other) noexcept
    : device_(other.device_), problem_(other.problem_), shape_(std::move(other.shape_)), addresses_(std::move(other.addresses_)),
      initial_(std::move(other.initial_)) {
  other.addresses_.clear();
}

DeviceBuffers::~DeviceBuffers() {
  for (uint64_t address : addresses_) static_cast<void>(device_->free(address));
}

namespace {

// True if a byte outside the writable range differs.
bool changed_outside(const StridedRange& writable, std::span<const std::byte> before, std::span<const std::byte> after) {
  uint64_t at = 0;
  for (uint64_t row = 0; row < writable.rows; ++row) {
    const uint64_t start = writable.offset + row * writable.stride_bytes;
    if (std::memcmp(before.data() + at, after.data() + at, start - at) != 0) return true;
    at = start + writable.row_bytes;
  }
  return std::memcmp(before.data() + at, after.data() + at, before.size() - at) != 0;
}

}  // namespace

Result<DeviceBuffers::Contents> DeviceBuffers::read_back() const {
  Contents contents;
  const auto fields = problem_->pointer_fields();
  for (size_t k = 0; k < fields.size(); ++k) {
    std::vector<std::byte> now(initial_[k].size());
    TRY(device_->read(addresses_[k], now));
    const StridedRange writable = problem_->writable(shape_, k);
    if (contents.changed_input.empty() && changed_outside(writable, initial_[k], now)) contents.changed_input = fields[k].name;
    contents.outputs.push_back(writable.rows == 0 ? std::vector<std::byte>() : Problem::pack(writable, now));
  }
  return contents;
}

}  // namespace hipbench
