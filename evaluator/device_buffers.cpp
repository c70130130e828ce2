#include "evaluator/device_buffers.hpp"

#include <algorithm>
#include <cstring>

namespace hipbench {

namespace {

// Inputs are compared piece by piece, so that a large one is not held twice.
constexpr uint64_t kPieceBytes = uint64_t{16} << 20;

// What a byte that may not be written held before the call: the input's, or poison where there is none.
bool same(std::span<const std::byte> before, uint64_t offset, std::span<const std::byte> now) {
  if (!before.empty()) return std::memcmp(before.data() + offset, now.data(), now.size()) == 0;
  return std::all_of(now.begin(), now.end(), [](std::byte byte) { return byte == kPoison; });
}

// True if a byte outside the writable range differs.
bool changed_outside(const StridedRange& writable, std::span<const std::byte> before, std::span<const std::byte> now) {
  uint64_t at = 0;
  for (uint64_t row = 0; row < writable.rows; ++row) {
    const uint64_t start = writable.offset + row * writable.stride_bytes;
    if (!same(before, at, now.subspan(at, start - at))) return true;
    at = start + writable.row_bytes;
  }
  return !same(before, at, now.subspan(at));
}

}  // namespace

Result<DeviceBuffers> DeviceBuffers::create(emulator::Client& device, const Problem& problem, const Shape& shape) {
  DeviceBuffers buffers(device, problem, shape);
  const auto fields = problem.pointer_fields();
  for (size_t k = 0; k < fields.size(); ++k)
    buffers.addresses_.push_back(TRY(device.allocate(problem.byte_count(shape, k), fields[k].name)));
  return buffers;
}

DeviceBuffers::DeviceBuffers(DeviceBuffers&& other) noexcept
    : device_(other.device_), problem_(other.problem_), shape_(std::move(other.shape_)), addresses_(std::move(other.addresses_)) {
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
      TRY(device_->fill_rows(addresses_[k] + writable.offset, writable.stride_bytes, poison, 1, writable.row_bytes, writable.rows));
  }
  const auto failure = TRY(device_->synchronize());
  if (failure) return Error{"the inputs could not be written to the device: " + failure->text};
  return {};
}

Result<bool> DeviceBuffers::input_changed(size_t field, std::span<const std::byte> before) const {
  std::vector<std::byte> piece;
  for (uint64_t at = 0; at < before.size(); at += kPieceBytes) {
    piece.resize(std::min<uint64_t>(kPieceBytes, before.size() - at));
    TRY(device_->read(addresses_[field] + at, piece));
    if (!same(before, at, piece)) return true;
  }
  return false;
}

Result<DeviceBuffers::Contents> DeviceBuffers::read_back(const Buffers& inputs) const {
  Contents contents;
  const auto fields = problem_->pointer_fields();
  for (size_t k = 0; k < fields.size(); ++k) {
    const StridedRange writable = problem_->writable(shape_, k);
    bool changed = false;
    contents.outputs.emplace_back();
    if (writable.rows == 0) {
      changed = TRY(input_changed(k, inputs[k]));
    } else {
      std::vector<std::byte> now(problem_->byte_count(shape_, k));
      TRY(device_->read(addresses_[k], now));
      changed = changed_outside(writable, fields[k].access == Access::Out ? std::span<const std::byte>() : inputs[k], now);
      contents.outputs.back() = writable.total_bytes() == now.size() ? std::move(now) : Problem::pack(writable, now);
    }
    if (changed && contents.changed_input.empty()) contents.changed_input = fields[k].name;
  }
  return contents;
}

}  // namespace hipbench
