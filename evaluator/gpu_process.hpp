#pragma once
// A process that holds a GPU (evaluator/gpu_main.cpp), as the judge sees it.

#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "common/result.hpp"
#include "common/unique_fd.hpp"
#include "evaluator/gpu_protocol.hpp"
#include "evaluator/timed_device.hpp"

namespace hipbench {

// The HIP runtime to use: ROCm's where ROCM_PATH or /opt/rocm has one, else what the loader finds by the name.
std::filesystem::path find_hip_runtime();

class GpuProcess {
 public:
  // `patience`: with any one request, such as a call. Out of it, or asked to stop, the process is killed, and whatever
  // waits for it returns an Error.
  static Result<std::unique_ptr<GpuProcess>> start(const std::filesystem::path& runtime, std::chrono::seconds patience,
                                                   std::stop_token stop);
  ~GpuProcess();
  GpuProcess(const GpuProcess&) = delete;

  bool is_stand_in() const { return is_stand_in_; }  // hipbench's own drop-in library: an emulator, no GPU
  const std::string& device() const { return device_; }
  const std::string& bus_id() const { return bus_id_; }
  pid_t pid() const { return pid_; }

  // How the last request that failed did so.
  enum class Failure {
    Refused,  // by the runtime: an error code
    Ended,    // the process is gone: the runtime ends it when a kernel faults
    Late,     // no answer in time; the process was killed
  };
  Failure last_failure() const { return last_failure_; }
  // What the process said on its standard error, the runtime's own messages included.
  std::string errors() const;

  Result<void> load_module(std::span<const std::byte> code);
  Result<uint32_t> find_kernel(const std::string& name);
  Result<uint64_t> allocate(uint64_t bytes);
  Result<void> write(uint64_t address, std::span<const std::byte> bytes);
  // Calls `piece(offset, bytes)` for one piece after the other; false ends the reading.
  template <typename Piece>
  Result<void> read(uint64_t address, uint64_t bytes, Piece piece) {
    for (uint64_t at = 0; at < bytes;) {
      const uint64_t size = std::min(gpu::kSharedBytes, bytes - at);
      TRY(copy_out(address + at, size));
      if (!piece(at, std::span<const std::byte>(shared_, size))) break;
      at += size;
    }
    return {};
  }
  Result<void> fill(uint64_t address, std::byte value, uint64_t bytes);  // done after synchronize()
  Result<void> clear_steps();
  Result<void> add_fill(uint64_t address, uint8_t value, uint64_t bytes);
  Result<void> add_launch(const gpu::Launch& launch);
  // All steps between two events. The wall clock is ours: from before the request until the process says that the
  // device is idle.
  Result<ClockReadings> call();
  Result<void> synchronize();

 private:
  explicit GpuProcess(std::chrono::seconds patience) : patience_(patience) {}
  Result<void> copy_out(uint64_t address, uint64_t bytes);
  Result<gpu::Answer> ask(const gpu::Ask& ask);
  Result<gpu::Answer> receive(bool watchful);
  Result<void> ask_for(gpu::Request request, uint64_t address = 0, uint64_t bytes = 0, uint32_t value = 0);

  const std::chrono::seconds patience_;
  pid_t pid_ = 0;
  UniqueFd control_, errors_;
  std::byte* shared_ = nullptr;
  bool is_stand_in_ = false;
  std::string device_, bus_id_;
  Failure last_failure_ = Failure::Refused;
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

}  // namespace hipbench
