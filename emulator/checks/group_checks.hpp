#pragma once
// The checks of one resident workgroup: observers of its waves, and the shadow of its LDS. A workgroup is executed by
// one host thread. Reused by the next workgroup on that thread.

#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "emulator/checks/deadlock_watch.hpp"
#include "emulator/checks/launch_checks.hpp"
#include "emulator/checks/lds_shadow.hpp"
#include "emulator/checks/pending_results.hpp"
#include "emulator/checks/unwritten_registers.hpp"
#include "emulator/isa/inst.hpp"
#include "emulator/isa/wave.hpp"

namespace hipbench::emulator {

class GroupChecks;

class WaveChecks final : public AccessObserver {
 public:
  WaveChecks(GroupChecks& group, u32 index) : group_(group), index_(index) {}

  void loads(Wave& wave, const LaneAddresses& at, u32 size) override;
  void stores(Wave& wave, const LaneAddresses& at, u32 size, const u32* source, u32 shift) override;
  void access(Wave& wave, const std::byte* host, u32 size, u32 lane, AccessKind kind, const void* data) override;
  void scalar_load(Wave& wave, const std::byte* host, u32 size) override;
  void atomic_done(bool changed) override;
  void fence() override;

  void begin(u64 lanes);
  // An instruction is about to be executed.
  void before(const Wave& wave, const Inst& inst);
  // The wave waits at the barrier that its last instruction was.
  void reached_barrier(const Wave& wave);

 private:
  class StoredBytes;

  void lds_access(Wave& wave, const Inst& inst, u32 offset, u32 size, u32 lane, AccessKind kind,
                  const StoredBytes& bytes);
  void global_load(const Inst& inst, const std::byte* host, u32 size, int lane);
  void global_store(const Inst& inst, const std::byte* host, u32 size, u32 lane, const StoredBytes& bytes);
  void global_atomic(const Inst& inst, const std::byte* host, u32 size, u32 lane);
  // A vector load, data or (with a wider scope) an atomic one.
  void scoped_load(const Inst& inst, const std::byte* host, u32 size, u32 lane);
  void dense_lds_load(const Inst& inst, u32 offset, u32 size);
  // Whether a wave's lanes need no closer look, seen from the range they span.
  bool lanes_are_clean(const LaneAddresses& at, u32 size);
  void check_lanes_rejoined(const Wave& wave);
  [[noreturn]] void report_pending(const Inst& inst, const PendingResults::Finding& finding) const;
  [[noreturn]] void report_unwritten(const Inst& inst, const UnwrittenRegisters::Finding& finding) const;
  // Loads and stores of agent or system scope are atomic operations between workgroups, not data.
  void note_scope(const Inst& inst, AccessKind kind);
  // Thrown at once or held back.
  void report_lds(const Inst& inst, const LdsShadow::Finding& finding, u32 size, u32 lane, AccessKind kind);
  [[noreturn]] void report_global(const Inst& inst, const GlobalShadow::Finding& finding, u32 size, int lane,
                                  AccessKind kind) const;

  GroupChecks& group_;
  const u32 index_;
  PendingResults pending_;
  UnwrittenRegisters unwritten_;
  u64 lanes_ = 0;          // work-items the wave began with
  u64 missed_barrier_ = 0; // lanes that were switched off when the wave reached a barrier
  u64 barrier_code_ = 0;   // where that was
};

class GroupChecks {
 public:
  GroupChecks(LaunchChecks& launch, u32 waves);

  // Registers are those the kernel was given: the rest of the file holds nothing.
  void begin(u64 linear_index, u32 lds_bytes, u32 block_items, u32 vgprs, u32 agprs);
  AccessObserver* observer(u32 wave) { return &waves_[wave]; }
  void before(const Wave& wave, const Inst& inst) { waves_[wave.index].before(wave, inst); }
  void reached_barrier(const Wave& wave) { waves_[wave.index].reached_barrier(wave); }
  void barrier_done();
  // A finding that is held back until the barrier. A read of LDS that nobody has written: another wave's late write is
  // the better report. A plain read against atomics: all is well if the reader goes on to change the place atomically.
  struct LateFault {
    GuestFault fault;
    const Inst* inst;
    u32 wave;
    i64 read_dword = -1;   // the plain read of which wave
    u32 reader = 0;
  };
  std::optional<LateFault> take_late_fault() { return std::exchange(late_fault_, std::nullopt); }
  // The waves have had their turn. True when none of them can go on unless memory changes.
  bool end_turn(std::span<const Wave> waves);
  LaunchChecks& launch() { return launch_; }

 private:
  friend class WaveChecks;
  LaunchChecks& launch_;
  u64 linear_ = 0;
  u32 vgprs_ = 0, agprs_ = 0;
  bool stored_ = false;  // in this turn
  std::optional<LateFault> late_fault_;
  LdsShadow lds_;
  std::vector<SyncState> sync_;   // of the waves, for LDS
  std::deque<WaveChecks> waves_;
  std::vector<SpinState> spins_;
};

}  // namespace hipbench::emulator
