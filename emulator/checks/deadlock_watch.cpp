#include "emulator/checks/deadlock_watch.hpp"

#include <algorithm>
#include <cstring>

#include "emulator/isa/wave.hpp"

namespace hipbench::emulator {

namespace {

u64 hash_bytes(u64 seed, const void* data, size_t size) {
  const auto* bytes = static_cast<const std::byte*>(data);
  u64 lanes[4] = {seed, seed ^ 1, seed ^ 2, seed ^ 3};
  size_t at = 0;
  for (; at + 32 <= size; at += 32)
    for (u32 k = 0; k < 4; ++k) {
      u64 word;
      std::memcpy(&word, bytes + at + 8 * k, 8);
      lanes[k] = (lanes[k] ^ word) * 0x9e3779b97f4a7c15;
      lanes[k] ^= lanes[k] >> 29;
    }
  for (; at < size; ++at) lanes[0] = (lanes[0] ^ static_cast<u64>(bytes[at])) * 0x9e3779b97f4a7c15;
  u64 sum = size;
  for (const u64 lane : lanes) sum = (sum ^ lane ^ lane >> 32) * 0xbf58476d1ce4e5b9;
  return sum;
}

u64 hash_of(const Wave& wave, u32 vgprs, u32 agprs) {
  constexpr size_t kRegister = kWaveSize * sizeof(u32);
  u64 hash = hash_bytes(wave.pc, wave.sgprs, sizeof wave.sgprs);
  hash = hash_bytes(hash + (wave.scc ? 1 : 0) + (u64{wave.mode} << 1), wave.vgprs, vgprs * kRegister);
  hash = hash_bytes(hash, wave.vgprs + size_t{kAgprBase} * kWaveSize, agprs * kRegister);
  return hash_bytes(hash, wave.scratch, size_t{wave.scratch_size} * kWaveSize);
}

}  // namespace

bool SpinState::repeats(const Wave& wave, u32 vgprs, u32 agprs, u64 progress) {
  if (progress != progress_) {
    // The state is looked at from the next turn on: most waves go on before that.
    *this = {};
    progress_ = progress;
    return false;
  }
  if (repeats_) return true;
  const u64 hash = hash_of(wave, vgprs, agprs);
  if (turns_ != 0 && hash == anchor_) return repeats_ = true;
  if (++turns_ == next_anchor_) {
    anchor_ = hash;
    next_anchor_ *= 2;
  }
  return false;
}

bool DeadlockWatch::thread_is_stuck(size_t thread, u64 progress) {
  const std::lock_guard lock(mutex_);
  stuck_at_[thread] = progress;
  return std::all_of(stuck_at_.begin(), stuck_at_.end(),
                     [&](u64 other) { return other == progress || other == kEnded; });
}

void DeadlockWatch::thread_ended(size_t thread) {
  const std::lock_guard lock(mutex_);
  stuck_at_[thread] = kEnded;
}

}  // namespace hipbench::emulator
