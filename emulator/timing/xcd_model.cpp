#include "emulator/timing/xcd_model.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>

#include "common/result.hpp"

namespace hipbench::emulator {

namespace {

constexpr u32 kSimds = 4, kWaveSlots = 32;
constexpr f64 kNever = std::numeric_limits<f64>::max();

// Completion times, oldest first: a counter that s_waitcnt waits for.
class InFlight {
 public:
  void push(f64 done) {
    // In order: nothing is reported before what came earlier.
    last_ = std::max(last_, done);
    times_[(head_ + size_) % times_.size()] = last_;
    if (size_ < times_.size())
      ++size_;
    else
      head_ = (head_ + 1) % times_.size();
  }
  // When at most `left` are outstanding.
  f64 until(u32 left, f64 now) {
    while (size_ != 0 && times_[head_] <= now) {
      head_ = (head_ + 1) % times_.size();
      --size_;
    }
    return size_ <= left ? now : times_[(head_ + size_ - left - 1) % times_.size()];
  }

 private:
  std::array<f64, 64> times_{};
  size_t head_ = 0, size_ = 0;
  f64 last_ = 0;
};

// A pipeline in front of which so many instructions can queue.
class Queue {
 public:
  explicit Queue(u32 entries) : starts_(entries, 0) {}
  f64 earliest_issue() const { return starts_[next_]; }
  f64 enter(f64 now, f64 busy) {
    const f64 start = std::max(now, free_);
    free_ = start + busy;
    starts_[next_] = start;
    next_ = (next_ + 1) % starts_.size();
    return start;
  }

 private:
  std::vector<f64> starts_;
  size_t next_ = 0;
  f64 free_ = 0;
};

struct Group {
  u32 live = 0, arrived = 0;
};

struct WaveRun {
  const WaveTrace* trace = nullptr;  // null: the slot is free
  size_t run = 0, word = 0, line = 0;
  u32 at = 0;  // dwords into the run
  u32 simd = 0, group = 0;
  u64 order = 0;
  f64 ready = 0, wanted = 0, started = 0;  // may issue; wanted to issue; was launched
  StallCause cause = StallCause::Issue;
  InFlight vector, lds;
  f64 scalar_done = 0;
  u32 fetched_line = ~0u;
  bool last_was_mfma = false;
};

struct Simd {
  f64 valu_free = 0, mfma_free = 0, packed_free = 0;  // packed_free: when an MFMA may follow packed f32 arithmetic
  f64 scalar_free = 0, memory_free = 0, lds_free = 0;
  u32 waves = 0;
};

struct Cu {
  Cu(const TimingParameters& p, u64 instruction_lines)
      : vector_memory(static_cast<u32>(p.vector_memory.queue_entries)),
        lds_ports{Queue(static_cast<u32>(p.lds.queue_entries) / 2), Queue(static_cast<u32>(p.lds.queue_entries) / 2)},
        instructions(instruction_lines, 8),
        scalars(256, 8) {}
  std::array<WaveRun, kWaveSlots> waves;
  std::array<Simd, kSimds> simds;
  Queue vector_memory;
  Queue lds_ports[2];
  f64 lds_banks_free = 0;
  TagArray instructions, scalars;
  std::vector<Group> groups;
  u32 workgroups = 0;
};

class Xcd {
 public:
  Xcd(const TimingParameters& parameters, const LaunchTracer& code, const XcdLoad& load,
      std::span<const std::unique_ptr<WorkgroupTrace>> workgroups)
      : p_(parameters),
        code_(code),
        load_(load),
        workgroups_(workgroups),
        memory_(parameters, load.cus, load.active_xcds, load.resident),
        cus_(load.cus, Cu(parameters, static_cast<u64>(parameters.instruction_cache.bytes /
                                                       parameters.instruction_cache.line_bytes))) {
    result_.stalls.resize(code.op_slots());
    result_.cus = load.cus;
    for (Cu& cu : cus_) cu.groups.resize(load.workgroups_per_cu);
  }

  XcdResult run() {
    for (f64 now = 0; result_.completions.size() < workgroups_.size(); now += p_.sampling.quantum_clocks) {
      dispatch(now);
      const f64 until = now + p_.sampling.quantum_clocks;
      for (u32 cu = 0; cu < cus_.size(); ++cu) advance(cu, until);
    }
    std::ranges::sort(result_.completions);
    const f64 last = result_.completions.empty() ? 0 : result_.completions.back();
    result_.clocks = memory_.flush(last);
    result_.memory = memory_.counters();
    return std::move(result_);
  }

 private:
  // The next workgroup goes to the next shader engine, there to the emptiest CU; when that engine is full, all wait for
  // it.
  void dispatch(f64 now) {
    const u32 engines =
        std::min<u32>(static_cast<u32>(p_.device.shader_engines_per_xcd), static_cast<u32>(cus_.size()));
    while (next_ < workgroups_.size()) {
      const u32 engine = static_cast<u32>(next_ % engines);
      Cu* best = nullptr;
      for (u32 cu = engine; cu < cus_.size(); cu += engines)
        if (best == nullptr || cus_[cu].workgroups < best->workgroups) best = &cus_[cu];
      if (best == nullptr || best->workgroups >= load_.workgroups_per_cu) return;
      launch(*best, *workgroups_[next_++], now);
    }
  }

  void launch(Cu& cu, const WorkgroupTrace& workgroup, f64 now) {
    dispatch_free_ =
        std::max(dispatch_free_, now) + static_cast<f64>(workgroup.waves.size()) / p_.device.waves_launched_per_clock;
    const f64 start = dispatch_free_ + p_.device.workgroup_launch_clocks;
    u32 group = 0;
    while (cu.groups[group].live != 0) ++group;
    cu.groups[group] = {.live = static_cast<u32>(workgroup.waves.size())};
    ++cu.workgroups;
    // Waves go round the SIMDs, starting at the one with fewest.
    u32 simd = 0;
    for (u32 k = 1; k < kSimds; ++k)
      if (cu.simds[k].waves < cu.simds[simd].waves) simd = k;
    for (const WaveTrace& trace : workgroup.waves) {
      const auto slot = std::ranges::find(cu.waves, nullptr, &WaveRun::trace);
      CHECK(slot != cu.waves.end(), "more waves than a CU holds");
      *slot = WaveRun{};
      slot->trace = &trace;
      slot->simd = simd;
      slot->group = group;
      slot->order = next_;
      slot->ready = slot->wanted = slot->started = start;
      ++cu.simds[simd].waves;
      simd = (simd + 1) % kSimds;
    }
  }

  // Issues everything before `until`, in the order of time; the oldest wave first.
  void advance(u32 cu_index, f64 until) {
    Cu& cu = cus_[cu_index];
    if (cu.workgroups == 0) return;
    for (;;) {
      WaveRun* next = nullptr;
      for (WaveRun& wave : cu.waves)
        if (wave.trace != nullptr &&
            (next == nullptr || wave.ready < next->ready || (wave.ready == next->ready && wave.order < next->order)))
          next = &wave;
      if (next == nullptr || next->ready >= until) return;
      step(cu_index, cu, *next);
    }
  }

  void step(u32 cu_index, Cu& cu, WaveRun& wave) {
    if (wave.run == wave.trace->runs.size()) return finish(cu, wave);
    const TraceRun& run = wave.trace->runs[wave.run];
    const u32 index = run.first + wave.at;
    const TimedOp& op = code_.op(index);
    if (!fetched(cu, wave, index)) return;
    f64 earliest = wave.ready;
    const StallCause cause = limit(cu, wave, op, earliest);
    if (earliest > wave.ready) {  // others may come first
      wave.cause = cause;
      wave.ready = earliest;
      return;
    }
    OpStalls& stalls = result_.stalls[index];
    ++stalls.executed;
    stalls.clocks[static_cast<u32>(wave.cause)] += static_cast<u64>(wave.ready - wave.wanted);
    wave.cause = StallCause::Issue;
    const bool ends_run = wave.at + op.size / 4u == run.dwords;
    const f64 now = wave.ready;
    issue(cu_index, cu, wave, op, stalls, now);
    wave.last_was_mfma = op.kind == TimedKind::Mfma;
    if (op.straddles) wave.ready += p_.issue.straddle_clocks;
    if (op.kind == TimedKind::Branch)
      wave.ready = now + (ends_run ? p_.issue.branch_taken_clocks : p_.issue.branch_not_taken_clocks);
    wave.wanted = wave.ready;
    wave.at += op.size / 4u;
    if (ends_run) {
      ++wave.run;
      wave.at = 0;
    }
    if (op.kind == TimedKind::Barrier) arrive(cu, wave, now);
  }

  // The instruction's line must be in the instruction cache.
  bool fetched(Cu& cu, WaveRun& wave, u32 index) {
    const u32 line = index * 4 / static_cast<u32>(p_.instruction_cache.line_bytes);
    if (line == wave.fetched_line) return true;
    wave.fetched_line = line;
    if (TagArray::Line* hit = cu.instructions.find(line)) {
      cu.instructions.touch(*hit);
      if (hit->filled <= wave.ready) return true;
      wave.ready = hit->filled;
    } else {
      TagArray::Line& place = cu.instructions.victim(line);
      place = {.tag = line, .filled = wave.ready + p_.instruction_cache.miss_clocks};
      cu.instructions.touch(place);
      wave.ready = place.filled;
    }
    wave.cause = StallCause::Fetch;
    return false;
  }

  // When the instruction can issue, and what it is that it waits for.
  StallCause limit(Cu& cu, WaveRun& wave, const TimedOp& op, f64& earliest) {
    Simd& simd = cu.simds[wave.simd];
    StallCause cause = StallCause::Issue;
    const auto wait_for = [&](f64 time, StallCause why) {
      if (time <= earliest) return;
      earliest = time;
      cause = why;
    };
    switch (op.kind) {
      case TimedKind::Valu:
        wait_for(simd.valu_free, StallCause::Issue);
        if (op.packed_f32) wait_for(simd.mfma_free, StallCause::Mfma);
        break;
      case TimedKind::Mfma:
        wait_for(simd.valu_free, StallCause::Issue);
        wait_for(simd.mfma_free, StallCause::Mfma);
        wait_for(simd.packed_free, StallCause::Issue);
        break;
      case TimedKind::VectorMemory:
        wait_for(simd.memory_free, StallCause::Issue);
        wait_for(cu.vector_memory.earliest_issue(), StallCause::MemoryPipe);
        break;
      case TimedKind::LdsAccess:
      case TimedKind::LdsCrossbar:
        wait_for(simd.lds_free, StallCause::Issue);
        wait_for(cu.lds_ports[wave.simd / 2].earliest_issue(), StallCause::LdsPipe);
        break;
      case TimedKind::Salu:
      case TimedKind::Smem:
      case TimedKind::Branch:
        wait_for(simd.scalar_free, StallCause::Issue);
        break;
      default:
        break;
    }
    return cause;
  }

  // The wave sits in the wait itself and goes on as soon as what it waits for is there.
  void wait(WaveRun& wave, const TimedOp& op, OpStalls& stalls, f64 now) {
    f64 until = now;
    StallCause cause = StallCause::Memory;
    if (op.vector_wait != TimedOp::kAny) until = wave.vector.until(op.vector_wait, now);
    if (op.lds_wait != TimedOp::kAny) {
      until = std::max(until, wave.scalar_done);
      const f64 lds_until = wave.lds.until(op.lds_wait, now);
      if (lds_until > until) cause = StallCause::Lds;
      until = std::max(until, lds_until);
    }
    if (until <= wave.ready) return;
    stalls.clocks[static_cast<u32>(cause)] += static_cast<u64>(until - wave.ready);
    wave.ready = until;
  }

  void issue(u32 cu_index, Cu& cu, WaveRun& wave, const TimedOp& op, OpStalls& stalls, f64 now) {
    Simd& simd = cu.simds[wave.simd];
    const f64 turn = p_.issue.scalar_clocks;
    wave.ready = now + turn;
    switch (op.kind) {
      case TimedKind::Valu:
        simd.valu_free = now + op.clocks;
        if (op.packed_f32)
          simd.packed_free = now + op.clocks + (wave.last_was_mfma ? p_.issue.packed_f32_after_mfma_clocks : 1.0);
        result_.valu_busy += op.clocks;
        break;
      case TimedKind::Mfma:
        simd.valu_free = now + p_.issue.valu_clocks;
        simd.mfma_free = now + op.clocks;
        result_.mfma_busy += op.clocks;
        break;
      case TimedKind::VectorMemory:
        simd.memory_free = now + turn;
        vector_memory(cu_index, cu, wave, op, now);
        break;
      case TimedKind::LdsAccess:
      case TimedKind::LdsCrossbar:
        simd.lds_free = now + turn;
        lds(cu, wave, op, now);
        break;
      case TimedKind::Smem:
        scalar_memory(cu, wave, now);
        [[fallthrough]];
      case TimedKind::Salu:
      case TimedKind::Branch:
        simd.scalar_free = now + turn;
        break;
      case TimedKind::Wait:
        wait(wave, op, stalls, now);
        break;
      case TimedKind::Nop:
      case TimedKind::Sleep:
        wave.ready = now + op.clocks;
        break;
      default:
        break;
    }
  }

  void vector_memory(u32 cu_index, Cu& cu, WaveRun& wave, const TimedOp& op, f64 now) {
    const u32 word = wave.trace->words[wave.word++];
    const u32 lines = trace_word::lines(word), segments = trace_word::segments(word);
    const f64 busy = std::max(kWaveSize / p_.vector_memory.lanes_per_clock,
                              segments * kSegmentBytes / p_.vector_memory.segment_bytes);
    const f64 start = cu.vector_memory.enter(now, busy);
    result_.vector_memory_busy += busy;
    f64 done = start + p_.l1.hit_clocks;
    // Scratch belongs to the wave's slot on its CU, not to the workgroup.
    const u32 slot = cu_index * kWaveSlots + static_cast<u32>(&wave - cu.waves.data());
    const u32 scratch = slot * static_cast<u32>(load_.scratch_bytes_per_wave / kLineBytes + 1);
    for (u32 k = 0; k < lines; ++k) {
      u32 line = wave.trace->lines[wave.line + k];
      if ((line & kScratchLine) != 0) line += scratch;
      const f64 at = start + busy * k / lines;
      f64 line_done;
      if (op.atomic)
        line_done = memory_.atomic(cu_index, line, at);
      else if (op.writes)
        line_done = memory_.store(cu_index, line, segments * kSegmentBytes / lines, at);
      else
        line_done = memory_.load(cu_index, line, at);
      done = std::max(done, line_done);
    }
    wave.line += lines;
    wave.vector.push(std::max(done, start + busy));
  }

  void lds(Cu& cu, WaveRun& wave, const TimedOp& op, f64 now) {
    Queue& port = cu.lds_ports[wave.simd / 2];
    f64 busy = kWaveSize * op.bytes * op.accesses / p_.lds.port_bytes_per_clock, banks = kWaveSize / 32.0;
    f64 latency = p_.lds.crossbar_clocks;
    if (op.kind == TimedKind::LdsAccess) {
      banks = wave.trace->words[wave.word++];
      const u32 width = u32{op.bytes} * op.accesses;
      latency = width <= 4 ? p_.lds.latency_b32 : width <= 8 ? p_.lds.latency_b64 : p_.lds.latency_b128;
      if (op.writes) busy += p_.lds.write_extra_clocks;
    }
    busy = std::max({busy, banks, p_.issue.scalar_clocks});
    // The banks serve both ports.
    const f64 start = std::max(port.enter(now, busy), cu.lds_banks_free - busy);
    cu.lds_banks_free = std::max(cu.lds_banks_free, start) + banks;
    result_.lds_busy += banks;
    wave.lds.push(start + latency + std::max(0.0, banks - 4));
  }

  void scalar_memory(Cu& cu, WaveRun& wave, f64 now) {
    const u32 line = wave.trace->words[wave.word++];
    f64 done = now + p_.scalar_memory.hit_clocks;
    if (TagArray::Line* hit = cu.scalars.find(line)) {
      cu.scalars.touch(*hit);
    } else {
      TagArray::Line& place = cu.scalars.victim(line);
      place = {.tag = line};
      cu.scalars.touch(place);
      done = now + p_.scalar_memory.miss_clocks;
    }
    wave.scalar_done = std::max(wave.scalar_done, done);
  }

  void arrive(Cu& cu, WaveRun& wave, f64 now) {
    Group& group = cu.groups[wave.group];
    ++group.arrived;
    wave.ready = kNever;
    wave.wanted = now + p_.issue.scalar_clocks;
    wave.cause = StallCause::Barrier;
    release_if_complete(cu, wave.group, now);
  }

  void release_if_complete(Cu& cu, u32 group_index, f64 now) {
    Group& group = cu.groups[group_index];
    if (group.arrived == 0 || group.arrived != group.live) return;
    group.arrived = 0;
    for (WaveRun& other : cu.waves)
      if (other.trace != nullptr && other.group == group_index && other.ready == kNever)
        other.ready = now + p_.issue.barrier_clocks;
  }

  void finish(Cu& cu, WaveRun& wave) {
    // The stores still on their way keep the wave's registers.
    const f64 end = wave.vector.until(0, wave.ready);
    result_.wave_clocks += end - wave.started;
    result_.lds_conflict_clocks += static_cast<f64>(wave.trace->lds_conflict_clocks);
    --cu.simds[wave.simd].waves;
    Group& group = cu.groups[wave.group];
    --group.live;
    wave.trace = nullptr;
    last_end_ = std::max(last_end_, end);
    release_if_complete(cu, wave.group, wave.ready);
    if (group.live != 0) return;
    --cu.workgroups;
    result_.completions.push_back(end);
  }

  const TimingParameters& p_;
  const LaunchTracer& code_;
  const XcdLoad& load_;
  std::span<const std::unique_ptr<WorkgroupTrace>> workgroups_;
  MemoryModel memory_;
  std::vector<Cu> cus_;
  XcdResult result_;
  size_t next_ = 0;
  f64 dispatch_free_ = 0, last_end_ = 0;
};

}  // namespace

XcdResult run_xcd(const TimingParameters& parameters, const LaunchTracer& code, const XcdLoad& load,
                  std::span<const std::unique_ptr<WorkgroupTrace>> workgroups) {
  return Xcd(parameters, code, load, workgroups).run();
}

}  // namespace hipbench::emulator
