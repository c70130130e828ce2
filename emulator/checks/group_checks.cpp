#include "emulator/checks/group_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <thread>

#include "emulator/isa/memory_access.hpp"
#include "emulator/isa/op_table.hpp"
#include "emulator/isa/program.hpp"

namespace hipbench::emulator {

namespace {

// Every memory instruction of gfx942 is two dwords long, and the wave is one instruction further while it executes.
const Inst& current(const Wave& wave) { return *wave.program->at(wave.pc - 8); }

bool is_atomic_that_returns(const Inst& inst) {
  if (inst.op == nullptr) return false;
  return inst.mods.sc0 || inst.op->name.find("_rtn") != std::string_view::npos;
}

// A swap overwrites without looking.
bool is_swap(const Inst& inst) {
  if (inst.op == nullptr) return false;
  const std::string_view name = inst.op->name;
  return name.find("wrxchg") != std::string_view::npos ||
         (name.find("_swap") != std::string_view::npos && name.find("cmpswap") == std::string_view::npos);
}

const char* verb(AccessKind kind) {
  return kind == AccessKind::Load ? "reads" : kind == AccessKind::Store ? "writes" : "changes atomically";
}

// Asked anew for a while: the other workgroup's store may be noted, but not done yet, and write what ours is going to.
template <typename Question>
bool stays_true(const Question& question) {
  constexpr auto kLongestStore = std::chrono::milliseconds(50);
  const auto start = std::chrono::steady_clock::now();
  while (question()) {
    if (std::chrono::steady_clock::now() - start > kLongestStore) return true;
    std::this_thread::yield();
  }
  return false;
}

std::string vector_register(u32 index) {
  return index >= kAgprBase ? fmt::format("a{}", index - kAgprBase) : fmt::format("v{}", index);
}

const std::byte* lane_host(const LaneAddresses& at, u32 size, u32 lane) {
  using Pattern = LaneAddresses::Pattern;
  if (at.pattern == Pattern::Uniform) return at.host[0];
  if (at.pattern == Pattern::Contiguous) return at.host[0] + u64{lane} * size;
  return at.host[lane];
}

}  // namespace

// What a store is about to write, to tell whether it changes anything.
class WaveChecks::StoredBytes {
 public:
  StoredBytes(const void* data, u32 size) : known_(data != nullptr) {
    if (known_) std::memcpy(bytes_, data, std::min<u32>(size, sizeof bytes_));
  }
  StoredBytes(const u32* source, u32 shift, u32 size, u32 lane) {
    for (u32 k = 0; k * 4 < size && k < 4; ++k) {
      const u32 dword = source[k * kWaveSize + lane] >> shift;
      std::memcpy(bytes_ + 4 * k, &dword, 4);
    }
  }
  // Compares `mask` of the dword at `dword` (relative to the store's first byte, perhaps before it) with memory.
  bool changes(const std::byte* first, i64 dword, u32 mask) const {
    if (!known_) return true;
    for (u32 k = 0; k < 4; ++k)
      if ((mask >> k & 1) != 0 && first[dword + k] != bytes_[dword + k]) return true;
    return false;
  }

 private:
  std::byte bytes_[16] = {};
  bool known_ = true;
};

// ---- The interface to the instruction rows ----

void WaveChecks::loads(Wave& wave, const LaneAddresses& at, u32 size) {
  if (at.active == 0) return;
  check_lanes_rejoined(wave);
  const u32 first = static_cast<u32>(std::countr_zero(at.active));
  const Inst& inst = current(wave);
  const u64 lds_offset = static_cast<u64>(lane_host(at, size, first) - wave.lds);
  if (lds_offset < wave.lds_size) {
    if (at.pattern == LaneAddresses::Pattern::Contiguous && size % 4 == 0 && lds_offset % 4 == 0)
      return dense_lds_load(inst, static_cast<u32>(lds_offset), size);
    const std::byte* before = nullptr;
    for (u64 left = at.active; left != 0; left &= left - 1) {
      const u32 lane = static_cast<u32>(std::countr_zero(left));
      const std::byte* host = lane_host(at, size, lane);
      if (host == before) continue;  // neighbours often share what they read
      before = host;
      lds_access(wave, inst, static_cast<u32>(host - wave.lds), size, lane, AccessKind::Load, StoredBytes(nullptr, 0));
    }
    return;
  }
  note_scope(inst, AccessKind::Load);
  if (lanes_are_clean(at, size)) return;
  const std::byte* before = nullptr;
  for (u64 left = at.active; left != 0; left &= left - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    const std::byte* host = lane_host(at, size, lane);
    if (host == before) continue;
    before = host;
    scoped_load(inst, host, size, lane);
  }
}

void WaveChecks::stores(Wave& wave, const LaneAddresses& at, u32 size, const u32* source, u32 shift) {
  if (at.active == 0) return;
  check_lanes_rejoined(wave);
  group_.stored_ = true;
  const Inst& inst = current(wave);
  const u32 first = static_cast<u32>(std::countr_zero(at.active));
  const bool lds = static_cast<u64>(lane_host(at, size, first) - wave.lds) < wave.lds_size;
  if (!lds) note_scope(inst, AccessKind::Store);
  for (u64 left = lanes_that_store(at); left != 0; left &= left - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    const std::byte* host = lane_host(at, size, lane);
    const StoredBytes bytes(source, shift, size, lane);
    if (lds)
      lds_access(wave, inst, static_cast<u32>(host - wave.lds), size, lane, AccessKind::Store, bytes);
    else
      global_store(inst, host, size, lane, bytes);
  }
}

void WaveChecks::access(Wave& wave, const std::byte* host, u32 size, u32 lane, AccessKind kind, const void* data) {
  check_lanes_rejoined(wave);
  const Inst& inst = current(wave);
  const StoredBytes bytes(data, size);
  const u64 lds_offset = static_cast<u64>(host - wave.lds);
  if (kind == AccessKind::Store) group_.stored_ = true;
  const bool lds = lds_offset < wave.lds_size;
  if (lds) {
    lds_access(wave, inst, static_cast<u32>(lds_offset), size, lane, kind, bytes);
  } else if (kind == AccessKind::Load) {
    note_scope(inst, kind);
    scoped_load(inst, host, size, lane);
  } else if (kind == AccessKind::Store) {
    note_scope(inst, kind);
    global_store(inst, host, size, lane, bytes);
  } else {
    global_atomic(inst, host, size, lane);
  }
  if (kind != AccessKind::Atomic) return;
  // Within the workgroup an atomic in global memory orders LDS as well as one in LDS does.
  SyncState& sync = group_.sync_[index_];
  ++sync.releases;
  if (is_atomic_that_returns(inst)) sync.acquired = true;
  if (!lds) {
    group_.launch_.global().release(group_.linear_);
    if (is_atomic_that_returns(inst)) group_.launch_.global().acquire(group_.linear_);
  }
}

void WaveChecks::scalar_load(Wave& wave, const std::byte* host, u32 size) {
  const auto offset = group_.launch_.global().offset_of(host);
  if (!offset) return group_.launch_.note_progress();
  if (!group_.launch_.global().is_clean(*offset, size)) global_load(current(wave), host, size, -1);
}

void WaveChecks::atomic_done(bool changed) {
  if (changed) group_.launch_.note_progress();
}

void WaveChecks::fence() {
  ++group_.sync_[index_].releases;
  group_.sync_[index_].acquired = true;
  group_.launch_.global().release(group_.linear_);
  group_.launch_.global().acquire(group_.linear_);
}

// ---- LDS ----

void WaveChecks::dense_lds_load(const Inst& inst, u32 offset, u32 size) {
  const LdsShadow::Access access{index_, inst.pc - group_.launch_.load_base(), AccessKind::Load, group_.sync_.data()};
  const auto found = group_.lds_.access(access, offset, size * kWaveSize, [](u32, u32) { return true; });
  if (found) report_lds(inst, *found, size, (found->offset - offset) / size, AccessKind::Load);
}

void WaveChecks::lds_access(Wave& wave, const Inst& inst, u32 offset, u32 size, u32 lane, AccessKind kind,
                            const StoredBytes& bytes) {
  const LdsShadow::Access access{index_, inst.pc - group_.launch_.load_base(), kind, group_.sync_.data()};
  std::optional<GroupChecks::LateFault>& late = group_.late_fault_;
  if (kind == AccessKind::Atomic && late && late->reader == index_ && late->read_dword == offset / 4) late.reset();
  const auto found = group_.lds_.access(access, offset, size, [&](u32 dword, u32 mask) {
    return bytes.changes(wave.lds + offset, i64{dword} - i64{offset}, mask);
  });
  if (!found) return;
  if (found->uninitialised && kind == AccessKind::Atomic && is_swap(inst)) return;
  report_lds(inst, *found, size, lane, kind);
}

void WaveChecks::report_lds(const Inst& inst, const LdsShadow::Finding& finding, u32 size, u32 lane, AccessKind kind) {
  if (finding.uninitialised && group_.late_fault_) return;  // the first is enough
  const LaunchChecks& launch = group_.launch_;
  const std::string here = launch.at_source(inst.pc - launch.load_base());
  if (finding.uninitialised) {
    GuestFault fault{
        FaultKind::UninitialisedRead,
        fmt::format("lane {} of wave {} {} {} bytes of LDS{}, but byte {} was never written by this workgroup: LDS "
                    "holds anything "
                    "when a workgroup starts. Write it first, and call __syncthreads() if another wave writes it",
                    lane, index_, verb(kind), size, here, finding.offset),
        finding.offset, size, static_cast<int>(lane)};
    if (group_.waves_.size() == 1) throw fault;
    group_.late_fault_ = GroupChecks::LateFault{std::move(fault), &inst, index_};
    return;
  }
  GuestFault fault{
      FaultKind::Race,
      fmt::format(
          "lane {} of wave {} {} LDS byte {} ({} bytes){}, which wave {} {}{} with no barrier in between: which of "
          "the two comes first is left to chance. Put __syncthreads() between them",
          lane, index_, verb(kind), finding.offset, size, here, finding.other_wave,
          !finding.other_wrote   ? "read"
          : finding.other_atomic ? "changed atomically"
                                 : "wrote",
          launch.at_source(finding.earlier)),
      finding.offset, size, static_cast<int>(lane)};
  if (!finding.this_plain_read && !finding.other_plain_read) throw fault;
  if (!group_.late_fault_)
    group_.late_fault_ = GroupChecks::LateFault{std::move(fault), &inst, index_, finding.offset / 4,
                                                finding.this_plain_read ? index_ : finding.other_wave};
}

// ---- Global memory ----

void WaveChecks::note_scope(const Inst& inst, AccessKind kind) {
  if (!inst.mods.sc1) return;
  SyncState& sync = group_.sync_[index_];
  if (kind == AccessKind::Load) {
    sync.acquired = true;
    group_.launch_.global().acquire(group_.linear_);
  } else {
    ++sync.releases;
    group_.launch_.global().release(group_.linear_);
  }
}

bool WaveChecks::lanes_are_clean(const LaneAddresses& at, u32 size) {
  using Pattern = LaneAddresses::Pattern;
  GlobalShadow& global = group_.launch_.global();
  // Inactive lanes hold an active one's pointer.
  const std::byte *low = at.host[0], *high = at.host[0];
  if (at.pattern == Pattern::Contiguous) {
    high += (kWaveSize - 1) * size;
  } else if (at.pattern == Pattern::Scattered) {
    for (const std::byte* host : at.host) {
      low = host < low ? host : low;
      high = host > high ? host : high;
    }
  }
  const auto offset = global.offset_of(low);
  if (!offset) {
    group_.launch_.note_progress();  // memory that the host shares: the host may change it
    return true;
  }
  constexpr i64 kWideSpan = 64 * 4096;
  if (high - low <= kWideSpan && global.is_clean(*offset, static_cast<u64>(high - low) + size)) return true;
  return false;
}

void WaveChecks::global_load(const Inst& inst, const std::byte* host, u32 size, int lane) {
  GlobalShadow& global = group_.launch_.global();
  const auto offset = global.offset_of(host);
  if (!offset) return group_.launch_.note_progress();
  if (global.is_clean(*offset, size)) return;
  if (const auto found = global.load(*offset, size, group_.linear_))
    report_global(inst, *found, size, lane, AccessKind::Load);
}

void WaveChecks::global_store(const Inst& inst, const std::byte* host, u32 size, u32 lane, const StoredBytes& bytes) {
  GlobalShadow& global = group_.launch_.global();
  const auto offset = global.offset_of(host);
  if (!offset) return;
  if (inst.mods.sc1) {  // a flag, or data handed over by atomic stores
    (void)global.atomic(*offset, size, false);
    return;
  }
  const auto found =
      global.store(*offset, size, group_.linear_, inst.pc - group_.launch_.load_base(), [&](u64 dword, u32 mask) {
        return stays_true([&] { return bytes.changes(host, static_cast<i64>(dword - *offset), mask); });
      });
  if (found) report_global(inst, *found, size, static_cast<int>(lane), AccessKind::Store);
}

void WaveChecks::global_atomic(const Inst& inst, const std::byte* host, u32 size, u32 lane) {
  GlobalShadow& global = group_.launch_.global();
  const auto offset = global.offset_of(host);
  if (!offset) return group_.launch_.note_progress();
  if (const auto found = global.atomic(*offset, size, !is_swap(inst)))
    report_global(inst, *found, size, static_cast<int>(lane), AccessKind::Atomic);
}

void WaveChecks::scoped_load(const Inst& inst, const std::byte* host, u32 size, u32 lane) {
  if (!inst.mods.sc1) return global_load(inst, host, size, static_cast<int>(lane));
  GlobalShadow& global = group_.launch_.global();
  const auto offset = global.offset_of(host);
  if (!offset) return group_.launch_.note_progress();
  if (const auto found = global.atomic(*offset, size, true))
    report_global(inst, *found, size, static_cast<int>(lane), AccessKind::Load);
}

void WaveChecks::report_global(const Inst& inst, const GlobalShadow::Finding& finding, u32 size, int lane,
                               AccessKind kind) const {
  const LaunchChecks& launch = group_.launch_;
  const u64 address = kDeviceMemoryBase + finding.offset;
  const std::string here = launch.at_source(inst.pc - launch.load_base());
  const std::string who = lane < 0 ? fmt::format("wave {}", index_) : fmt::format("lane {} of wave {}", lane, index_);
  if (finding.uninitialised)
    throw GuestFault{
        FaultKind::UninitialisedRead,
        fmt::format(
            "{} {} {} bytes{}, of which {} was never written since it was allocated: its value is left to chance. "
            "Fill it first (hipMemset, hipMemcpy or a kernel)",
            who, verb(kind), size, here, launch.describe(address)),
        address, size, lane};
  throw GuestFault{
      FaultKind::Race,
      fmt::format("{} of workgroup #{} {} {} ({} bytes){}, which workgroup #{} wrote{} in the same launch, with no "
                  "synchronisation in between: which of the two comes first is left to chance. Give the work to one "
                  "workgroup, use "
                  "atomics, or make it two launches",
                  who, group_.linear_, verb(kind), launch.describe(address), size, here, finding.other_group,
                  launch.at_source(finding.earlier)),
      address, size, lane};
}

// ---- Barriers ----

void WaveChecks::begin(u64 lanes) {
  lanes_ = lanes;
  missed_barrier_ = barrier_code_ = 0;
  pending_.begin();
  unwritten_.begin();
}

void WaveChecks::before(const Wave& wave, const Inst& inst) {
  if (const auto finding = pending_.before(wave, inst)) [[unlikely]]
    report_pending(inst, *finding);
  if (const auto finding = unwritten_.before(wave, inst)) [[unlikely]]
    report_unwritten(inst, *finding);
}

void WaveChecks::report_pending(const Inst& inst, const PendingResults::Finding& finding) const {
  const LaunchChecks& launch = group_.launch_;
  const char* wait = finding.vector_memory && finding.lds_or_scalar ? "s_waitcnt vmcnt(0) lgkmcnt(0)"
                     : finding.vector_memory                        ? "s_waitcnt vmcnt"
                                                                    : "s_waitcnt lgkmcnt";
  throw GuestFault{
      FaultKind::UninitialisedRead,
      fmt::format(
          "{} of wave {} is {}{} before the {} that the memory access{} needs: on the chip its result may not have "
          "arrived. Compilers write the wait themselves; inline assembly must contain it",
          finding.scalar ? fmt::format("s{}", finding.index) : vector_register(finding.index), index_,
          finding.overwritten ? "overwritten" : "used", launch.at_source(inst.pc - launch.load_base()), wait,
          launch.at_source(finding.issued_pc - launch.load_base())),
      0, 0, finding.lane};
}

void WaveChecks::report_unwritten(const Inst& inst, const UnwrittenRegisters::Finding& finding) const {
  const LaunchChecks& launch = group_.launch_;
  const std::string whence =
      finding.computed_pc == 0
          ? "to which nothing was written"
          : fmt::format("computed{} from a register to which nothing was written",
                        launch.at_source(finding.computed_pc - launch.load_base()));
  throw GuestFault{
      FaultKind::UninitialisedRead,
      fmt::format(
          "lane {} of wave {} {} {}{}, {}: its value is left to chance. Give the variable (an accumulator?) its "
          "first value",
          finding.lane, index_, finding.is_address ? "takes an address from" : "writes to memory",
          vector_register(finding.index), launch.at_source(inst.pc - launch.load_base()), whence),
      0, 0, finding.lane};
}

void WaveChecks::reached_barrier(const Wave& wave) {
  const u64 off = lanes_ & ~wave.exec();
  if (off == 0) return;
  // They may have returned early, which is allowed. It shows when they come back.
  missed_barrier_ |= off;
  barrier_code_ = wave.pc - 4 - group_.launch_.load_base();
}

void WaveChecks::check_lanes_rejoined(const Wave& wave) {
  const u64 back = missed_barrier_ & wave.exec();
  if (back == 0) [[likely]]
    return;
  const int lane = std::countr_zero(back);
  const LaunchChecks& launch = group_.launch_;
  throw GuestFault{
      FaultKind::DivergentBarrier,
      fmt::format(
          "lane {} of wave {} goes on{} without having been at the barrier{} that other work-items of its wave waited "
          "at: every work-item of a block must reach each __syncthreads(). Move it out of the divergent code",
          lane, index_, launch.at_source(wave.pc - 8 - launch.load_base()), launch.at_source(barrier_code_)),
      0, 0, lane};
}

// ---- Workgroup ----

GroupChecks::GroupChecks(LaunchChecks& launch, u32 waves) : launch_(launch), sync_(waves), spins_(waves) {
  for (u32 k = 0; k < waves; ++k) waves_.emplace_back(*this, k);
}

void GroupChecks::begin(u64 linear_index, u32 lds_bytes, u32 block_items, u32 vgprs, u32 agprs) {
  linear_ = linear_index;
  vgprs_ = vgprs;
  agprs_ = agprs;
  lds_.begin(lds_bytes);
  late_fault_.reset();
  for (u32 k = 0; k < waves_.size(); ++k) {
    sync_[k] = {};
    spins_[k] = {};
    const u32 items = std::min(block_items - k * kWaveSize, kWaveSize);
    waves_[k].begin(items == kWaveSize ? ~u64{0} : (u64{1} << items) - 1);
  }
}

void GroupChecks::barrier_done() {
  lds_.barrier();
  for (SyncState& sync : sync_) sync.acquired = false;
  launch_.note_progress();
}

bool GroupChecks::end_turn(std::span<const Wave> waves) {
  const bool goes_on =
      std::any_of(waves.begin(), waves.end(), [](const Wave& wave) { return wave.status == WaveStatus::Running; });
  // Noted after the stores were done: who looks at memory and sees nothing new has an older count, or comes round
  // again.
  if (std::exchange(stored_, false) || goes_on) launch_.note_progress();
  const u64 progress = launch_.progress();
  bool stuck = true;
  for (const Wave& wave : waves)
    if (wave.status == WaveStatus::Yielded && !spins_[wave.index].repeats(wave, vgprs_, agprs_, progress))
      stuck = false;
  return stuck && !goes_on;
}

}  // namespace hipbench::emulator
