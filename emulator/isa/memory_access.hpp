#pragma once
// What vector memory instructions have in common: where each lane's bytes are, moving them between memory and
// registers, and the atomic operations. Rows are in global.cpp (GLOBAL, FLAT, SCRATCH), buffer.cpp (MUBUF, MTBUF) and
// lds.cpp (DS).

#include <atomic>
#include <bit>

#include "emulator/isa/access_observer.hpp"
#include "emulator/isa/float_formats.hpp"
#include "emulator/isa/lanes.hpp"

namespace hipbench::emulator {

// The lanes' addresses as host pointers. When all active lanes fall into one allocation (the rule) `pattern` says how
// they lie to each other; otherwise every lane goes through the checked byte-wise path.
struct LaneAddresses {
  // Rows: every eight lanes from a multiple of eight on are neighbours (all lanes are active, nobody observes).
  enum class Pattern : u8 { Contiguous, Uniform, Rows, Scattered, Checked };
  Pattern pattern = Pattern::Checked;
  u64 active = 0;
  alignas(64) u64 guest[kWaveSize];       // guest addresses; inactive lanes hold an active lane's
  // Valid unless Checked: of all lanes where Scattered, of every eighth where Rows, of the first otherwise.
  alignas(64) std::byte* host[kWaveSize];
};

// Fills host and pattern from guest and active for accesses of `size` bytes. `writes`: the range must be writable.
void resolve(Wave& wave, LaneAddresses& addresses, u32 size, bool writes);

// The same for lanes at origin + offsets[lane], the form that most instructions have. True when the fast patterns
// apply; else guest must be filled and resolve() called. Only for addresses that cannot be in the LDS or scratch
// aperture or are checked to lie in an allocation, as here.
bool resolve_offsets(Wave& wave, LaneAddresses& addresses, u64 origin, const u32* offsets, u32 size, bool writes);

// Eight lanes of a register at a time.
using Lanes8 = u32 __attribute__((ext_vector_type(8)));
inline Lanes8 load_lanes8(const u32* from) {
  Lanes8 lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

// How the offsets of all 64 lanes lie to each other, where that is `step` from lane to lane, 0 or the access's size.
// `high`: upper halves that must all be the same, or null.
inline bool is_ramp(const u32* low, const u32* high, u32 step) {
  constexpr Lanes8 kNumbers = {0, 1, 2, 3, 4, 5, 6, 7};
  Lanes8 expected = kNumbers * step + low[0], wrong = 0;
  const u32 common = high != nullptr ? high[0] : 0;
#pragma clang loop unroll(full)
  for (u32 lane = 0; lane < kWaveSize; lane += 8) {
    wrong |= load_lanes8(low + lane) ^ expected;
    if (high != nullptr) wrong |= load_lanes8(high + lane) ^ common;
    expected += 8 * step;
  }
  return __builtin_reduce_or(wrong) == 0;
}
// Whether the lanes' range would wrap around the 32 bits of an offset.
inline bool ramp_wraps(u32 first) { return first > ~u32{0} - kWaveSize * 16; }

// One lane's access wherever the address points: global memory, the LDS aperture or the scratch aperture. Throws
// GuestFault.
void load_bytes(Wave& wave, u64 address, u32 size, u32 lane, void* out);
void store_bytes(Wave& wave, u64 address, u32 size, u32 lane, const void* in);

// ---- Memory data formats ----

// Bytes in memory and how they become register dwords. Dwords > 0: plain dwords.
template <u32 N>
struct DwordData {
  static constexpr u32 bytes = 4 * N, dwords = N, shift = 0;
};
template <typename T>  // sign- or zero-extended to a dword
struct NarrowData {
  static constexpr u32 bytes = sizeof(T), dwords = 1, shift = 0;
  static u32 from_memory(T value, u32) { return static_cast<u32>(static_cast<i32>(value)); }
  static T to_memory(u32 value) { return static_cast<T>(value); }
  using type = T;
};
template <typename T, bool High>  // into one half of the dword, the other half stays
struct HalfData {
  static constexpr u32 bytes = sizeof(T), dwords = 1, shift = High ? 16 : 0;
  static u32 from_memory(T value, u32 old) {
    const u32 half = static_cast<u16>(static_cast<i16>(value));
    return High ? (old & 0xffff) | half << 16 : (old & 0xffff0000) | half;
  }
  static T to_memory(u32 value) { return static_cast<T>(High ? value >> 16 : value); }
  using type = T;
};
using UByte = NarrowData<u8>;
using SByte = NarrowData<i8>;
using UShort = NarrowData<u16>;
using SShort = NarrowData<i16>;
using UByteLow = HalfData<u8, false>;
using UByteHigh = HalfData<u8, true>;
using SByteLow = HalfData<i8, false>;
using SByteHigh = HalfData<i8, true>;
using ShortLow = HalfData<u16, false>;
using ShortHigh = HalfData<u16, true>;

template <typename Data>
inline constexpr bool is_plain_dwords = requires { requires Data::bytes == 4 * Data::dwords; };

// Registers <- memory for `Lanes` neighbouring lanes.
template <typename Data, u32 Lanes>
void load_neighbours(const std::byte* from, u32* destination) {
  if constexpr (is_plain_dwords<Data>) {
    constexpr u32 n = Data::dwords;
    if constexpr (n == 1) {
      std::memcpy(destination, from, Lanes * 4);
    } else {
      u32 raw[Lanes * n];
      std::memcpy(raw, from, sizeof raw);
      for (u32 d = 0; d < n; ++d)
        for (u32 lane = 0; lane < Lanes; ++lane) destination[d * kWaveSize + lane] = raw[lane * n + d];
    }
  } else {
    typename Data::type raw[Lanes];
    std::memcpy(raw, from, sizeof raw);
    for (u32 lane = 0; lane < Lanes; ++lane) destination[lane] = Data::from_memory(raw[lane], destination[lane]);
  }
}

// The loaded value does not depend on what the register held.
template <typename Data>
inline constexpr bool is_whole_dword = is_plain_dwords<Data>;
template <typename T>
inline constexpr bool is_whole_dword<NarrowData<T>> = true;

// The same dwords into every active lane.
void fill_active(u32* destination, const u32* values, u32 dwords, u64 active);

// Registers <- one value for all active lanes.
template <typename Data>
void load_uniform(const std::byte* from, u32* destination, u64 active) {
  if constexpr (is_plain_dwords<Data>) {
    u32 raw[Data::dwords];
    std::memcpy(raw, from, sizeof raw);
    fill_active(destination, raw, Data::dwords, active);
  } else {
    typename Data::type raw;
    std::memcpy(&raw, from, sizeof raw);
    if constexpr (is_whole_dword<Data>) {
      const u32 value = Data::from_memory(raw, 0);
      fill_active(destination, &value, 1, active);
    } else {
      for (u64 left = active; left != 0; left &= left - 1) {
        const u32 lane = static_cast<u32>(std::countr_zero(left));
        destination[lane] = Data::from_memory(raw, destination[lane]);
      }
    }
  }
}

// Registers <- memory for the active lanes.
template <typename Data>
void load_lanes(Wave& wave, const LaneAddresses& at, u32* destination) {
  using Pattern = LaneAddresses::Pattern;
  const u64 active = at.active;
  if (wave.observer != nullptr && at.pattern != Pattern::Checked) [[unlikely]]
    wave.observer->loads(wave, at, Data::bytes);
  if (at.pattern == Pattern::Contiguous) return load_neighbours<Data, kWaveSize>(at.host[0], destination);
  if (at.pattern == Pattern::Uniform) return load_uniform<Data>(at.host[0], destination, active);
  if (at.pattern == Pattern::Rows) {
    for (u32 lane = 0; lane < kWaveSize; lane += 8) load_neighbours<Data, 8>(at.host[lane], destination + lane);
    return;
  }
  if constexpr (is_plain_dwords<Data>) {
    constexpr u32 n = Data::dwords;
    if (at.pattern != Pattern::Checked && active == ~u64{0}) {
      u32 raw[kWaveSize][n];
      for (u32 lane = 0; lane < kWaveSize; ++lane) std::memcpy(raw[lane], at.host[lane], 4 * n);
      for (u32 d = 0; d < n; ++d)
        for (u32 lane = 0; lane < kWaveSize; ++lane) destination[d * kWaveSize + lane] = raw[lane][d];
      return;
    }
    for (u64 left = active; left != 0; left &= left - 1) {
      const u32 lane = static_cast<u32>(std::countr_zero(left));
      u32 raw[n];
      if (at.pattern == Pattern::Checked)
        load_bytes(wave, at.guest[lane], 4 * n, lane, raw);
      else
        std::memcpy(raw, at.host[lane], 4 * n);
      for (u32 d = 0; d < n; ++d) destination[d * kWaveSize + lane] = raw[d];
    }
  } else {
    using T = typename Data::type;
    if (at.pattern != Pattern::Checked && active == ~u64{0}) {
      for (u32 lane = 0; lane < kWaveSize; ++lane) {
        T raw;
        std::memcpy(&raw, at.host[lane], sizeof raw);
        destination[lane] = Data::from_memory(raw, destination[lane]);
      }
      return;
    }
    for (u64 left = active; left != 0; left &= left - 1) {
      const u32 lane = static_cast<u32>(std::countr_zero(left));
      T raw;
      if (at.pattern == Pattern::Checked)
        load_bytes(wave, at.guest[lane], sizeof raw, lane, &raw);
      else
        std::memcpy(&raw, at.host[lane], sizeof raw);
      destination[lane] = Data::from_memory(raw, destination[lane]);
    }
  }
}

// All active lanes, or where they share one address only the highest: its value is the one that stays.
inline u64 lanes_that_store(const LaneAddresses& at) {
  if (at.pattern != LaneAddresses::Pattern::Uniform || at.active == 0) return at.active;
  return u64{1} << (63 - std::countl_zero(at.active));
}

// Memory <- registers for `Lanes` neighbouring lanes.
template <typename Data, u32 Lanes>
void store_neighbours(std::byte* to, const u32* source) {
  if constexpr (is_plain_dwords<Data>) {
    constexpr u32 n = Data::dwords;
    u32 raw[Lanes * n];
    for (u32 d = 0; d < n; ++d)
      for (u32 lane = 0; lane < Lanes; ++lane) raw[lane * n + d] = source[d * kWaveSize + lane];
    std::memcpy(to, raw, sizeof raw);
  } else {
    typename Data::type raw[Lanes];
    for (u32 lane = 0; lane < Lanes; ++lane) raw[lane] = Data::to_memory(source[lane]);
    std::memcpy(to, raw, sizeof raw);
  }
}

// Memory <- registers for the active lanes, in lane order: where lanes hit the same address, the highest lane's value
// stays.
template <typename Data>
void store_lanes(Wave& wave, const LaneAddresses& at, const u32* source) {
  using Pattern = LaneAddresses::Pattern;
  if (wave.observer != nullptr && at.pattern != Pattern::Checked) [[unlikely]]
    wave.observer->stores(wave, at, Data::bytes, source, Data::shift);
  if (at.pattern == Pattern::Contiguous) return store_neighbours<Data, kWaveSize>(at.host[0], source);
  if (at.pattern == Pattern::Rows) {
    for (u32 lane = 0; lane < kWaveSize; lane += 8) store_neighbours<Data, 8>(at.host[lane], source + lane);
    return;
  }
  if constexpr (is_plain_dwords<Data>) {
    constexpr u32 n = Data::dwords;
    for (u64 left = lanes_that_store(at); left != 0; left &= left - 1) {
      const u32 lane = static_cast<u32>(std::countr_zero(left));
      u32 raw[n];
      for (u32 d = 0; d < n; ++d) raw[d] = source[d * kWaveSize + lane];
      if (at.pattern == Pattern::Checked)
        store_bytes(wave, at.guest[lane], 4 * n, lane, raw);
      else
        std::memcpy(at.host[at.pattern == Pattern::Uniform ? 0 : lane], raw, 4 * n);
    }
  } else {
    for (u64 left = lanes_that_store(at); left != 0; left &= left - 1) {
      const u32 lane = static_cast<u32>(std::countr_zero(left));
      const typename Data::type raw = Data::to_memory(source[lane]);
      if (at.pattern == Pattern::Checked)
        store_bytes(wave, at.guest[lane], sizeof raw, lane, &raw);
      else
        std::memcpy(at.host[at.pattern == Pattern::Uniform ? 0 : lane], &raw, sizeof raw);
    }
  }
}

// The registers an instruction's data operand names.
inline u32* data_registers(Wave& wave, const Operand& operand) {
  if (!operand.is_vgpr()) throw GuestFault{FaultKind::IllegalOperand, "the data operand is not a vector register"};
  return wave.vgpr(operand.index);
}

// ---- Atomic operations: new value from old memory value and operand(s) ----

namespace atomic_op {

template <typename T>
struct Add { static T apply(T memory, T data) { return memory + data; } };
template <typename T>
struct Sub { static T apply(T memory, T data) { return memory - data; } };
template <typename T>
struct ReverseSub { static T apply(T memory, T data) { return data - memory; } };
template <typename T>
struct Min { static T apply(T memory, T data) { return data < memory ? data : memory; } };
template <typename T>
struct Max { static T apply(T memory, T data) { return data > memory ? data : memory; } };
template <typename T>
struct And { static T apply(T memory, T data) { return memory & data; } };
template <typename T>
struct Or { static T apply(T memory, T data) { return memory | data; } };
template <typename T>
struct Xor { static T apply(T memory, T data) { return memory ^ data; } };
template <typename T>
struct Swap { static T apply(T, T data) { return data; } };
// Wrapping counters: inc goes to 0 past the limit, dec goes to the limit below 0.
template <typename T>
struct Inc { static T apply(T memory, T data) { return memory >= data ? T{0} : static_cast<T>(memory + 1); } };
template <typename T>
struct Dec {
  static T apply(T memory, T data) { return memory == 0 || memory > data ? data : static_cast<T>(memory - 1); }
};
// Floating minimum and maximum: a NaN loses against a number.
template <typename T>
struct FloatMin {
  static T apply(T memory, T data) { return memory != memory ? data : data < memory ? data : memory; }
};
template <typename T>
struct FloatMax {
  static T apply(T memory, T data) { return memory != memory ? data : data > memory ? data : memory; }
};

struct PackedAddF16 {
  static u32 apply(u32 memory, u32 data) {
    const u32 low = f16_add(static_cast<u16>(memory), static_cast<u16>(data));
    const u32 high = f16_add(static_cast<u16>(memory >> 16), static_cast<u16>(data >> 16));
    return low | high << 16;
  }
};
struct PackedAddBf16 {
  static u32 apply(u32 memory, u32 data) {
    const auto add = [](u32 a, u32 b) {
      return u32{f32_to_bf16(bf16_to_f32(static_cast<u16>(a)) + bf16_to_f32(static_cast<u16>(b)))};
    };
    return add(memory, data) | add(memory >> 16, data >> 16) << 16;
  }
};

}  // namespace atomic_op

template <typename T>
using AtomicBits = std::conditional_t<sizeof(T) == 8, u64, u32>;

// Read-modify-write of host memory shared by all host threads. Returns the old value.
template <typename Operation, typename T>
T atomic_apply(std::byte* host, T data) {
  using Bits = AtomicBits<T>;
  std::atomic_ref<Bits> cell(*reinterpret_cast<Bits*>(host));
  Bits old = cell.load(std::memory_order_relaxed);
  while (!cell.compare_exchange_weak(old, std::bit_cast<Bits>(Operation::apply(std::bit_cast<T>(old), data)))) {
  }
  return std::bit_cast<T>(old);
}
template <typename Bits>
Bits atomic_compare_swap(std::byte* host, Bits data, Bits compare) {
  std::atomic_ref<Bits> cell(*reinterpret_cast<Bits*>(host));
  Bits old = compare;
  cell.compare_exchange_strong(old, data);
  return old;
}

// Host pointer of an atomic's target: global memory or, through the LDS aperture, LDS. Must be naturally aligned.
std::byte* atomic_target(Wave& wave, u64 address, u32 size, u32 lane);

template <typename T>
T lane_value(const u32* registers, u32 lane) {
  u64 bits = registers[lane];
  if constexpr (sizeof(T) == 8) bits |= u64{registers[kWaveSize + lane]} << 32;
  return std::bit_cast<T>(static_cast<AtomicBits<T>>(bits));
}
template <typename T>
void set_lane_value(u32* registers, u32 lane, T value) {
  const u64 bits = std::bit_cast<AtomicBits<T>>(value);
  registers[lane] = static_cast<u32>(bits);
  if constexpr (sizeof(T) == 8) registers[kWaveSize + lane] = static_cast<u32>(bits >> 32);
}

template <typename T>
void tell_atomic_done(Wave& wave, const std::byte* target, T old) {
  if (wave.observer != nullptr) [[unlikely]] wave.observer->atomic_done(std::memcmp(target, &old, sizeof old) != 0);
}

// Applies an atomic for the active lanes in lane order; `result` is null when nothing is returned.
template <typename Operation, typename T>
void atomic_lanes(Wave& wave, const u64* addresses, u64 active, const u32* data, u32* result) {
  for (u64 left = active; left != 0; left &= left - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    std::byte* target = atomic_target(wave, addresses[lane], sizeof(T), lane);
    const T old = atomic_apply<Operation, T>(target, lane_value<T>(data, lane));
    tell_atomic_done(wave, target, old);
    if (result != nullptr) set_lane_value<T>(result, lane, old);
  }
}
// Data registers hold the new value, then the value to compare with.
template <typename T>
void compare_swap_lanes(Wave& wave, const u64* addresses, u64 active, const u32* data, u32* result) {
  for (u64 left = active; left != 0; left &= left - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    const u32* compare = data + (sizeof(T) / 4) * kWaveSize;
    std::byte* target = atomic_target(wave, addresses[lane], sizeof(T), lane);
    const T old = atomic_compare_swap<T>(target, lane_value<T>(data, lane), lane_value<T>(compare, lane));
    tell_atomic_done(wave, target, old);
    if (result != nullptr) set_lane_value<T>(result, lane, old);
  }
}

}  // namespace hipbench::emulator
