#pragma once
// Executes one kernel launch on all host threads. What it needs is prepared by the device facade (device/); what an
// instruction does is in isa/.

#include <functional>
#include <optional>
#include <string>

#include "emulator/device/device.hpp"
#include "emulator/isa/program.hpp"
#include "emulator/loader/code_object.hpp"
#include "emulator/memory/address_space.hpp"

namespace hipbench::emulator {

class LaunchChecks;
class LaunchTracer;

struct ExecLaunch {
  const Kernel* kernel = nullptr;
  Program* program = nullptr;       // decoded code of the kernel's code object
  AddressSpace* memory = nullptr;   // pinned by the caller for the duration
  u64 load_base = 0;                // of the code object: pc - load_base is what line tables know
  Dim3 grid, block;                 // workgroups; work-items a workgroup
  u32 dynamic_lds = 0;              // bytes after the kernel's static LDS
  u64 kernarg_address = 0;          // the complete segment, hidden arguments included
  u64 dispatch_packet_address = 0;  // AQL packet in guest memory
  u64 queue_address = 0;            // inert queue object in guest memory
  u64 start_clock = 0;              // shader clocks at which the launch begins
  u64 instruction_limit = 0;        // wave instructions; 0 = none
  u32 scratch_bytes_per_lane = 0;   // fixed size, plus the stack when the kernel needs a dynamic one
  u32 workgroups_per_cu = 1;        // occupancy: with 304 CUs it bounds how many workgroups are resident
  bool cooperative = false;         // residency was checked by the caller
  u32 threads = 1;
  LaunchChecks* checks = nullptr;   // the memory and race checks; null = none
  LaunchTracer* tracer = nullptr;   // records sampled workgroups for the timing model; null = no timing
  bool only_traced = false;         // the others are not executed: for measuring the model itself
  std::function<void()> poll_hostcall;  // thread-safe; called when waves signal the host or wait
};

// Runs to the end or to the first fault. source and demangled names are filled by the caller.
LaunchResult run_launch(const ExecLaunch& launch);

}  // namespace hipbench::emulator
