#pragma once
// One emulated MI300X: memory, loaded code objects, launches, clocks. Usable alone, in process; the device server
// (emulator/protocol) puts it behind a socket. All calls are thread-safe; launches run one after the other, in call
// order.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/result.hpp"
#include "emulator/device/time_breakdown.hpp"
#include "emulator/isa/types.hpp"
#include "emulator/loader/code_object.hpp"
#include "emulator/memory/address_space.hpp"
#include "emulator/memory/fault.hpp"

namespace hipbench::emulator {

struct ModelledLaunch;    // emulator/timing/launch_model.hpp
struct TimingParameters;  // emulator/timing/parameters.hpp

struct DeviceOptions {
  u32 threads = 0;                              // worker threads; 0 = one a core
  u64 resident_budget = 0;                      // see AddressSpace::create
  const TimingParameters* timing = nullptr;  // of the timing model; must outlive the device; null = those of an MI300X
  std::function<void(std::string_view)> print;  // receives device printf text; default: standard output
};

using ModuleHandle = u32;  // 0 is never valid

struct LaunchRequest {
  ModuleHandle module = 0;
  std::string kernel;               // symbol name
  Dim3 grid;                        // workgroups
  Dim3 block;                       // work-items a workgroup
  u32 dynamic_lds = 0;              // bytes
  std::vector<std::byte> kernargs;  // the explicit arguments as laid out in the kernarg segment; hidden ones are added
  bool cooperative = false;         // the whole grid must be resident at once, or the launch is refused
  u64 instruction_limit = 0;        // wave instructions; 0 = none
  bool check = false;               // run with the memory and race checks
  bool time = false;                // trace sampled workgroups and model the time that the launch would take
  u64 timing_secret = 0;            // where the timing model looks follows from it; never sent over a connection
  bool only_timed = false;          // execute those alone: for validating the model; results are incomplete
  bool no_eight_bit_math = false;   // instructions that is_eight_bit_math() names fault
};

// What a launch did. Classes follow the CDNA3 issue ports.
struct Counters {
  u64 instructions = 0;  // wave instructions, all classes
  u64 valu = 0, salu = 0, smem = 0, vmem = 0, lds = 0, mfma = 0, branch = 0, other = 0;
  u64 mfma_flops = 0;
  u64 bytes_read = 0, bytes_written = 0;  // requested by lanes from global memory
  u64 barriers = 0;
  u64 workgroups = 0, waves = 0;
};

// Host seconds by class of instruction, of all threads together: estimated from a sample. All 0 when the launch was too
// short.
struct ClassSeconds {
  double valu = 0, salu = 0, smem = 0, vmem = 0, lds = 0, mfma = 0, branch = 0, other = 0;
};

// A fault as shown to people and stored.
struct FaultReport {
  FaultKind kind = FaultKind::None;
  std::string message;  // one sentence
  std::string kernel;
  Dim3 workgroup{0, 0, 0};
  u32 wave = 0;
  int lane = -1;
  u64 pc = 0;                     // load-relative code address
  std::string instruction;        // disassembly
  std::string source;             // "file:line", empty when there is no line table
  std::string to_string() const;  // several lines, all of the above that is known
};

struct LaunchResult {
  FaultReport fault;  // kind None = completed
  Counters counters;
  double host_seconds = 0;      // wall time the emulation took
  ClassSeconds class_seconds;   // where it went, estimated
  double modelled_seconds =
      0;  // what the timing model says it takes on an idle MI300X, launch included; 0 = not asked for
  double modelled_saved_seconds = 0;  // of these, when it comes right behind another operation
  double modelled_error = 0;          // relative standard error from sampling workgroups
  std::string timing_model;           // which version said so
  TimeBreakdown time_breakdown;       // where it goes
  std::shared_ptr<const ModelledLaunch> modelled;  // how it got there; in this process only
  u64 emulated_clocks = 0;      // shader clocks that passed for the kernel's own clock instructions; 0 = not known
  u32 occupancy_workgroups_per_cu = 0;
  // What it did that shows outside device memory.
  u64 bytes_written_to_host = 0;  // to pinned and managed memory
  bool used_hostcall = false;     // printf, assert, malloc or free
  bool used_dispatch_packet = false, used_queue_object = false;
  bool completed() const { return fault.kind == FaultKind::None; }
};

// A kind of instruction that a code object holds, whether it is ever executed or not.
struct InstructionUse {
  std::string mnemonic;
  u64 offset = 0;      // load-relative, of its first use
  std::string source;  // "file:line" of that, empty when there is no line table
};

class Device {
 public:
  static Result<std::unique_ptr<Device>> create(DeviceOptions options = {});
  virtual ~Device() = default;

  virtual AddressSpace& memory() = 0;

  virtual Result<ModuleHandle> load_module(std::span<const std::byte> code) = 0;
  virtual Result<void> unload_module(ModuleHandle module) = 0;
  virtual const CodeObject* module(ModuleHandle module) const = 0;  // null when there is none
  virtual std::optional<u64> global_address(ModuleHandle module, std::string_view symbol) const = 0;
  // Warnings from loading: instructions without a row, each with its source line.
  virtual std::vector<std::string> module_warnings(ModuleHandle module) const = 0;
  // All kinds of instruction in its code, by name.
  virtual std::vector<InstructionUse> module_instructions(ModuleHandle module) const = 0;

  // An Error is a launch that could not start (unknown kernel, too many work-items, LDS over 64 KiB, a kernarg size
  // that does not fit, a cooperative grid that is not resident). A guest fault is in the result. After a fault the
  // device is usable.
  virtual Result<LaunchResult> launch(const LaunchRequest& request) = 0;

  // Workgroups of the kernel that fit on one CU at once (waves, registers, LDS), as the hardware's limits give them.
  virtual Result<u32> occupancy(ModuleHandle module, std::string_view kernel, u32 block_size,
                                u32 dynamic_lds) const = 0;

  // Fills in what the timing model says of moving bytes: over the link to the host, or within device memory, where each
  // byte read and each byte written counts.
  virtual void model_transfer(u64 bytes, bool over_host_link, LaunchResult& result) const = 0;

  // Emulated device time in ns since creation; advances with launches, never with host time.
  virtual u64 clock_ns() const = 0;
};

// What hipDeviceProp_t and the HSA agent say of an MI300X. Sources: AMD CDNA 3 white paper; ROCm GPU hardware
// specifications.
namespace mi300x {
inline constexpr u32 kComputeUnits = 304;
inline constexpr u32 kXcds = 8;
inline constexpr u32 kSimdsPerCu = 4;
inline constexpr u32 kWavesPerSimd = 8;
inline constexpr u32 kVgprsPerSimdLane = 512;  // unified V + A file, dwords a lane
inline constexpr u32 kVgprGranule = 8;
inline constexpr u32 kLdsBytes = 65536;
inline constexpr u32 kLdsGranule = 512;
inline constexpr u32 kMaxWorkgroupSize = 1024;
inline constexpr u32 kMaxWorkgroupsPerCu = 32;
inline constexpr u32 kClockMhz = 2100;
}  // namespace mi300x

}  // namespace hipbench::emulator
