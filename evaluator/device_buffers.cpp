#include "evaluator/device_buffers.hpp"

#include <algorithm>
#include <cstring>

namespace hipbench {

namespace {

// Buffers are compared piece by piece, so that a large one is not held twice.
constexpr uint64_t kPieceBytes = uint64_t{16} << 20;

// What bytes that may not be written held before the call: the input's, or poison where there is none.
bool same(std::span<const std::byte> before, uint64_t offset, std::span<const std::byte> now) {
  if (!before.empty()) return std::memcmp(before.data() + offset, now.data(), now.size()) == 0;
  return std::all_of(now.begin(), now.end(), [](std::byte byte) { return byte == kPoison; });
}

}  // namespace

bool changed_outside(const StridedRange& writable, std::span<const std::byte> before, uint64_t start,
                     std::span<const std::byte> piece) {
  const uint64_t end = start + piece.size();
  for (uint64_t at = start; at < end;) {
    uint64_t stop = end;  // of what lies between two writable rows
    if (writable.total_bytes() != 0 && at < writable.offset) {
      stop = writable.offset;
    } else if (writable.total_bytes() != 0) {
      const uint64_t row = (at - writable.offset) / writable.stride_bytes,
                     row_start = writable.offset + row * writable.stride_bytes;
      if (row < writable.rows && at < row_start + writable.row_bytes) {
        at = row_start + writable.row_bytes;
        continue;
      }
      if (row + 1 < writable.rows) stop = row_start + writable.stride_bytes;
    }
    stop = std::min(stop, end);
    if (!same(before, at, piece.subspan(at - start, stop - at))) return true;
    at = stop;
  }
  return false;
}

Result<DeviceBuffers> DeviceBuffers::create(emulator::Client& device, const Problem& problem, const Shape& shape) {
  DeviceBuffers buffers(device, problem, shape);
  const auto fields = problem.pointer_fields();
  for (size_t k = 0; k < fields.size(); ++k)
    buffers.addresses_.push_back(TRY(device.allocate(problem.byte_count(shape, k), fields[k].name)));
  return buffers;
}

DeviceBuffers::DeviceBuffers(DeviceBuffers&& other) noexcept
    : device_(other.device_),
      problem_(other.problem_),
      shape_(std::move(other.shape_)),
      addresses_(std::move(other.addresses_)) {
  other.addresses_.clear();
}

DeviceBuffers::~DeviceBuffers() {
  for (uint64_t address : addresses_) static_cast<void>(device_->free(address));
}

Result<void> DeviceBuffers::prepare(const Buffers& inputs) {
  const auto fields = problem_->pointer_fields();
  constexpr auto poison = static_cast<uint32_t>(kPoison);
  for (size_t k = 0; k < fields.size(); ++k) {
    const uint64_t bytes = problem_->byte_count(shape_, k);
    if (fields[k].access == Access::Out) {
      TRY(device_->fill(addresses_[k], poison, 1, bytes));
      continue;
    }
    CHECK(inputs[k].size() == bytes);
    TRY(device_->write(addresses_[k], inputs[k]));
    const StridedRange writable = problem_->writable(shape_, k);
    if (writable.rows != 0)
      TRY(device_->fill_rows(addresses_[k] + writable.offset, writable.stride_bytes, poison, 1, writable.row_bytes,
                             writable.rows));
  }
  const auto failure = TRY(device_->synchronize());
  if (failure) return Error{"the inputs could not be written to the device: " + failure->text};
  return {};
}

Result<bool> DeviceBuffers::changed(size_t field, const StridedRange& writable,
                                    std::span<const std::byte> before) const {
  const uint64_t bytes = problem_->byte_count(shape_, field);
  if (writable.total_bytes() == bytes) return false;
  std::vector<std::byte> piece;
  for (uint64_t at = 0; at < bytes; at += kPieceBytes) {
    piece.resize(std::min(kPieceBytes, bytes - at));
    TRY(device_->read(addresses_[field] + at, piece));
    if (changed_outside(writable, before, at, piece)) return true;
  }
  return false;
}

Result<DeviceBuffers::Contents> DeviceBuffers::read_back(const Buffers& inputs) const {
  Contents contents;
  const auto fields = problem_->pointer_fields();
  for (size_t k = 0; k < fields.size(); ++k) {
    const StridedRange writable = problem_->writable(shape_, k);
    std::vector<std::byte>& output = contents.outputs.emplace_back(writable.total_bytes());
    if (!output.empty())
      TRY(device_->read_rows(output.data(), writable.row_bytes, addresses_[k] + writable.offset, writable.stride_bytes,
                             writable.row_bytes, writable.rows));
    const bool was_changed =
        TRY(changed(k, writable, fields[k].access == Access::Out ? std::span<const std::byte>() : inputs[k]));
    if (was_changed && contents.changed.empty()) {
      contents.changed = fields[k].name;
      contents.changed_beside_output = !output.empty();
    }
  }
  return contents;
}

}  // namespace hipbench
