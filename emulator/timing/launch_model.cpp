#include "emulator/timing/launch_model.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace hipbench::emulator {

namespace {

// The spread of the workgroups' ends in a round, as a standard error of their mean relative to the time.
f64 relative_error(const std::vector<f64>& completions) {
  if (completions.size() < 2) return 0.1;  // one sample says nothing of its spread
  f64 sum = 0, squares = 0;
  for (const f64 end : completions) {
    sum += end;
    squares += end * end;
  }
  const f64 count = static_cast<f64>(completions.size()), mean = sum / count;
  const f64 variance = std::max(0.0, squares / count - mean * mean);
  return mean > 0 ? std::sqrt(variance / count) / mean : 0;
}

// How many times as long as the modelled workgroups, which are `modelled` of a full XCD's residency, the XCD needs for
// all.
f64 rounds(u64 all, u64 resident, f64 modelled_rounds, u32 cus, u32 workgroups_per_cu) {
  const u64 full = all / resident, left = all % resident;
  // The last round is not full: between what throughput and what latency says of it.
  const f64 per_cu = std::ceil(static_cast<f64>(left) / cus) / workgroups_per_cu;
  const f64 last = left == 0 ? 0 : (1 + per_cu) / 2;
  return (static_cast<f64>(full) + last) / modelled_rounds;
}

// By the bytes that the lanes asked for, where all workgroups ran: some leave at once.
f64 times_the_bytes(const Effort& all, const Effort& sample, u64 workgroups) {
  if (all.workgroups == workgroups && sample.memory_bytes != 0)
    return static_cast<f64>(all.memory_bytes) / static_cast<f64>(sample.memory_bytes);
  return sample.workgroups == 0 ? 0 : static_cast<f64>(workgroups) / static_cast<f64>(sample.workgroups);
}

}  // namespace

f64 beyond_sample(const Effort& all, const Effort& sample) {
  f64 most = 1;
  // `weight`: as many take about as long as an instruction. What is below a 64th of all is not worth a look.
  const auto compare = [&](u64 of_all, u64 of_sample, f64 weight) {
    if (static_cast<f64>(of_all) * 64 < static_cast<f64>(all.instructions) * weight) return;
    const f64 average = static_cast<f64>(of_all) / static_cast<f64>(std::max<u64>(all.workgroups, 1));
    most = std::max(most, average * static_cast<f64>(sample.workgroups) / static_cast<f64>(of_sample));
  };
  compare(all.instructions, sample.instructions, 1);
  compare(all.mfma_flops, sample.mfma_flops, 32768);  // the largest instructions do as many
  compare(all.memory_bytes, sample.memory_bytes, 1024);
  compare(all.lds_instructions, sample.lds_instructions, 1);
  return most;
}

namespace {

// XCDs, and waves, that differ by less are alike: edges of tiles, memory that others have fetched.
constexpr f64 kAlike = 1.25;

// As many times as long as XCD 0's the slowest XCD takes for a few workgroups at the same places, where all of XCD 0's
// were traced. Else as its first ones, from which its time is reckoned.
f64 slower_elsewhere(const TimingParameters& parameters, const LaunchTracer& tracer, XcdLoad load,
                     std::span<const std::unique_ptr<WorkgroupTrace>> traces,
                     std::span<const LaunchTracer::Traces> witnesses) {
  const u64 count = std::min<u64>(tracer.witnesses(), traces.size());
  if (count == 0) return 1;
  const u64 place = traces.size() < tracer.workgroups_of_xcd() ? 0 : tracer.first_witness();
  const u64 per_cu = std::clamp<u64>(tracer.workgroups_of_xcd() / load.cus, 1, load.workgroups_per_cu);
  load.cus = static_cast<u32>(std::clamp<u64>((count + per_cu - 1) / per_cu, 1, load.cus));
  const f64 own = run_xcd(parameters, tracer, load, traces.subspan(place, count)).clocks;
  f64 most = 1;
  for (const LaunchTracer::Traces& other : witnesses)
    if (!other.empty()) most = std::max(most, run_xcd(parameters, tracer, load, other).clocks / own);
  return most > kAlike ? most : 1;
}

}  // namespace

u64 touched_bytes(const AddressSpace& memory, std::span<const std::unique_ptr<WorkgroupTrace>> traces) {
  std::set<u64> bases;
  u64 bytes = 0;
  const Allocation* last = nullptr;
  const auto touch = [&](u32 line) {
    const u64 address = kDeviceMemoryBase + u64{line} * kLineBytes;  // traces keep 39 bits of it
    if (last != nullptr && address + kLineBytes > last->base && address < last->base + last->size) return;
    const Allocation* found = memory.find(address);
    if (found == nullptr) return;
    last = found;
    if (bases.insert(found->base).second) bytes += found->size;
  };
  for (const auto& trace : traces)
    for (const WaveTrace& wave : trace->waves)
      for (const u32 line : wave.lines)
        if ((line & kScratchLine) == 0) touch(line);
  return bytes;
}

u64 resident_workgroups(const TimingParameters& parameters, u32 workgroups_per_cu) {
  return static_cast<u64>(parameters.device.cus_per_xcd) * std::max(workgroups_per_cu, 1u);
}

ModelledLaunch model_launch(const TimingParameters& parameters, LaunchTracer& tracer, const LaunchShape& shape,
                            std::span<const std::unique_ptr<WorkgroupTrace>> traces,
                            std::span<const LaunchTracer::Traces> witnesses) {
  ModelledLaunch launch;
  launch.workgroups = shape.workgroups;
  launch.traced_workgroups = traces.size();
  launch.xcd_workgroups = tracer.workgroups_of_xcd();
  for (const auto& trace : traces) launch.waited |= trace->waited;
  const u32 all_cus = static_cast<u32>(parameters.device.cus_per_xcd);
  const u64 resident = resident_workgroups(parameters, shape.workgroups_per_cu);
  XcdLoad load{
      .workgroups_per_cu = std::max(shape.workgroups_per_cu, 1u),
      .cus = all_cus,
      .active_xcds = static_cast<u32>(std::min<u64>(shape.workgroups, static_cast<u64>(parameters.device.xcds))),
      .scratch_bytes_per_wave = u64{shape.scratch_bytes_per_lane} * kWaveSize,
      .resident = static_cast<f64>(shape.touched_bytes) <= parameters.infinity_cache.bytes};
  f64 factor = 1;
  if (traces.size() < launch.xcd_workgroups) {
    if (traces.size() < resident) {
      // Fewer CUs, as full as all of them would be.
      const u64 per_cu = std::min<u64>(load.workgroups_per_cu, (launch.xcd_workgroups + all_cus - 1) / all_cus);
      load.cus = static_cast<u32>(std::clamp<u64>(traces.size() / per_cu, 1, all_cus));
      factor = launch.xcd_workgroups <= resident
                   ? 1
                   : rounds(launch.xcd_workgroups, resident, 1, all_cus, load.workgroups_per_cu);
    } else {
      const f64 modelled = static_cast<f64>(traces.size()) / static_cast<f64>(resident);
      factor = rounds(launch.xcd_workgroups, resident, modelled, all_cus, load.workgroups_per_cu);
    }
  }
  launch.xcd = run_xcd(parameters, tracer, load, traces);
  if (traces.size() < launch.xcd_workgroups) launch.sampling_error = relative_error(launch.xcd.completions);
  Effort sample;
  for (const auto& trace : traces) sample.add(trace->effort);
  launch.of_sample = times_the_bytes(tracer.effort(), sample, shape.workgroups);
  if (tracer.effort().instructions != 0) launch.beyond_sample = beyond_sample(tracer.effort(), sample);
  load.cus = all_cus;
  launch.beyond_sample =
      std::max(launch.beyond_sample, slower_elsewhere(parameters, tracer, load, traces, witnesses));
  factor *= launch.beyond_sample;
  f64 clocks = launch.xcd.clocks * factor;
  // No wave issues faster, and the sample need not hold the one that has most to do.
  if (const u64 longest = tracer.effort().longest_wave; static_cast<f64>(longest) > kAlike * static_cast<f64>(sample.longest_wave))
    clocks = std::max(clocks, static_cast<f64>(longest) * static_cast<f64>(parameters.issue.valu_clocks));
  launch.kernel_seconds = clocks / (parameters.device.clock_mhz * 1e6);
  launch.seconds = launch.kernel_seconds + parameters.device.launch_overhead_us * 1e-6;
  return launch;
}

}  // namespace hipbench::emulator
