#include "emulator/exec/launch.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "emulator/checks/deadlock_watch.hpp"
#include "emulator/checks/launch_checks.hpp"
#include "emulator/exec/workgroup.hpp"

namespace hipbench::emulator {

namespace {

void add_wave_counters(Counters& counters, const Wave& wave) {
  const auto count = [&](InstClass cls) { return wave.counts[static_cast<u32>(cls)]; };
  counters.valu += count(InstClass::Valu);
  counters.salu += count(InstClass::Salu);
  counters.smem += count(InstClass::Smem);
  counters.vmem += count(InstClass::Vmem);
  counters.lds += count(InstClass::Lds);
  counters.mfma += count(InstClass::Mfma);
  counters.branch += count(InstClass::Branch);
  counters.other += count(InstClass::Other);
  counters.instructions += wave.instructions();
  counters.mfma_flops += wave.mfma_flops;
  counters.bytes_read += wave.bytes_read;
  counters.bytes_written += wave.bytes_written;
  counters.barriers += wave.barriers;
  ++counters.waves;
}

Effort effort_of(const Workgroup& group) {
  Effort effort{.workgroups = 1};
  for (const Wave& wave : group.waves) {
    effort.instructions += wave.instructions();
    effort.longest_wave = std::max(effort.longest_wave, wave.instructions());
    effort.mfma_flops += wave.mfma_flops;
    effort.memory_bytes += wave.bytes_read + wave.bytes_written;
    effort.lds_instructions += wave.counts[static_cast<u32>(InstClass::Lds)];
  }
  return effort;
}

void add_counters(Counters& sum, const Counters& part) {
  sum.instructions += part.instructions;
  sum.valu += part.valu;
  sum.salu += part.salu;
  sum.smem += part.smem;
  sum.vmem += part.vmem;
  sum.lds += part.lds;
  sum.mfma += part.mfma;
  sum.branch += part.branch;
  sum.other += part.other;
  sum.mfma_flops += part.mfma_flops;
  sum.bytes_read += part.bytes_read;
  sum.bytes_written += part.bytes_written;
  sum.barriers += part.barriers;
  sum.workgroups += part.workgroups;
  sum.waves += part.waves;
}

// `seconds` of one thread, shared out as its sample says.
void add_class_seconds(ClassSeconds& sum, const Sampler& sampler, f64 seconds) {
  u64 all = 0;
  for (const u64 ticks : sampler.ticks) all += ticks;
  if (all == 0) return;
  const auto share = [&](InstClass cls) {
    return seconds * static_cast<f64>(sampler.ticks[static_cast<u32>(cls)]) / static_cast<f64>(all);
  };
  sum.valu += share(InstClass::Valu);
  sum.salu += share(InstClass::Salu);
  sum.smem += share(InstClass::Smem);
  sum.vmem += share(InstClass::Vmem);
  sum.lds += share(InstClass::Lds);
  sum.mfma += share(InstClass::Mfma);
  sum.branch += share(InstClass::Branch);
  sum.other += share(InstClass::Other);
}

// One launch in flight. Threads take workgroups in dispatch order. A thread runs a workgroup until it is finished or
// all its waves wait; only then does it start another, up to its share of what the chip holds at once. So a kernel
// whose workgroups are independent keeps one workgroup a thread in the caches, and one whose workgroups wait for each
// other gets them all.
class LaunchRun : public Supervisor {
 public:
  explicit LaunchRun(const ExecLaunch& launch) : launch_(launch), total_(launch.grid.count()) {
    const u64 resident = u64{std::max(launch.workgroups_per_cu, 1u)} * mi300x::kComputeUnits;
    resident_per_thread_ = std::max<u64>(1, (resident + launch.threads - 1) / launch.threads);
    // A cooperative grid was found to fit: every workgroup must be able to start.
    if (launch.cooperative) resident_per_thread_ = std::max(resident_per_thread_, total_);
    useful_threads_ = std::max<u64>(1, std::min<u64>(launch.threads, total_));
    if (launch.checks != nullptr) deadlock_.emplace(useful_threads_);
  }

  bool check(u64 executed) override {
    const u64 sum = executed_.fetch_add(executed, std::memory_order_relaxed) + executed;
    if (launch_.instruction_limit != 0 && sum > launch_.instruction_limit)
      throw GuestFault{
          FaultKind::InstructionLimit,
          "the launch executed more than " + std::to_string(launch_.instruction_limit) + " wave instructions"};
    if (launch_.memory->over_budget())
      throw GuestFault{FaultKind::OutOfMemory,
                       "the memory the kernel touched exceeds the emulated device's resident budget"};
    return !stop_.load(std::memory_order_relaxed);
  }

  LaunchResult run() {
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::thread> helpers;
    for (u64 k = 1; k < useful_threads_; ++k) helpers.emplace_back([this, k] { work(k); });
    work(0);
    for (std::thread& helper : helpers) helper.join();
    result_.host_seconds = std::chrono::duration<f64>(std::chrono::steady_clock::now() - start).count();
    result_.occupancy_workgroups_per_cu = launch_.workgroups_per_cu;
    return std::move(result_);
  }

 private:
  void work(u64 thread) {
    StuckRow stuck;
    std::deque<std::unique_ptr<Workgroup>> resident;
    std::unique_ptr<WorkgroupStorage> spare;
    Counters counters;
    u64 clock_read = 0;  // the latest
    const auto add_waves = [&](const Workgroup& group) {
      for (const Wave& wave : group.waves) {
        add_wave_counters(counters, wave);
        clock_read = std::max(clock_read, wave.clock_read);
      }
    };
    Sampler sampler;
    const auto start = std::chrono::steady_clock::now();
    try {
      while (!stop_.load(std::memory_order_relaxed)) {
        const bool wants_more =
            resident.empty() || (resident.front()->yielded && resident.size() < resident_per_thread_);
        if (wants_more) start_next(resident, spare);
        if (resident.empty()) {
          if (next_.load(std::memory_order_relaxed) >= total_) break;
          continue;
        }
        std::unique_ptr<Workgroup> group = std::move(resident.front());
        resident.pop_front();
        try {
          run_group(*group, sampler);
          if (deadlock_ && group->yielded) watch_for_deadlock(thread, *group, resident.size() + 1, stuck);
        } catch (const WaveFault& fault) {
          report(fault);
        }
        if (group->finished()) {
          add_waves(*group);
          ++counters.workgroups;
          if (launch_.checks != nullptr) launch_.checks->note_progress();
          if (launch_.tracer != nullptr) launch_.tracer->add_effort(effort_of(*group));
          if (group->trace != nullptr) {
            group->trace->effort = effort_of(*group);
            launch_.tracer->end(std::move(group->trace));
          }
          spare = std::move(group->storage);
        } else {
          resident.push_back(std::move(group));
        }
      }
    } catch (const GuestFault& fault) {
      report(WaveFault{fault, nullptr, nullptr, nullptr, 0});
    } catch (const std::bad_alloc&) {
      report(WaveFault{GuestFault{FaultKind::OutOfMemory, "the host is out of memory"}, nullptr, nullptr, nullptr, 0});
    }
    for (const auto& group : resident) add_waves(*group);
    if (deadlock_) deadlock_->thread_ended(thread);
    const f64 seconds = std::chrono::duration<f64>(std::chrono::steady_clock::now() - start).count();
    const std::lock_guard lock(mutex_);
    add_counters(result_.counters, counters);
    // The next launch begins later than anything that this one has seen.
    if (clock_read != 0)
      result_.emulated_clocks = std::max(result_.emulated_clocks, clock_read - launch_.start_clock + 1);
    add_class_seconds(result_.class_seconds, sampler, seconds);
  }

  // Stuck workgroups that had their turn one after the other while the launch made no progress.
  struct StuckRow {
    u64 count = 0, progress = 0;
  };

  // Throws WaveFault when no wave of the launch can ever go on.
  void watch_for_deadlock(u64 thread, const Workgroup& group, u64 resident, StuckRow& row) {
    const bool stuck = group.is_stuck();
    const u64 progress = launch_.checks->progress();
    if (!stuck || progress != row.progress) row = {0, progress};
    if (!stuck) return;
    // Several rounds, so that the host has had the time to answer what was asked of it.
    constexpr u64 kRounds = 4;
    const bool may_start_more = next_.load(std::memory_order_relaxed) < total_ && resident < resident_per_thread_;
    if (may_start_more || ++row.count < kRounds * resident || !deadlock_->thread_is_stuck(thread, progress)) return;
    if (launch_.checks->progress() != progress) return;  // another thread went on, perhaps to its end, while we looked
    const auto waits = std::find_if(group.waves.begin(), group.waves.end(),
                                    [](const Wave& wave) { return wave.status == WaveStatus::Yielded; });
    if (waits == group.waves.end()) return;
    throw WaveFault{
        GuestFault{
            FaultKind::Deadlock,
            "the launch can never end: every wave that is left repeats the same instructions" +
                launch_.checks->at_source(waits->pc - launch_.load_base) +
                " or waits at a barrier, and nothing in memory changes any more. Look for a flag that nobody sets, a "
                "lock "
                "that lanes of one wave take from each other, or more workgroups waiting than fit on the device"},
        &group, &*waits, nullptr, waits->pc};
  }

  void start_next(std::deque<std::unique_ptr<Workgroup>>& resident, std::unique_ptr<WorkgroupStorage>& spare) {
    const u64 index = next_.fetch_add(1, std::memory_order_relaxed);
    if (index >= total_) {
      next_.store(total_, std::memory_order_relaxed);
      return;
    }
    if (!spare) {
      const u32 waves = static_cast<u32>((launch_.block.count() + kWaveSize - 1) / kWaveSize);
      spare = std::make_unique<WorkgroupStorage>(waves, launch_.scratch_bytes_per_lane, lds_bytes(launch_));
    }
    // In front: it runs next, and the waiting ones get their turn after it.
    auto group = std::make_unique<Workgroup>(launch_, index, std::move(spare));
    if (launch_.only_traced && group->trace == nullptr)
      spare = std::move(group->storage);
    else
      resident.push_front(std::move(group));
  }

  // Until the group is finished or a wave yields.
  void run_group(Workgroup& group, Sampler& sampler) {
    do group.run_slice(*this, sampler);
    while (!group.finished() && !group.yielded && !stop_.load(std::memory_order_relaxed));
    if (group.yielded && launch_.poll_hostcall) launch_.poll_hostcall();
  }

  // Keeps the first fault and stops all threads.
  void report(const WaveFault& fault) {
    const std::lock_guard lock(mutex_);
    stop_.store(true);
    FaultReport& out = result_.fault;
    if (out.kind != FaultKind::None) return;
    out.kind = fault.fault.kind;
    out.message = fault.fault.message;
    out.kernel = launch_.kernel->demangled.empty() ? launch_.kernel->name : launch_.kernel->demangled;
    out.lane = fault.fault.lane;
    if (fault.group != nullptr) out.workgroup = fault.group->id;
    if (fault.wave != nullptr) out.wave = fault.wave->index;
    const u64 pc = fault.inst != nullptr ? fault.inst->pc : fault.pc;
    if (pc != 0) {
      out.pc = pc - launch_.load_base;
      out.instruction = launch_.program->disassemble(pc);
    }
  }

  const ExecLaunch& launch_;
  const u64 total_;
  u64 resident_per_thread_ = 1, useful_threads_ = 1;
  std::optional<DeadlockWatch> deadlock_;
  std::atomic<u64> next_{0};
  std::atomic<u64> executed_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  LaunchResult result_;
};

}  // namespace

LaunchResult run_launch(const ExecLaunch& launch) { return LaunchRun(launch).run(); }

}  // namespace hipbench::emulator
