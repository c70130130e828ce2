#include "emulator/timing/memory_model.hpp"

#include <algorithm>

#include "emulator/timing/trace.hpp"

namespace hipbench::emulator {

TagArray::TagArray(u64 lines, u32 ways)
    : ways_(ways), sets_(static_cast<u32>(std::max<u64>(1, lines / ways))), lines_(u64{sets_} * ways) {}

TagArray::Line* TagArray::find(u32 line) {
  Line* set = &lines_[u64{line % sets_} * ways_];
  for (u32 way = 0; way < ways_; ++way)
    if (set[way].tag == line) return &set[way];
  return nullptr;
}

TagArray::Line& TagArray::victim(u32 line) {
  Line* set = &lines_[u64{line % sets_} * ways_];
  return *std::min_element(set, set + ways_, [](const Line& a, const Line& b) { return a.used < b.used; });
}

namespace {

u64 lines_of(f64 bytes) { return static_cast<u64>(bytes) / kLineBytes; }

// Clocks a line takes at a bandwidth in TB/s.
f64 line_clocks(f64 terabytes_per_second, f64 clock_mhz, f64 share) {
  const f64 bytes_per_clock = terabytes_per_second * 1e12 / (clock_mhz * 1e6) * share;
  return kLineBytes / bytes_per_clock;
}

}  // namespace

MemoryModel::MemoryModel(const TimingParameters& parameters, u32 cus, u32 active_xcds, bool resident)
    : p_(parameters),
      resident_(resident),
      l1_(cus, TagArray(lines_of(parameters.l1.bytes),
                        static_cast<u32>(parameters.l1.bytes / kLineBytes / parameters.l1.sets))),
      l2_(lines_of(parameters.l2.bytes * cus / parameters.device.cus_per_xcd), static_cast<u32>(parameters.l2.ways)),
      fill_(cus),
      write_(cus),
      channels_(static_cast<size_t>(parameters.l2.channels)) {
  const f64 of_xcd = cus / parameters.device.cus_per_xcd, of_chip = of_xcd / active_xcds;
  fabric_clocks_per_line_ =
      line_clocks(parameters.infinity_cache.terabytes_per_second, parameters.device.clock_mhz, of_chip);
  hbm_clocks_per_line_ = line_clocks(parameters.hbm.terabytes_per_second, parameters.device.clock_mhz, of_chip);
  channel_clocks_per_line_ = kLineBytes / (parameters.l2.channel_bytes_per_clock * of_xcd);
}

f64 MemoryModel::beyond_l2(f64 now) {
  ++counters_.beyond_l2_lines;
  const f64 start = fabric_.take(now, fabric_clocks_per_line_);
  if (resident_) return start + p_.infinity_cache.hit_clocks;
  ++counters_.hbm_lines;
  return hbm_.take(start, hbm_clocks_per_line_) + p_.hbm.clocks;
}

// When both servers have taken the line.
f64 MemoryModel::write_back(f64 now) {
  ++counters_.beyond_l2_lines;
  const f64 taken = fabric_.take(now, fabric_clocks_per_line_);
  if (resident_) return taken;
  ++counters_.hbm_lines;
  return std::max(taken, hbm_.take(now, hbm_clocks_per_line_));
}

f64 MemoryModel::from_l2(u32 line, f64 now, bool whole_line_written) {
  ++counters_.l2_lines;
  const u64 channel = u64{line} * kLineBytes / static_cast<u64>(p_.l2.interleave_bytes) % channels_.size();
  const f64 start = channels_[channel].take(now, channel_clocks_per_line_);
  if (TagArray::Line* hit = l2_.find(line)) {
    ++counters_.l2_hits;
    l2_.touch(*hit);
    return std::max(start + p_.l2.hit_clocks, hit->filled);
  }
  TagArray::Line& place = l2_.victim(line);
  if (place.dirty) write_back(start);
  place = {.tag = line, .filled = whole_line_written ? start + p_.l2.hit_clocks : beyond_l2(start)};
  l2_.touch(place);
  return place.filled;
}

f64 MemoryModel::load(u32 cu, u32 line, f64 now) {
  ++counters_.l1_lines;
  TagArray& l1 = l1_[cu];
  if (TagArray::Line* hit = l1.find(line)) {
    ++counters_.l1_hits;
    l1.touch(*hit);
    return std::max(now + p_.l1.hit_clocks, hit->filled);
  }
  const f64 ready = from_l2(line, now, false);
  const f64 busy = kLineBytes / p_.l1.fill_bytes_per_clock;
  TagArray::Line& place = l1.victim(line);
  place = {.tag = line, .filled = fill_[cu].take(ready, busy)};
  l1.touch(place);
  return place.filled;
}

f64 MemoryModel::store(u32 cu, u32 line, u32 bytes, f64 now) {
  ++counters_.written_lines;
  const f64 start = write_[cu].take(now, bytes / p_.l1.write_bytes_per_clock);
  const f64 done = from_l2(line, start, true);
  if (TagArray::Line* written = l2_.find(line)) written->dirty = true;
  return done;
}

f64 MemoryModel::atomic(u32 cu, u32 line, f64 now) { return store(cu, line, kSegmentBytes, now); }

f64 MemoryModel::flush(f64 now) {
  f64 done = now;
  for (const TagArray::Line& line : l2_.lines())
    if (line.dirty) done = std::max(done, write_back(now));
  return done;
}

}  // namespace hipbench::emulator
