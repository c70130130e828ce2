#include "emulator/timing/trace.hpp"

#include <algorithm>
#include <bit>

#include "emulator/isa/lanes.hpp"
#include "emulator/isa/wave.hpp"
#include "emulator/timing/lds_conflicts.hpp"

namespace hipbench::emulator {

namespace {

// The lines that a vector memory instruction touches, in lane order, and the 64-byte pieces that are moved one a clock.
struct Touched {
  static constexpr u32 kMost = 1024;
  u32 lines[kMost];
  u32 count = 0, segments = 0;
  u64 last_segment = ~u64{0};

  void add(u64 address, u32 bytes) {
    add_segment(address / kSegmentBytes);
    if (address % kSegmentBytes + bytes > kSegmentBytes) add_segment(address / kSegmentBytes + 1);
  }
  void add_segment(u64 segment) {
    if (segment == last_segment) return;
    last_segment = segment;
    ++segments;
    const u32 line = static_cast<u32>(segment / (kLineBytes / kSegmentBytes)) & ~kScratchLine;
    if (count != 0 && lines[count - 1] == line) return;
    if (std::find(lines, lines + count, line) != lines + count || count == kMost) return;
    lines[count++] = line;
  }
  void append_to(WaveTrace& trace, u32 flags) const {
    trace.words.push_back(trace_word::pack(count, std::min(segments, 0xffffu)));
    for (u32 k = 0; k < count; ++k) trace.lines.push_back(lines[k] | flags);
  }
};

template <typename Visit>
void for_each_lane(u64 active, const Visit& visit) {
  for (u64 left = active; left != 0; left &= left - 1) visit(static_cast<u32>(std::countr_zero(left)));
}

u32 vector_offset(Wave& wave, const Operand& operand, u32 lane) {
  return operand.is_vgpr() ? wave.vgpr(operand.index)[lane] : 0;
}
u32 scalar_offset(const Wave& wave, const Operand& operand) {
  return operand.is_scalar() ? wave.sgprs[operand.index] : static_cast<u32>(operand.constant);
}

// Scratch lies interleaved by dwords: the same dword of all lanes is one piece of 256 bytes.
void touch_scratch(Wave& wave, const TimedOp& op, Touched& touched) {
  const Inst& inst = *op.inst;
  // Loads have destination, address, scalar; stores address, data, scalar.
  const Operand& address = inst.operands[op.address_operand];
  const Operand& scalar = inst.operands[2];
  const u32 base = (scalar.is_scalar() ? wave.sgprs[scalar.index] : 0) + static_cast<u32>(inst.mods.offset);
  for (u32 d = 0; d < std::max(1u, op.bytes / 4u); ++d)
    for_each_lane(wave.exec(), [&](u32 lane) {
      const u64 dword = (base + vector_offset(wave, address, lane)) / 4 + d;
      touched.add((dword * kWaveSize + lane) * 4, 4);
    });
}

void touch_buffer(Wave& wave, const TimedOp& op, Touched& touched) {
  const Inst& inst = *op.inst;
  const Operand& resource = inst.operands[op.address_operand + 1];
  if (!resource.is_scalar() || resource.index + 3u >= std::size(wave.sgprs)) return;  // executing it faults
  const u32* words = &wave.sgprs[resource.index];
  const u64 base =
      (u64{words[1] & 0xffff} << 32 | words[0]) + scalar_offset(wave, inst.operands[op.address_operand + 2]);
  const u32 stride = words[1] >> 16 & 0x3fff, records = words[2];
  const Operand& address = inst.operands[op.address_operand];
  const u32* given = address.is_vgpr() ? wave.vgpr(address.index) : nullptr;
  for_each_lane(wave.exec(), [&](u32 lane) {
    u64 place = static_cast<u32>(inst.mods.offset);
    if (given != nullptr && inst.mods.offen) place += given[inst.mods.idxen ? kWaveSize + lane : lane];
    if (given != nullptr && inst.mods.idxen) place += u64{given[lane]} * stride;
    const u64 limit = inst.mods.idxen && stride != 0 ? u64{records} * stride : records;
    if (place < limit) touched.add(base + place, op.bytes);
  });
}

void touch_global(Wave& wave, const TimedOp& op, Touched& touched) {
  const Inst& inst = *op.inst;
  const Operand& address = inst.operands[op.address_operand];
  if (!address.is_vgpr()) return;
  // Behind the address: the data of a store or atomic, or the scalar base of a load.
  const u32 behind = op.address_operand + (op.writes || op.atomic ? 2u : 1u);
  const bool has_base =
      op.form == AddressForm::Global && behind < inst.operand_count && inst.operands[behind].is_scalar();
  const u32 *low = wave.vgpr(address.index), *high = low + kWaveSize;
  const u64 offset = static_cast<u64>(i64{inst.mods.offset});
  const u64 base = has_base ? wave.scalar64(inst.operands[behind].index) + offset : offset;
  u32 in_lds[kWaveSize] = {};
  u64 lds_lanes = 0;
  for_each_lane(wave.exec(), [&](u32 lane) {
    const u64 at = base + (has_base ? u64{low[lane]} : u64{low[lane]} | u64{high[lane]} << 32);
    if (at < kLdsAperture) touched.add(at, op.bytes);
    if (at - kLdsAperture > u64{0xffff'ffff}) return;
    in_lds[lane] = static_cast<u32>(at - kLdsAperture);
    lds_lanes |= u64{1} << lane;
  });
  // What FLAT finds in LDS takes its banks as long as it would as an LDS instruction.
  if (lds_lanes != 0) touched.segments += lds_access_clocks(in_lds, 0, lds_lanes, op.bytes, op.writes).all;
}

void record_lds(WaveTrace& trace, Wave& wave, const TimedOp& op) {
  const Operand& address = op.inst->operands[op.address_operand];
  u32 clocks = 0;
  if (address.is_vgpr()) {
    const u32* lanes = wave.vgpr(address.index);
    for (u32 k = 0; k < op.accesses; ++k) {
      const LdsClocks access = lds_access_clocks(lanes, op.offsets[k], wave.exec(), op.bytes, op.writes);
      clocks += access.all;
      trace.lds_conflict_clocks += access.conflicts;
    }
  }
  trace.words.push_back(clocks);
}

// Base register pair, then an immediate or register offset.
void record_scalar_memory(WaveTrace& trace, const Wave& wave, const Inst& inst) {
  const bool buffer = inst.operands[1].dwords == 4;
  u64 address = inst.operands[1].is_scalar() ? wave.scalar64(inst.operands[1].index) : 0;
  if (buffer) address &= 0xffff'ffff'ffff;
  address += scalar_offset(wave, inst.operands[2]) + static_cast<u64>(i64{inst.mods.offset});
  trace.words.push_back(static_cast<u32>(address / 64));
}

// SplitMix64 (Steele, Lea, Flood 2014): every bit of the result depends on every one of the secret.
u64 mixed(u64 secret) {
  u64 z = secret + 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

}  // namespace

LaunchTracer::LaunchTracer(const TimingParameters& parameters, u64 code_base, u64 code_bytes, u64 workgroups,
                           u64 resident, std::optional<u64> secret)
    : parameters_(parameters),
      code_base_(code_base),
      slots_(code_bytes / 4 + 1),
      of_xcd_((workgroups + static_cast<u64>(parameters.device.xcds) - 1) / static_cast<u64>(parameters.device.xcds)),
      resident_(std::max<u64>(resident, 1)),
      ops_(std::make_unique<std::atomic<const TimedOp*>[]>(slots_)),
      wanted_(of_xcd_) {
  if (!secret) return;
  witnesses_ = of_xcd_;  // until the first workgroup says what can be afforded
  secret_ = mixed(*secret);
}

std::unique_ptr<WorkgroupTrace> LaunchTracer::begin(u64 linear, u32 waves) {
  const u64 xcds = static_cast<u64>(parameters_.device.xcds);
  const u64 xcd = linear % xcds, local = linear / xcds;
  if (!wants(xcd, local)) return nullptr;
  auto trace = std::make_unique<WorkgroupTrace>();
  trace->xcd = xcd;
  trace->local = local;
  trace->waves.resize(waves);
  return trace;
}

bool LaunchTracer::wants(u64 xcd, u64 local) const {
  if (xcd == 0 && local < wanted_.load(std::memory_order_relaxed)) return true;
  const u64 witnesses = witnesses_.load(std::memory_order_relaxed);
  return local - first_of(witnesses) < witnesses;
}

void Effort::add(const Effort& other) {
  workgroups += other.workgroups;
  instructions += other.instructions;
  mfma_flops += other.mfma_flops;
  memory_bytes += other.memory_bytes;
  lds_instructions += other.lds_instructions;
  longest_wave = std::max(longest_wave, other.longest_wave);
}

void LaunchTracer::add_effort(const Effort& effort) {
  const std::lock_guard lock(mutex_);
  effort_.add(effort);
}

void LaunchTracer::end(std::unique_ptr<WorkgroupTrace> trace) {
  const std::lock_guard lock(mutex_);
  if (trace->xcd == 0 && trace->local == 0) {
    // The first workgroup says how many can be afforded. The whole number that is resident at once, or a part of it.
    u64 instructions = 1;
    for (const WaveTrace& wave : trace->waves) instructions += wave.instructions;
    const u64 affordable = std::max<u64>(1, static_cast<u64>(parameters_.sampling.traced_instructions) / instructions);
    u64 wanted = std::min(of_xcd_, affordable);
    if (wanted < of_xcd_ && wanted > resident_) wanted -= wanted % resident_;
    wanted_.store(wanted, std::memory_order_relaxed);
    // All there are, if they cost at most a quarter as much together; else some for a sixteenth.
    const u64 xcds = static_cast<u64>(parameters_.device.xcds);
    if (witnesses() > affordable / (4 * xcds))
      witnesses_.store(std::min(witnesses(), std::max<u64>(1, affordable / (16 * xcds))), std::memory_order_relaxed);
  }
  done_.push_back(std::move(trace));
}

LaunchTracer::Traces LaunchTracer::take() {
  const std::lock_guard lock(mutex_);
  std::ranges::sort(done_, {}, [](const auto& trace) { return trace->local; });
  // Whatever was begun before the first workgroup had said how many are wanted does not count.
  Traces wanted, others;
  for (auto& trace : done_)
    (trace->xcd == 0 && trace->local < wanted_.load() ? wanted : others).push_back(std::move(trace));
  done_ = std::move(others);
  return wanted;
}

std::vector<LaunchTracer::Traces> LaunchTracer::take_witnesses() {
  const std::lock_guard lock(mutex_);
  std::vector<Traces> result(static_cast<size_t>(parameters_.device.xcds));
  for (auto& trace : done_)
    if (trace->local - first_witness() < witnesses()) result[trace->xcd].push_back(std::move(trace));
  done_.clear();
  return result;
}

const TimedOp& LaunchTracer::op_of(const Inst& inst) {
  std::atomic<const TimedOp*>& slot = ops_[(inst.pc - code_base_) / 4];
  if (const TimedOp* known = slot.load(std::memory_order_acquire)) [[likely]]
    return *known;
  const std::lock_guard lock(mutex_);
  if (const TimedOp* known = slot.load(std::memory_order_relaxed)) return *known;
  storage_.push_back(time_op(inst, parameters_));
  slot.store(&storage_.back(), std::memory_order_release);
  return storage_.back();
}

void LaunchTracer::record_vector_memory(WaveTrace& trace, Wave& wave, const TimedOp& op) {
  Touched touched;
  switch (op.form) {
    case AddressForm::Scratch:
      touch_scratch(wave, op, touched);
      break;
    case AddressForm::Buffer:
      touch_buffer(wave, op, touched);
      break;
    case AddressForm::Global:
    case AddressForm::Flat:
      touch_global(wave, op, touched);
      break;
    case AddressForm::None:
      break;
  }
  touched.append_to(trace, op.form == AddressForm::Scratch ? kScratchLine : 0);
}

const TimedOp* LaunchTracer::record(WaveTrace& trace, Wave& wave, const Inst& inst) {
  const u64 slot = (inst.pc - code_base_) / 4;
  if (slot >= slots_) return nullptr;
  const TimedOp& op = op_of(inst);
  const u32 index = static_cast<u32>(slot);
  ++trace.instructions;
  if (trace.runs.empty() || trace.runs.back().first + trace.runs.back().dwords != index)
    trace.runs.push_back({index, 0});
  trace.runs.back().dwords += op.size / 4u;
  switch (op.kind) {
    case TimedKind::VectorMemory:
      record_vector_memory(trace, wave, op);
      break;
    case TimedKind::LdsAccess:
      record_lds(trace, wave, op);
      break;
    case TimedKind::Smem:
      record_scalar_memory(trace, wave, inst);
      break;
    default:
      break;
  }
  return &op;
}

}  // namespace hipbench::emulator
