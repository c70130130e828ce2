#include "emulator/timing/lds_conflicts.hpp"

#include <algorithm>

namespace hipbench::emulator {

namespace {

constexpr u32 kBanks = 32;

// The dwords that each bank has to give in one phase.
class Phase {
 public:
  void add(u32 dword) {
    const u32 bank = dword % kBanks;
    u32* words = words_[bank];
    const u32 count = counts_[bank];
    if (std::find(words, words + count, dword) != words + count) return;  // the same dword goes to all who want it
    words[count] = dword;
    fullest_ = std::max(fullest_, ++counts_[bank]);
  }
  // Clocks; the phase is empty again.
  u32 finish() {
    const u32 clocks = fullest_;
    std::fill_n(counts_, kBanks, 0u);
    fullest_ = 0;
    return clocks;
  }

 private:
  u32 words_[kBanks][64];  // at most 32 lanes, of which each touches a bank twice at most
  u32 counts_[kBanks] = {};
  u32 fullest_ = 0;
};

// The k-th lane of a phase.
u32 lane_of(u32 phase, u32 k, u32 lanes, bool wide_read) {
  if (!wide_read) return phase * lanes + k;
  // Reads of 16 bytes: {0-3, 20-23} {4-7, 16-19} {8-11, 28-31} {12-15, 24-27} and the same 32 further on.
  static constexpr u32 kFirst[4] = {0, 4, 8, 12}, kSecond[4] = {20, 16, 28, 24};
  const u32 half = phase / 4 * 32;
  return half + (k < 4 ? kFirst[phase % 4] + k : kSecond[phase % 4] + k - 4);
}

}  // namespace

LdsClocks lds_access_clocks(const u32* addresses, u32 offset, u64 active, u32 bytes, bool writes) {
  const u32 lanes = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
  const bool wide_read = lanes == 8 && !writes;
  Phase phase;
  LdsClocks clocks;
  for (u32 p = 0; p < kWaveSize / lanes; ++p) {
    for (u32 k = 0; k < lanes; ++k) {
      const u32 lane = lane_of(p, k, lanes, wide_read);
      if ((active >> lane & 1) == 0) continue;
      const u32 first = addresses[lane] + offset;
      for (u32 dword = first / 4; dword <= (first + bytes - 1) / 4; ++dword) phase.add(dword);
    }
    const u32 taken = phase.finish();
    clocks.all += taken;
    if (taken > 1) clocks.conflicts += taken - 1;
  }
  return clocks;
}

}  // namespace hipbench::emulator
