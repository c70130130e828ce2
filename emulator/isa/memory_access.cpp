#include "emulator/isa/memory_access.hpp"

#include <algorithm>
#include <bit>

namespace hipbench::emulator {

namespace {

// Scratch is dword-interleaved: dword d of lane l lies at ((d * 64) + l) * 4, as on the chip.
std::byte* scratch_byte(Wave& wave, u64 offset, u32 lane) {
  if (offset >= wave.scratch_size)
    throw GuestFault{FaultKind::OutOfBounds,
                     "scratch access at offset " + std::to_string(offset) + " of " + std::to_string(wave.scratch_size) +
                         " bytes a lane: stack overflow or a wild pointer to a local variable",
                     offset, 1, static_cast<int>(lane)};
  return wave.scratch + ((offset / 4) * kWaveSize + lane) * 4 + offset % 4;
}

bool in_aperture(u64 address, u64 aperture) { return address >> 32 == aperture >> 32; }

std::byte* lds_bytes_at(Wave& wave, u64 offset, u32 size, u32 lane) {
  if (offset + size > wave.lds_size)
    throw GuestFault{FaultKind::LdsOutOfBounds,
                     "LDS access at byte " + std::to_string(offset) + ", but the workgroup has " +
                         std::to_string(wave.lds_size) + " bytes",
                     offset, size, static_cast<int>(lane)};
  return wave.lds + offset;
}

// Tells the checks, if there are any.
std::byte* observed(Wave& wave, std::byte* host, u32 size, u32 lane, AccessKind kind, const void* data = nullptr) {
  if (wave.observer != nullptr) [[unlikely]] wave.observer->access(wave, host, size, lane, kind, data);
  return host;
}

}  // namespace

void load_bytes(Wave& wave, u64 address, u32 size, u32 lane, void* out) {
  if (in_aperture(address, kScratchAperture)) {
    auto* bytes = static_cast<std::byte*>(out);
    for (u32 k = 0; k < size; ++k) bytes[k] = *scratch_byte(wave, (address & 0xffffffff) + k, lane);
  } else if (in_aperture(address, kLdsAperture)) {
    std::memcpy(out, observed(wave, lds_bytes_at(wave, address & 0xffffffff, size, lane), size, lane, AccessKind::Load),
                size);
  } else {
    std::memcpy(out,
                observed(wave, wave.memory.read(address, size, static_cast<int>(lane)), size, lane, AccessKind::Load),
                size);
  }
}

void store_bytes(Wave& wave, u64 address, u32 size, u32 lane, const void* in) {
  if (in_aperture(address, kScratchAperture)) {
    const auto* bytes = static_cast<const std::byte*>(in);
    for (u32 k = 0; k < size; ++k) *scratch_byte(wave, (address & 0xffffffff) + k, lane) = bytes[k];
  } else if (in_aperture(address, kLdsAperture)) {
    std::memcpy(observed(wave, lds_bytes_at(wave, address & 0xffffffff, size, lane), size, lane, AccessKind::Store, in),
                in, size);
  } else {
    std::memcpy(
        observed(wave, wave.memory.write(address, size, static_cast<int>(lane)), size, lane, AccessKind::Store, in), in,
        size);
  }
}

std::byte* atomic_target(Wave& wave, u64 address, u32 size, u32 lane) {
  if ((address & (size - 1)) != 0)
    throw GuestFault{FaultKind::Misaligned,
                     "an atomic of " + std::to_string(size) + " bytes at an address that is not a multiple of it",
                     address, size, static_cast<int>(lane)};
  if (in_aperture(address, kLdsAperture))
    return observed(wave, lds_bytes_at(wave, address & 0xffffffff, size, lane), size, lane, AccessKind::Atomic);
  if (in_aperture(address, kScratchAperture)) {
    if (size > 4)
      throw GuestFault{FaultKind::Misaligned, "a 64-bit atomic on scratch memory", address, size,
                       static_cast<int>(lane)};
    return scratch_byte(wave, address & 0xffffffff, lane);
  }
  return observed(wave, wave.memory.write(address, size, static_cast<int>(lane)), size, lane, AccessKind::Atomic);
}

namespace {

// Host pointers of lanes that all point into LDS, or all into scratch with at most a dword each; Checked stays
// otherwise, and when something is out of bounds.
void resolve_aperture(Wave& wave, LaneAddresses& at, u32 size, u64 origin) {
  using Pattern = LaneAddresses::Pattern;
  const bool scratch = in_aperture(origin, kScratchAperture);
  if (!scratch && !in_aperture(origin, kLdsAperture)) return;
  const u64 aperture = scratch ? kScratchAperture : kLdsAperture;
  const u32 limit = scratch ? wave.scratch_size : wave.lds_size;
  if (size > limit || (scratch && size > 4)) return;
  u32 offsets[kWaveSize], stride_errors = 0, different = 0;
  bool outside = false, straddles = false;
  for (u32 lane = 0; lane < kWaveSize; ++lane) {
    const u64 offset = at.guest[lane] - aperture;
    offsets[lane] = static_cast<u32>(offset);
    outside |= offset > limit - size;
    straddles |= offsets[lane] % 4 + size > 4;
    stride_errors |= (offsets[lane] - offsets[0]) ^ (lane * size);
    different |= offsets[lane] ^ offsets[0];
  }
  if (outside || (scratch && straddles)) return;
  for (u32 lane = 0; lane < kWaveSize; ++lane)
    at.host[lane] = scratch ? wave.scratch + (size_t{offsets[lane] / 4} * kWaveSize + lane) * 4 + offsets[lane] % 4
                            : wave.lds + offsets[lane];
  const bool neighbours = scratch ? different == 0 && size == 4 : stride_errors == 0;
  at.pattern = neighbours && at.active == ~u64{0} ? Pattern::Contiguous : Pattern::Scattered;
}

}  // namespace

void resolve(Wave& wave, LaneAddresses& at, u32 size, bool writes) {
  using Pattern = LaneAddresses::Pattern;
  at.pattern = Pattern::Checked;
  if (at.active == 0) return;
  const u32 first = static_cast<u32>(std::countr_zero(at.active));
  const u64 origin = at.guest[first];
  if (at.active != ~u64{0}) {
    LaneBuffer keep;
    expand_mask(at.active, keep);
    for (u32 lane = 0; lane < kWaveSize; ++lane) at.guest[lane] = keep[lane] != 0 ? at.guest[lane] : origin;
  }
  if (origin >= kLdsAperture) return resolve_aperture(wave, at, size, origin);
  // Distances to the first active lane. Wider than ±2 GiB goes the checked way.
  i32 delta[kWaveSize];
  u64 wide = 0;
  for (u32 lane = 0; lane < kWaveSize; ++lane) {
    const u64 distance = at.guest[lane] - origin;
    delta[lane] = static_cast<i32>(static_cast<u32>(distance));
    wide |= (distance + 0x80000000) >> 32;
  }
  if (wide != 0) return;
  i32 low = 0, high = 0;
  u32 stride_errors = 0;
  for (u32 lane = 0; lane < kWaveSize; ++lane) {
    low = std::min(low, delta[lane]);
    high = std::max(high, delta[lane]);
    stride_errors |= static_cast<u32>(delta[lane]) ^ (lane * size);
  }
  const u64 lowest = origin + static_cast<u64>(i64{low});
  if (!wave.memory.covers(lowest, origin + static_cast<u64>(i64{high}) + size)) return;
  const u32 lanes = static_cast<u32>(std::popcount(at.active));
  std::byte* base = writes ? wave.memory.write(lowest, size, -1, lanes) : wave.memory.read(lowest, size);
  base -= low;
  if (stride_errors == 0 && at.active == ~u64{0}) {
    at.host[0] = base;
    at.pattern = Pattern::Contiguous;
    return;
  }
  for (u32 lane = 0; lane < kWaveSize; ++lane) at.host[lane] = base + delta[lane];
  at.pattern = low == 0 && high == 0 ? Pattern::Uniform : Pattern::Scattered;
}

bool resolve_offsets(Wave& wave, LaneAddresses& at, u64 origin, const u32* offsets, u32 size, bool writes) {
  using Pattern = LaneAddresses::Pattern;
  if (at.active == 0) return false;
  const u32 first = static_cast<u32>(std::countr_zero(at.active));
  LaneBuffer replaced;
  if (at.active != ~u64{0}) {
    LaneBuffer keep;
    expand_mask(at.active, keep);
    for (u32 lane = 0; lane < kWaveSize; ++lane) replaced[lane] = keep[lane] != 0 ? offsets[lane] : offsets[first];
    offsets = replaced;
  }
  const u32 start = offsets[0];
  u32 low = start, high = start, stride_errors = 0;
  for (u32 lane = 0; lane < kWaveSize; ++lane) {
    const u32 offset = offsets[lane];
    low = std::min(low, offset);
    high = std::max(high, offset);
    stride_errors |= (offset - start) ^ (lane * size);
  }
  if (!wave.memory.covers(origin + low, origin + high + size)) return false;
  const u32 lanes = static_cast<u32>(std::popcount(at.active));
  std::byte* base =
      (writes ? wave.memory.write(origin + low, size, -1, lanes) : wave.memory.read(origin + low, size)) - low;
  at.host[0] = base + start;
  if (low == high) {
    at.pattern = Pattern::Uniform;
  } else if (stride_errors == 0 && at.active == ~u64{0}) {
    at.pattern = Pattern::Contiguous;
  } else {
    at.pattern = Pattern::Scattered;
    for (u32 lane = 0; lane < kWaveSize; ++lane) at.host[lane] = base + offsets[lane];
  }
  return true;
}

void fill_active(u32* destination, const u32* values, u32 dwords, u64 active) {
  for (u32 d = 0; d < dwords; ++d) {
    u32* lanes = destination + size_t{d} * kWaveSize;
    if (active == ~u64{0}) {
      std::fill_n(lanes, kWaveSize, values[d]);
    } else {
      LaneBuffer keep;
      expand_mask(active, keep);
      for (u32 lane = 0; lane < kWaveSize; ++lane) lanes[lane] = keep[lane] != 0 ? values[d] : lanes[lane];
    }
  }
}

}  // namespace hipbench::emulator
