#include "emulator/device/device.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>

#include "emulator/checks/launch_checks.hpp"
#include "emulator/device/aql.hpp"
#include "emulator/device/hostcall.hpp"
#include "emulator/device/kernarg.hpp"
#include "emulator/device/launch_limits.hpp"
#include "emulator/exec/launch.hpp"
#include "emulator/isa/program.hpp"
#include "emulator/timing/breakdown.hpp"

namespace hipbench::emulator {

namespace {

// The device has been up for a second when the first program comes: device malloc compares clocks with "never" (0).
constexpr u64 kBootClocks = u64{mi300x::kClockMhz} * 1'000'000;
// The time between two dependent launches on an MI300X, about 5 µs.
constexpr u64 kLaunchClocks = u64{mi300x::kClockMhz} * 5;

u32 usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return static_cast<u32>(std::max(1, CPU_COUNT(&set)));
}

void print_to_stdout(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

// First come, first served.
class TicketLock {
 public:
  void lock() {
    std::unique_lock lock(mutex_);
    const u64 mine = next_++;
    turn_.wait(lock, [&] { return serving_ == mine; });
  }
  void unlock() {
    const std::lock_guard lock(mutex_);
    ++serving_;
    turn_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable turn_;
  u64 next_ = 0, serving_ = 0;
};

struct Module {
  std::unique_ptr<CodeObject> object;
  u64 base = 0;
  std::vector<Program::Range> ranges;
  std::unique_ptr<Program> inventory;  // to look at, not to run
  // What runs, decoded for the rules of each launch; most modules need one or two. Used by the launch that has its
  // turn.
  mutable std::map<CodeRules, std::unique_ptr<Program>> programs;
};

constexpr size_t kMostPrograms = 32;  // each has tables as large as the code

Program& program_for(const Module& module, const CodeRules& rules) {
  if (module.programs.size() >= kMostPrograms && !module.programs.contains(rules)) module.programs.clear();
  std::unique_ptr<Program>& program = module.programs[rules];
  if (program == nullptr) program = std::make_unique<Program>(module.ranges, rules);
  return *program;
}

std::string source_of(const CodeObject& object, u64 offset) {
  const auto location = object.source_location(offset);
  return location ? fmt::format("{}:{}", location->file, location->line) : "";
}

class EmulatedDevice final : public Device {
 public:
  static Result<std::unique_ptr<Device>> create(DeviceOptions options) {
    std::unique_ptr<EmulatedDevice> device(new EmulatedDevice);
    device->threads_ = options.threads != 0 ? options.threads : usable_cores();
    device->timing_ = options.timing != nullptr ? options.timing : &mi300x_timing();
    device->memory_ = TRY(AddressSpace::create(options.resident_budget));
    device->hostcall_ = TRY(HostcallService::create(*device->memory_, options.print ? options.print : print_to_stdout));
    TRY(device->set_up_queue());
    return std::unique_ptr<Device>(std::move(device));
  }

  AddressSpace& memory() override { return *memory_; }
  Result<ModuleHandle> load_module(std::span<const std::byte> code) override;
  Result<void> unload_module(ModuleHandle handle) override;
  const CodeObject* module(ModuleHandle handle) const override {
    const auto found = find_module(handle);
    return found == nullptr ? nullptr : found->object.get();
  }
  std::optional<u64> global_address(ModuleHandle handle, std::string_view symbol) const override;
  std::vector<std::string> module_warnings(ModuleHandle handle) const override;
  std::vector<InstructionUse> module_instructions(ModuleHandle handle) const override;
  Result<LaunchResult> launch(const LaunchRequest& request) override;
  Result<u32> occupancy(ModuleHandle handle, std::string_view kernel, u32 block_size, u32 dynamic_lds) const override;
  void model_transfer(u64 bytes, bool over_host_link, LaunchResult& result) const override;
  u64 clock_ns() const override { return clock_.load() * 1000 / mi300x::kClockMhz; }

 private:
  EmulatedDevice() = default;
  Result<void> set_up_queue();
  std::shared_ptr<Module> find_module(ModuleHandle handle) const {
    const std::lock_guard lock(modules_mutex_);
    const auto found = modules_.find(handle);
    return found == modules_.end() ? nullptr : found->second;
  }
  Result<u64> write_kernarg_segment(const Kernel& kernel, const LaunchRequest& request);
  Result<void> write_dispatch_packet(const Kernel& kernel, const LaunchRequest& request, u64 module_base, u64 kernarg);
  Result<LaunchResult> run(const Module& module, const Kernel& kernel, const LaunchRequest& request, u64 kernarg);
  LaunchResult run_timed(const Module& module, ExecLaunch& launch, const LaunchRequest& request);
  void note_model(LaunchResult& result) const;
  // What the launch that runs leaves outside device memory.
  void forget_traces();
  LaunchResult with_traces(LaunchResult result);
  void advance_clock(const LaunchResult& result);

  u32 threads_ = 1;
  const TimingParameters* timing_ = nullptr;
  std::unique_ptr<AddressSpace> memory_;
  std::unique_ptr<HostcallService> hostcall_;
  u64 queue_ = 0, packet_ = 0, grid_sync_ = 0, printf_buffer_ = 0;
  std::atomic<bool> queue_touched_{false}, packet_touched_{false}, hostcall_touched_{false};  // by the launch that runs
  std::atomic<u64> clock_{kBootClocks};
  TicketLock launches_;
  mutable std::mutex modules_mutex_;
  std::map<ModuleHandle, std::shared_ptr<Module>> modules_;
  ModuleHandle next_module_ = 1;
};

// Objects that every kernel may be pointed at, whether it looks or not.
Result<void> EmulatedDevice::set_up_queue() {
  queue_ = TRY(memory_->allocate(kQueueObjectBytes, "queue object", false));
  packet_ = TRY(memory_->allocate(sizeof(DispatchPacket), "dispatch packet", false));
  grid_sync_ = TRY(memory_->allocate(sizeof(GridSync), "grid synchronisation"));
  // A printf buffer of size 0: code compiled for buffered printf finds it full.
  printf_buffer_ = TRY(memory_->allocate(64, "printf buffer"));
  TRY(memory_->watch(queue_, &queue_touched_));
  // Where LLVM moves a local array into LDS, it reads the sizes of the workgroup and the grid there.
  TRY(memory_->watch(packet_, &packet_touched_, kPacketSizesBegin, kPacketSizesEnd));
  TRY(memory_->watch(hostcall_->buffer_address(), &hostcall_touched_));
  TRY(memory_->watch(hostcall_->heap_address(), &hostcall_touched_));
  TRY(memory_->watch(printf_buffer_, &hostcall_touched_));
  std::byte* queue = TRY(memory_->host_range(queue_, kQueueObjectBytes));
  const u32 shared_base = static_cast<u32>(kLdsAperture >> 32), private_base = static_cast<u32>(kScratchAperture >> 32);
  std::memcpy(queue + kQueueSharedApertureOffset, &shared_base, sizeof(shared_base));
  std::memcpy(queue + kQueuePrivateApertureOffset, &private_base, sizeof(private_base));
  return {};
}

Result<ModuleHandle> EmulatedDevice::load_module(std::span<const std::byte> code) {
  auto loaded = std::make_shared<Module>();
  loaded->object = TRY(CodeObject::parse(code));
  loaded->base = TRY(loaded->object->load(*memory_));
  for (const CodeObject::CodeRange& range : loaded->object->code_ranges()) {
    const auto host = memory_->host_range(loaded->base + range.offset, range.size);
    if (!host) {
      TRY(memory_->free(loaded->base));
      return host.error();
    }
    loaded->ranges.push_back({loaded->base + range.offset, {*host, range.size}});
  }
  loaded->inventory = std::make_unique<Program>(loaded->ranges);
  const std::lock_guard lock(modules_mutex_);
  modules_.emplace(next_module_, std::move(loaded));
  return next_module_++;
}

Result<void> EmulatedDevice::unload_module(ModuleHandle handle) {
  const std::lock_guard turn(launches_);  // behind every launch that was asked for before
  std::shared_ptr<Module> module;
  {
    const std::lock_guard lock(modules_mutex_);
    const auto found = modules_.find(handle);
    if (found == modules_.end()) return Error{fmt::format("no module {} to unload", handle)};
    module = std::move(found->second);
    modules_.erase(found);
  }
  module->programs.clear();
  module->inventory.reset();
  return memory_->free(module->base);
}

std::optional<u64> EmulatedDevice::global_address(ModuleHandle handle, std::string_view symbol) const {
  const auto module = find_module(handle);
  if (module == nullptr) return std::nullopt;
  for (const GlobalSymbol& global : module->object->globals())
    if (global.name == symbol) return module->base + global.offset;
  return std::nullopt;
}

std::vector<std::string> EmulatedDevice::module_warnings(ModuleHandle handle) const {
  std::vector<std::string> warnings;
  const auto module = find_module(handle);
  if (module == nullptr) return warnings;
  for (const Program::Unsupported& gap : module->inventory->unsupported()) {
    const std::string source = source_of(*module->object, gap.pc - module->base);
    warnings.push_back(fmt::format("{} is not supported; executing it fails the launch (first at {:#x}{}{})",
                                   gap.mnemonic, gap.pc - module->base, source.empty() ? "" : ", ", source));
  }
  return warnings;
}

std::vector<InstructionUse> EmulatedDevice::module_instructions(ModuleHandle handle) const {
  std::vector<InstructionUse> uses;
  const auto module = find_module(handle);
  if (module == nullptr) return uses;
  for (const auto& [mnemonic, pc] : module->inventory->mnemonics())
    uses.push_back({mnemonic, pc - module->base, source_of(*module->object, pc - module->base)});
  return uses;
}

Result<u32> EmulatedDevice::occupancy(ModuleHandle handle, std::string_view name, u32 block_size,
                                      u32 dynamic_lds) const {
  const auto module = find_module(handle);
  const Kernel* kernel = module == nullptr ? nullptr : module->object->find_kernel(name);
  if (kernel == nullptr) return Error{fmt::format("module {} has no kernel '{}'", handle, name)};
  if (block_size == 0) return Error{"occupancy of a block of 0 work-items"};
  if (block_size > std::min(mi300x::kMaxWorkgroupSize, kernel->max_flat_workgroup_size)) return 0u;
  return workgroups_per_cu(*kernel, block_size, dynamic_lds);
}

Result<u64> EmulatedDevice::write_kernarg_segment(const Kernel& kernel, const LaunchRequest& request) {
  const HiddenValues values{.grid = request.grid,
                            .block = request.block,
                            .dynamic_lds = request.dynamic_lds,
                            .printf_buffer = printf_buffer_,
                            .hostcall_buffer = hostcall_->buffer_address(),
                            .heap = hostcall_->heap_address(),
                            .queue = queue_,
                            .grid_sync = request.cooperative ? grid_sync_ : 0};
  const std::vector<std::byte> segment = TRY(build_kernarg_segment(kernel, request.kernargs, values));
  // The compiler may widen the last scalar load to the next power of two: the segment ends on 64 bytes, as the
  // runtime's do.
  const u64 size = std::max<u64>(64, (segment.size() + 63) / 64 * 64);
  const u64 address = TRY(memory_->allocate(size, "kernarg segment", false,
                                            std::bit_ceil(u64{std::clamp(kernel.kernarg_segment_align, 1u, 4096u)})));
  std::memcpy(TRY(memory_->host_range(address, size)), segment.data(), segment.size());
  return address;
}

Result<void> EmulatedDevice::write_dispatch_packet(const Kernel& kernel, const LaunchRequest& request, u64 module_base,
                                                   u64 kernarg) {
  const Dim3 &grid = request.grid, &block = request.block;
  const DispatchPacket packet{.workgroup_size_x = static_cast<u16>(block.x),
                              .workgroup_size_y = static_cast<u16>(block.y),
                              .workgroup_size_z = static_cast<u16>(block.z),
                              .grid_size_x = grid.x * block.x,
                              .grid_size_y = grid.y * block.y,
                              .grid_size_z = grid.z * block.z,
                              .private_segment_size = scratch_bytes_per_lane(kernel),
                              .group_segment_size = kernel.descriptor.group_segment_fixed_size + request.dynamic_lds,
                              .kernel_object = module_base + kernel.descriptor_offset,
                              .kernarg_address = kernarg};
  std::memcpy(TRY(memory_->host_range(packet_, sizeof(packet))), &packet, sizeof(packet));
  const GridSync sync{.num_workgroups = static_cast<u32>(request.grid.count())};
  std::memcpy(TRY(memory_->host_range(grid_sync_, sizeof(sync))), &sync, sizeof(sync));
  return {};
}

Result<LaunchResult> EmulatedDevice::launch(const LaunchRequest& request) {
  const std::lock_guard turn(launches_);
  const auto module = find_module(request.module);
  if (module == nullptr)
    return Error{fmt::format("cannot launch '{}': there is no module {}", request.kernel, request.module)};
  const Kernel* kernel = module->object->find_kernel(request.kernel);
  if (kernel == nullptr) {
    std::string names;
    for (const Kernel& other : module->object->kernels())
      names += fmt::format("{}{}", names.empty() ? "" : ", ", other.name);
    return Error{
        fmt::format("the module has no kernel '{}'; it has: {}", request.kernel, names.empty() ? "none" : names)};
  }
  TRY(check_launch(*kernel, request));
  const u64 kernarg = TRY(write_kernarg_segment(*kernel, request));
  Result<LaunchResult> result = run(*module, *kernel, request, kernarg);
  hostcall_->end_launch(result.has_value() && result->completed());
  TRY(memory_->free(kernarg));
  if (!result) return result;
  FaultReport& fault = result->fault;
  if (fault.pc != 0 && fault.source.empty()) fault.source = source_of(*module->object, fault.pc);
  advance_clock(*result);
  return result;
}

Result<LaunchResult> EmulatedDevice::run(const Module& module, const Kernel& kernel, const LaunchRequest& request,
                                         u64 kernarg) {
  TRY(write_dispatch_packet(kernel, request, module.base, kernarg));
  const u32 resident = workgroups_per_cu(kernel, static_cast<u32>(request.block.count()), request.dynamic_lds);
  ExecLaunch launch{.kernel = &kernel,
                    .program = &program_for(module, {kernel.registers(), !request.no_eight_bit_math}),
                    .memory = memory_.get(),
                    .load_base = module.base,
                    .grid = request.grid,
                    .block = request.block,
                    .dynamic_lds = request.dynamic_lds,
                    .kernarg_address = kernarg,
                    .dispatch_packet_address = packet_,
                    .queue_address = queue_,
                    .start_clock = clock_.load(),
                    .instruction_limit = request.instruction_limit,
                    .scratch_bytes_per_lane = scratch_bytes_per_lane(kernel),
                    .workgroups_per_cu = resident,
                    .cooperative = request.cooperative,
                    .threads = threads_,
                    .poll_hostcall = [this] { hostcall_->poll(); }};
  const AddressSpace::Pin pin(*memory_);
  forget_traces();
  try {
    if (!request.check) {
      memory_->forget_tracked();  // nobody watches what it writes
      return with_traces(request.time ? run_timed(module, launch, request) : run_launch(launch));
    }
    LaunchChecks checks(*memory_, module.base, request.grid.count(),
                        [&object = *module.object](u64 offset) { return source_of(object, offset); });
    launch.checks = &checks;
    return with_traces(run_launch(launch));
  } catch (const std::exception& failure) {  // out of host memory or threads
    return Error{fmt::format("kernel '{}' could not be executed: {}", kernel.demangled, failure.what())};
  }
}

LaunchResult EmulatedDevice::run_timed(const Module& module, ExecLaunch& launch, const LaunchRequest& request) {
  u64 code_base = ~u64{0}, code_end = 0;
  for (const CodeObject::CodeRange& range : module.object->code_ranges()) {
    code_base = std::min(code_base, module.base + range.offset);
    code_end = std::max(code_end, module.base + range.offset + range.size);
  }
  LaunchTracer tracer(*timing_, code_base, code_end - code_base, launch.grid.count(),
                      resident_workgroups(*timing_, launch.workgroups_per_cu),
                      request.only_timed ? std::nullopt : std::optional(request.timing_secret));
  launch.tracer = &tracer;
  launch.only_traced = request.only_timed;
  LaunchResult result = run_launch(launch);
  if (!result.completed()) return result;
  const auto traces = tracer.take();
  const auto witnesses = tracer.take_witnesses();
  u64 touched = touched_bytes(*memory_, traces);
  for (const auto& others : witnesses) touched = std::max(touched, touched_bytes(*memory_, others));
  const LaunchShape shape{.workgroups = launch.grid.count(),
                          .workgroups_per_cu = launch.workgroups_per_cu,
                          .scratch_bytes_per_lane = launch.scratch_bytes_per_lane,
                          .touched_bytes = touched};
  auto modelled = std::make_shared<ModelledLaunch>(model_launch(*timing_, tracer, shape, traces, witnesses));
  modelled->code_offset = code_base - module.base;
  if (!std::isfinite(modelled->seconds)) return result;  // the sample says nothing of what the others did
  result.modelled_seconds = modelled->seconds;
  result.modelled_error = modelled->sampling_error;
  note_model(result);
  result.time_breakdown = break_down(*modelled, [&](u64 op_index) {
    return source_of(*module.object, modelled->code_offset + op_index * 4);
  });
  result.modelled = std::move(modelled);
  return result;
}

void EmulatedDevice::forget_traces() {
  static_cast<void>(memory_->take_bytes_written_to_host());
  queue_touched_ = packet_touched_ = hostcall_touched_ = false;
}

LaunchResult EmulatedDevice::with_traces(LaunchResult result) {
  result.bytes_written_to_host = memory_->take_bytes_written_to_host();
  result.used_hostcall = hostcall_touched_;
  result.used_dispatch_packet = packet_touched_;
  result.used_queue_object = queue_touched_;
  return result;
}

void EmulatedDevice::note_model(LaunchResult& result) const {
  result.modelled_saved_seconds = (timing_->device.launch_overhead_us - timing_->device.launch_gap_us) * 1e-6;
  result.timing_model = timing_model_version();
}

void EmulatedDevice::model_transfer(u64 bytes, bool over_host_link, LaunchResult& result) const {
  const f64 bytes_per_second =
      over_host_link ? timing_->transfers.host_gigabytes_per_second * 1e9 : timing_->hbm.terabytes_per_second * 1e12;
  result.modelled_seconds = timing_->device.launch_overhead_us * 1e-6 + static_cast<f64>(bytes) / bytes_per_second;
  note_model(result);
}

// The clock only has to go on in proportion to the work, and past what the kernel saw of it. Whether a time was
// modelled does not matter: a program must not be able to tell.
void EmulatedDevice::advance_clock(const LaunchResult& result) {
  const u64 busy_cus = std::clamp<u64>(result.counters.workgroups, 1, mi300x::kComputeUnits);
  const u64 issue_clocks = result.counters.instructions / busy_cus;
  clock_ += kLaunchClocks + std::max(issue_clocks, result.emulated_clocks);
}

}  // namespace

Result<std::unique_ptr<Device>> Device::create(DeviceOptions options) {
  return EmulatedDevice::create(std::move(options));
}

}  // namespace hipbench::emulator
