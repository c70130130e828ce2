#pragma once
// What the judge asks of a process that holds a GPU, over one SOCK_SEQPACKET socket, one message a packet; bulk data
// pass through a block of shared memory. The process knows buffers, kernels and lists of steps, but no problem, no seed
// and no expected value, and it keeps no clock but the events'.

#include <cstdint>

namespace hipbench::gpu {

inline constexpr int kControlFd = 3, kSharedFd = 4;  // inside the process
inline constexpr uint64_t kSharedBytes = uint64_t{64} << 20;
inline constexpr uint32_t kMostArguments = 64, kMostArgumentBytes = 4096, kMostText = 512;

enum class Request : uint32_t {
  LoadModule = 1,  // the code object's `bytes` in shared memory
  FindKernel,      // `text` → value = its number
  Allocate,        // `bytes` → value = address
  CopyIn,          // `bytes` from shared memory to `address`
  CopyOut,         // `bytes` from `address` to shared memory
  Fill,            // `bytes` at `address` with the byte `value`, on the stream: Synchronise waits for it
  ClearSteps,
  AddFill,      // the same as a step
  AddLaunch,    // `launch` as a step
  Call,         // all steps on the stream between two events, then until the device is idle → events_us
  Synchronise,  // until the device is idle
};

struct Launch {
  uint32_t kernel = 0;
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};  // workgroups, work-items
  uint32_t dynamic_lds = 0;
  uint32_t cooperative = 0;
  uint32_t argument_count = 0;
  uint32_t offsets[kMostArguments] = {};  // of each argument in `arguments`
  alignas(16) unsigned char arguments[kMostArgumentBytes] = {};
};

struct Ask {
  Request request = Request::Synchronise;
  uint32_t value = 0;
  uint64_t address = 0, bytes = 0;
  char text[kMostText] = {};  // zero-terminated
  Launch launch;
};

// The first one comes unasked, once the runtime is loaded and there is a device.
struct Answer {
  int32_t error = 0;      // hipError_t, or -1 for what is none; `text` says it in words
  uint32_t stand_in = 0;  // of the first one: the runtime is hipbench's emulated drop-in, no GPU
  uint64_t value = 0;
  double events_us = 0;
  char text[kMostText] = {};  // of the first one: the device's name and the runtime's version
  char bus_id[32] = {};       // of the first one: "0000:c1:00.0"
};

}  // namespace hipbench::gpu
