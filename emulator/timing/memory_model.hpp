#pragma once
// The memory system that the CUs of one XCD share, as the timing model sees it: tags and times, no data. L1 a CU, L2 an
// XCD, then the XCD's share of the Infinity Cache and of HBM. Each bandwidth is a server that is busy for a time a
// line; each level adds its latency. Requests must come in roughly the order of their times.

#include <vector>

#include "emulator/timing/parameters.hpp"

namespace hipbench::emulator {

// A set-associative cache with least recently used replacement.
class TagArray {
 public:
  TagArray(u64 lines, u32 ways);
  struct Line {
    u32 tag = ~0u, used = 0;
    bool dirty = false;
    f64 filled = 0;  // clocks at which its data is there
  };
  // The line, or null.
  Line* find(u32 line);
  // Where the line goes; what was there is in `line` until it is overwritten.
  Line& victim(u32 line);
  void touch(Line& line) { line.used = ++now_; }
  std::vector<Line>& lines() { return lines_; }

 private:
  u32 ways_, sets_, now_ = 0;
  std::vector<Line> lines_;
};

struct MemoryCounters {
  u64 l1_lines = 0, l1_hits = 0, l2_lines = 0, l2_hits = 0, written_lines = 0;
  // What the L2 asked for and wrote back; hbm_lines: what of it did not end at the Infinity Cache.
  u64 beyond_l2_lines = 0, hbm_lines = 0;
};

class MemoryModel {
 public:
  // `cus` of the XCD are modelled: they get their share of what is shared. `active_xcds` compete for the rest of the
  // chip. `resident`: the launch's data was in the Infinity Cache before.
  MemoryModel(const TimingParameters& parameters, u32 cus, u32 active_xcds, bool resident);

  // When the line's data is in the CU, if asked for at `now`.
  f64 load(u32 cu, u32 line, f64 now);
  // When a store of `bytes` to a line is done.
  f64 store(u32 cu, u32 line, u32 bytes, f64 now);
  f64 atomic(u32 cu, u32 line, f64 now);
  // When everything written is in memory.
  f64 flush(f64 now);
  const MemoryCounters& counters() const { return counters_; }

 private:
  struct Server {
    f64 free = 0;
    f64 take(f64 now, f64 busy) {
      const f64 start = now > free ? now : free;
      free = start + busy;
      return start;
    }
  };
  f64 from_l2(u32 line, f64 now, bool whole_line_written);
  f64 beyond_l2(f64 now);
  f64 write_back(f64 now);

  const TimingParameters& p_;
  bool resident_;
  f64 fabric_clocks_per_line_, hbm_clocks_per_line_, channel_clocks_per_line_;
  std::vector<TagArray> l1_;
  TagArray l2_;
  std::vector<Server> fill_, write_, channels_;
  Server fabric_, hbm_;
  MemoryCounters counters_;
};

}  // namespace hipbench::emulator
