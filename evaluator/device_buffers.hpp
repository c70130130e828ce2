#pragma once
// The buffers of a session's calls in device memory. They keep their addresses from call to call, so that a candidate
// which answers by address alone is found out.

#include <span>
#include <string>
#include <vector>

#include "emulator/protocol/client.hpp"
#include "problems/problem.hpp"

namespace hipbench {

// Outputs are filled with it before each launch. As bf16, f16 and f32 it is NaN, which never passes, so that an element
// nobody wrote is always found.
inline constexpr std::byte kPoison{0xff};

// Whether a byte outside the writable range differs in the piece of a buffer that begins at `start`. `before`: the
// whole buffer before the call; empty = poison.
bool changed_outside(const StridedRange& writable, std::span<const std::byte> before, uint64_t start,
                     std::span<const std::byte> piece);

class DeviceBuffers {
 public:
  // Every buffer is an allocation of its own, exactly as large as the problem says: an access one byte past it faults.
  static Result<DeviceBuffers> create(emulator::Client& device, const Problem& problem, const Shape& shape);
  DeviceBuffers(DeviceBuffers&& other) noexcept;
  DeviceBuffers& operator=(DeviceBuffers&&) = delete;
  ~DeviceBuffers();

  std::span<const uint64_t> addresses() const { return addresses_; }

  // Before a call: inputs as drawn, everything writable poisoned. Done when it returns.
  Result<void> prepare(const Buffers& inputs);

  struct Contents {
    Buffers outputs;      // packed writable ranges, one a pointer field (empty for inputs)
    std::string changed;  // the first field of which bytes outside the writable range changed; empty = none
    bool changed_beside_output = false;  // that field has a writable range
  };
  // After a call. `inputs` are those of prepare(): they are compared here rather than kept a second time.
  Result<Contents> read_back(const Buffers& inputs) const;

 private:
  DeviceBuffers(emulator::Client& device, const Problem& problem, const Shape& shape)
      : device_(&device), problem_(&problem), shape_(shape) {}
  // Whether bytes outside the writable range are no longer what they were: `before`, or poison where that is empty.
  Result<bool> changed(size_t field, const StridedRange& writable, std::span<const std::byte> before) const;

  emulator::Client* device_;
  const Problem* problem_;
  Shape shape_;
  std::vector<uint64_t> addresses_;
};

}  // namespace hipbench
