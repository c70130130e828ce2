#include "emulator/exec/workgroup.hpp"

#include <sys/mman.h>
#include <x86intrin.h>

#include <algorithm>
#include <bit>

namespace hipbench::emulator {

namespace {

// Backward branches a wave may take before the others get their turn. Large enough that ordinary loops end within it;
// small enough that a spin-wait between workgroups costs well under a millisecond a turn.
constexpr i32 kSpinBudget = 8192;

// Wave instructions between two looks at limits. One instruction touches at most 64 pages, so that memory use cannot
// run away unseen between them.
constexpr i32 kCheckInterval = 4096;

constexpr size_t round_up(size_t value, size_t to) { return (value + to - 1) / to * to; }

}  // namespace

WorkgroupStorage::WorkgroupStorage(u32 waves, u32 scratch_bytes_per_lane, u32 lds_size) {
  constexpr size_t kPage = 4096;
  wave_stride_ = round_up(size_t{kVgprs} * kWaveSize * 4 + size_t{scratch_bytes_per_lane} * kWaveSize, kPage);
  lds_offset_ = wave_stride_ * waves;
  size_ = lds_offset_ + round_up(std::max(lds_size, 1u), kPage);
  void* mapped = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    throw GuestFault{FaultKind::OutOfMemory,
                     "the host has no memory for the registers and scratch of another workgroup"};
  base_ = static_cast<std::byte*>(mapped);
}

WorkgroupStorage::~WorkgroupStorage() {
  if (base_ != nullptr) ::munmap(base_, size_);
}

u32 lds_bytes(const ExecLaunch& launch) {
  return launch.kernel->descriptor.group_segment_fixed_size + launch.dynamic_lds;
}

namespace {

// Kernel descriptor bits: https://llvm.org/docs/AMDGPUUsage.html#kernel-descriptor and "Initial kernel execution
// state".
class ScalarSetup {
 public:
  explicit ScalarSetup(Wave& wave) : wave_(wave) {}
  void push(u32 value) {
    if (next_ < 102) wave_.sgprs[next_] = value;
    ++next_;
  }
  void push64(u64 value) {
    push(static_cast<u32>(value));
    push(static_cast<u32>(value >> 32));
  }
  void skip_to(u32 index) { next_ = index; }

 private:
  Wave& wave_;
  u32 next_ = 0;
};

void set_up_sgprs(const ExecLaunch& launch, const Dim3& id, Wave& wave) {
  const KernelDescriptor& descriptor = launch.kernel->descriptor;
  const u32 properties = descriptor.kernel_code_properties;
  ScalarSetup sgprs(wave);
  if ((properties & 1u << 0) != 0) {  // private segment buffer: gfx942 has architected flat scratch and never uses it
    sgprs.push64(0);
    sgprs.push64(0);
  }
  if ((properties & 1u << 1) != 0) sgprs.push64(launch.dispatch_packet_address);
  if ((properties & 1u << 2) != 0) sgprs.push64(launch.queue_address);
  if ((properties & 1u << 3) != 0) sgprs.push64(launch.kernarg_address);
  if ((properties & 1u << 4) != 0) sgprs.push64(0);  // dispatch id
  if ((properties & 1u << 5) != 0) sgprs.push64(0);  // flat scratch init
  if ((properties & 1u << 6) != 0) sgprs.push(launch.scratch_bytes_per_lane);
  const u32 preload_length = descriptor.kernarg_preload & 0x7f, preload_offset = descriptor.kernarg_preload >> 7;
  for (u32 k = 0; k < preload_length; ++k) {
    u32 value;
    std::memcpy(&value, wave.memory.read(launch.kernarg_address + 4 * (u64{preload_offset} + k), 4), 4);
    sgprs.push(value);
  }
  // System SGPRs follow the user SGPRs the descriptor counts.
  sgprs.skip_to(descriptor.compute_pgm_rsrc2 >> 1 & 0x1f);
  if ((descriptor.compute_pgm_rsrc2 & 1u << 7) != 0) sgprs.push(id.x);
  if ((descriptor.compute_pgm_rsrc2 & 1u << 8) != 0) sgprs.push(id.y);
  if ((descriptor.compute_pgm_rsrc2 & 1u << 9) != 0) sgprs.push(id.z);
}

void set_up_mode(const KernelDescriptor& descriptor, Wave& wave) {
  const u32 rsrc1 = descriptor.compute_pgm_rsrc1;
  wave.mode = rsrc1 >> 12 & 0xff;
  if ((rsrc1 & 1u << 21) != 0) wave.mode |= kModeDx10Clamp;
  if ((rsrc1 & 1u << 23) != 0) wave.mode |= kModeIeee;
  if ((rsrc1 & 1u << 26) != 0) wave.mode |= kModeFp16Overflow;
  wave.special_float_mode = (wave.mode & 0xff) != kModeDefaultFp;
}

// Work-item ids are packed into v0: x in bits 0–9, y in 10–19, z in 20–29 (gfx90a and later).
void set_up_vgprs(const ExecLaunch& launch, Wave& wave) {
  // Registers are undefined on the chip. Zero makes every run the same, whatever ran before on this host thread.
  std::memset(wave.vgprs, 0, size_t{wave.registers.vgprs} * kWaveSize * 4);
  std::memset(wave.vgpr(kAgprBase), 0, size_t{wave.registers.agprs} * kWaveSize * 4);
  const Dim3& block = launch.block;
  u32* ids = wave.vgpr(0);
  for (u32 lane = 0; lane < kWaveSize; ++lane) {
    const u32 item = wave.index * kWaveSize + lane;
    const u32 x = item % block.x, y = item / block.x % block.y, z = item / block.x / block.y;
    ids[lane] = x | y << 10 | z << 20;
  }
}

}  // namespace

Workgroup::Workgroup(const ExecLaunch& the_launch, u64 linear_index, std::unique_ptr<WorkgroupStorage> memory)
    : launch(the_launch), linear(linear_index), storage(std::move(memory)) {
  id.x = static_cast<u32>(linear % launch.grid.x);
  id.y = static_cast<u32>(linear / launch.grid.x % launch.grid.y);
  id.z = static_cast<u32>(linear / launch.grid.x / launch.grid.y);
  const u32 items = static_cast<u32>(launch.block.count());
  const u32 count = (items + kWaveSize - 1) / kWaveSize;
  const u32 lds_size = lds_bytes(launch);
  const RegisterCounts registers = launch.kernel->registers();
  if (launch.checks != nullptr) {
    if (storage->checks == nullptr) storage->checks = std::make_unique<GroupChecks>(*launch.checks, count);
    storage->checks->begin(linear, lds_size, items, registers.vgprs, registers.agprs);
  }
  std::memset(storage->lds(), 0, lds_size);
  waves.reserve(count);
  for (u32 index = 0; index < count; ++index) {
    Wave& wave = waves.emplace_back(*launch.memory);
    wave.vgprs = storage->vgprs(index);
    wave.scratch = storage->scratch(index);
    wave.scratch_size = launch.scratch_bytes_per_lane;
    wave.lds = storage->lds();
    wave.lds_size = lds_size;
    wave.program = launch.program;
    wave.registers = registers;
    wave.group = this;
    if (launch.checks != nullptr) wave.observer = storage->checks->observer(index);
    wave.index = index;
    wave.pc = launch.load_base + launch.kernel->entry_offset;
    wave.clock = launch.start_clock;
    // Workgroups go round-robin over the 8 XCDs; inside one, over 4 shader engines and their CUs.
    wave.xcc_id = static_cast<u32>(linear % mi300x::kXcds);
    const u32 local = static_cast<u32>(linear / mi300x::kXcds);
    wave.hw_id = (index & 3) << 4 | (local / 4 % 10) << 8 | (local % 4) << 13;
    const u32 lanes = std::min(items - index * kWaveSize, kWaveSize);
    wave.set_exec(lanes == kWaveSize ? ~u64{0} : (u64{1} << lanes) - 1);
    wave.sgprs[kM0] = lds_size;
    set_up_mode(launch.kernel->descriptor, wave);
    set_up_sgprs(launch, id, wave);
    set_up_vgprs(launch, wave);
  }
  live = count;
  if (launch.tracer != nullptr) trace = launch.tracer->begin(linear, count);
}

namespace {

// Where execution is: what a fault report names.
struct Position {
  const Inst* inst = nullptr;
  const Inst* run_head = nullptr;  // while a run executes
};

void execute_run(Wave& wave, const Inst* inst, Position& position) {
  position.run_head = inst;
  for (u32 cls = 0; cls < kInstClasses; ++cls) wave.counts[cls] += inst->run_counts[cls];
  wave.next = inst->run_exit;
  wave.pc = inst->run_exit->pc;
  do {
    position.inst = inst;
    inst->execute(wave, *inst);
    inst = inst->run_next;
  } while (inst != nullptr);
  position.run_head = nullptr;
}

// A run was left in the middle: counts only what was executed.
void leave_run(Wave& wave, const Position& position) {
  const Inst& last = *position.inst;
  for (u32 cls = 0; cls < kInstClasses; ++cls) wave.counts[cls] -= last.run_counts[cls];
  ++wave.counts[static_cast<u32>(last.cls)];
  wave.next = last.following;
  wave.pc = last.pc + last.size;
}

void execute_one(Wave& wave, const Inst* inst, Position& position) {
  position.inst = inst;
  wave.next = inst->following;
  wave.pc = inst->pc + inst->size;
  ++wave.counts[static_cast<u32>(inst->cls)];
  if ((wave.mode & kModeUnusualIssue) != 0) [[unlikely]]
    execute_unusually(wave, *inst);
  else
    inst->execute(wave, *inst);
}

// What reading the clock twice takes, in ticks.
u64 clock_ticks() {
  static const u64 least = [] {
    u64 ticks = ~u64{0};
    for (u32 k = 0; k < 64; ++k) {
      const u64 start = __rdtsc();
      ticks = std::min<u64>(ticks, __rdtsc() - start);
    }
    return ticks;
  }();
  return least;
}

void execute_timed(Wave& wave, const Inst* inst, Position& position, Sampler& sampler) {
  // An interruption by the host's scheduler is not the instruction's.
  constexpr u64 kMostTicks = 200'000;
  const u64 start = __rdtsc();
  execute_one(wave, inst, position);
  const u64 ticks = __rdtsc() - start, overhead = clock_ticks();
  if (ticks > overhead && ticks < kMostTicks) sampler.ticks[static_cast<u32>(inst->cls)] += ticks - overhead;
}

// Instruction by instruction, telling the tracer of each before it is executed.
void execute_traced(Wave& wave, const Workgroup& group, Supervisor& supervisor, Position& position) {
  i32 until_check = kCheckInterval;
  WaveTrace& trace = group.trace->waves[wave.index];
  while (wave.status == WaveStatus::Running) {
    const Inst* inst = wave.next;
    if (inst == nullptr) inst = wave.program->at(wave.pc);
    position.inst = inst;
    const TimedOp* op = group.launch.tracer->record(trace, wave, *inst);
    // Where only timing is wanted, matrix products are not: control flow that depended on them would be all they
    // change.
    if (group.launch.only_traced && op != nullptr && op->kind == TimedKind::Mfma) {
      wave.next = inst->following;
      wave.pc = inst->pc + inst->size;
      continue;
    }
    execute_one(wave, inst, position);
    if (--until_check > 0) continue;
    until_check = kCheckInterval;
    if (!supervisor.check(kCheckInterval) && wave.status == WaveStatus::Running) wave.status = WaveStatus::Yielded;
  }
  if (wave.status == WaveStatus::Yielded) group.trace->waited = true;
  supervisor.check(static_cast<u64>(kCheckInterval - until_check));
}

// `execute` until the wave gives up its turn.
void run_wave(Wave& wave, const Workgroup& group, Supervisor& supervisor, Sampler& sampler) {
  Position position;
  i32 until_check = kCheckInterval;
  // The checks want to know the program counter of every access.
  const bool runs = wave.observer == nullptr;
  try {
    if (group.trace != nullptr) [[unlikely]]
      return execute_traced(wave, group, supervisor, position);
    while (wave.status == WaveStatus::Running) {
      const Inst* inst = wave.next;
      if (inst == nullptr) [[unlikely]]
        inst = wave.program->at(wave.pc);
      if (!runs) {
        position.inst = wave.next = inst;
        group.storage->checks->before(wave, *inst);
      }
      if (sampler.timing) [[unlikely]] {
        execute_timed(wave, inst, position, sampler);
        --until_check;
      } else if (runs && inst->run_length != 0 && (wave.mode & kModeUnusualIssue) == 0) {
        until_check -= inst->run_length;
        execute_run(wave, inst, position);
      } else {
        execute_one(wave, inst, position);
        --until_check;
      }
      if (until_check <= 0) [[unlikely]] {
        const u64 executed = static_cast<u64>(kCheckInterval - until_check);
        until_check = kCheckInterval;
        sampler.note_executed(executed);
        if (!supervisor.check(executed) && wave.status == WaveStatus::Running) wave.status = WaveStatus::Yielded;
      }
    }
    sampler.note_executed(static_cast<u64>(kCheckInterval - until_check));
    supervisor.check(static_cast<u64>(kCheckInterval - until_check));
  } catch (GuestFault& fault) {
    if (position.run_head != nullptr) leave_run(wave, position);
    // After a jump to something that is not code, the instruction to name is the one at the target.
    const Inst* inst = position.inst;
    const bool fetch_failed = wave.next == nullptr && inst != nullptr && wave.pc != inst->pc + inst->size;
    throw WaveFault{std::move(fault), &group, &wave, fetch_failed ? nullptr : inst, wave.pc};
  }
}

}  // namespace

void Workgroup::run_slice(Supervisor& supervisor, Sampler& sampler) {
  yielded = false;
  if (trace != nullptr && !launch.tracer->wants(trace->xcd, trace->local)) trace.reset();
  for (Wave& wave : waves) {
    if (wave.status != WaveStatus::Running && wave.status != WaveStatus::Yielded) continue;
    wave.status = WaveStatus::Running;
    wave.spin_budget = kSpinBudget;
    run_wave(wave, *this, supervisor, sampler);
    if (wave.status == WaveStatus::Ended) --live;
    if (wave.status == WaveStatus::Yielded) yielded = true;
    if (wave.status == WaveStatus::AtBarrier && storage->checks != nullptr) storage->checks->reached_barrier(wave);
  }
  const auto report_late_fault = [&] {
    if (storage->checks == nullptr) return;
    if (auto late = storage->checks->take_late_fault())
      throw WaveFault{std::move(late->fault), this, &waves[late->wave], late->inst, 0};
  };
  if (live == 0) report_late_fault();
  // A barrier is complete when every live wave waits at it; waves that ended do not count.
  const auto waiting = static_cast<u32>(
      std::count_if(waves.begin(), waves.end(), [](const Wave& wave) { return wave.status == WaveStatus::AtBarrier; }));
  if (waiting == 0 || waiting != live) return;
  report_late_fault();
  for (Wave& wave : waves)
    if (wave.status == WaveStatus::AtBarrier) wave.status = WaveStatus::Running;
  if (storage->checks != nullptr) storage->checks->barrier_done();
}

}  // namespace hipbench::emulator
