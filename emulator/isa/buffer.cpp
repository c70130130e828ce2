// Buffer memory instructions (MUBUF, MTBUF): addresses relative to a buffer resource, checked against its size. CDNA3 ISA,
// chapter "Vector memory buffer instructions". Operand order in assembler: [vdata,] vaddr, srsrc, soffset; vaddr is "off", an
// index (idxen), an offset (offen) or both in this order.
//
// Rules that the ISA document leaves open, as Mesa and LLVM know them of gfx9:
//   NUM_RECORDS counts records when the instruction gives an index and the stride is not 0, bytes otherwise.
//   Dword loads and stores are checked dword by dword, everything else as a whole.
//   A load direct to LDS writes zero for what is out of range.

#include <algorithm>

#include "emulator/isa/buffer_format.hpp"
#include "emulator/isa/memory_access.hpp"

namespace hipbench::emulator {

namespace {

// The 128-bit resource (V#).
struct Resource {
  u64 base;
  u32 stride, num_records;
  bool swizzle, add_thread;
  u32 index_stride;     // records a swizzled row holds
  u32 selects;          // four 3-bit fields: which component goes where in the FORMAT instructions
  u32 data_format_code;
  NumberFormat number_format;

  explicit Resource(const u32* words)
      : base(u64{words[1] & 0xffff} << 32 | words[0]),
        stride(words[1] >> 16 & 0x3fff),
        num_records(words[2]),
        swizzle(words[1] >> 31 != 0),
        add_thread((words[3] >> 23 & 1) != 0),
        index_stride(8u << (words[3] >> 21 & 3)),
        selects(words[3] & 0xfff),
        data_format_code(words[3] >> 15 & 15),
        number_format(static_cast<NumberFormat>(words[3] >> 12 & 7)) {
    // With the thread id in the address the format's bits are the top of the stride.
    if (add_thread) stride |= data_format_code << 14;
    // An invalid format makes the resource an unbound one, which has nothing in range.
    if (!add_thread && data_format_code == 0) num_records = 0;
  }
};

struct Operands {
  const Operand* data;  // null for loads to LDS
  const Operand& address;
  Resource resource;
  u32 scalar_offset;
};

Operands operands_of(const Wave& wave, const Inst& inst) {
  const u32 first = inst.operand_count == 4 ? 1 : 0;
  const Operand& resource = inst.operands[first + 1];
  if (inst.operand_count < 3 || !resource.is_scalar() || resource.dwords != 4)
    throw GuestFault{FaultKind::IllegalOperand, "the buffer resource is not in scalar registers"};
  return {first != 0 ? &inst.operands[0] : nullptr, inst.operands[first], Resource(&wave.sgprs[resource.index]),
          static_cast<u32>(read_scalar(wave, inst.operands[first + 2]))};
}

struct BufferLanes {
  LaneAddresses at;
  u64 active;           // EXEC
  u32 room[kWaveSize];  // bytes from the lane's address on that are in range

  // The active lanes that have room for `bytes`.
  u64 with_room(u32 bytes) const {
    LaneBuffer enough;
    for (u32 lane = 0; lane < kWaveSize; ++lane) enough[lane] = room[lane] >= bytes ? ~0u : 0u;
    return compress_mask(enough) & active;
  }
};

u32 to_room(u64 limit, u64 offset) { return limit > offset ? static_cast<u32>(std::min<u64>(limit - offset, ~0u)) : 0; }

// Raw buffers without index: the common case.
void linear_addresses(const Resource& resource, u32 scalar_offset, const u32* offsets, u32 immediate, BufferLanes& lanes) {
  const u64 base = resource.base + scalar_offset;
  const u64 limit = resource.num_records > scalar_offset ? resource.num_records - scalar_offset : 0;
  for (u32 lane = 0; lane < kWaveSize; ++lane) {
    const u64 offset = u64{offsets[lane]} + immediate;
    lanes.at.guest[lane] = base + offset;
    lanes.room[lane] = to_room(limit, offset);
  }
}

void indexed_addresses(const Resource& resource, u32 scalar_offset, const u32* indices, bool has_index, const u32* offsets,
                       u32 immediate, BufferLanes& lanes) {
  const u64 limit = resource.num_records > scalar_offset ? resource.num_records - scalar_offset : 0;
  for (u32 lane = 0; lane < kWaveSize; ++lane) {
    const u64 index = u64{indices[lane]} + (resource.add_thread ? lane : 0), offset = u64{offsets[lane]} + immediate;
    u64 place = index * resource.stride + offset;
    if (resource.swizzle) {
      // Rows of index_stride records whose dwords lie interleaved.
      const u64 row = index / resource.index_stride, in_row = index % resource.index_stride;
      place = (row * resource.stride + (offset & ~u64{3})) * resource.index_stride + in_row * 4 + (offset & 3);
    }
    lanes.at.guest[lane] = resource.base + scalar_offset + place;
    if (!has_index || resource.stride == 0)
      lanes.room[lane] = to_room(limit, place);
    else if (index >= resource.num_records || (resource.swizzle && offset >= resource.stride))
      lanes.room[lane] = 0;
    else
      lanes.room[lane] = resource.swizzle ? static_cast<u32>(resource.stride - offset) : ~0u;
  }
}

void buffer_addresses(Wave& wave, const Inst& inst, const Operands& operands, BufferLanes& lanes) {
  static constexpr u32 kZeros[kWaveSize] = {};
  const u32 *indices = kZeros, *offsets = kZeros;
  if (inst.mods.idxen || inst.mods.offen) {
    if (!operands.address.is_vgpr()) throw GuestFault{FaultKind::IllegalOperand, "the buffer address is not a vector register"};
    const u32* given = wave.vgpr(operands.address.index);
    if (inst.mods.idxen) indices = given;
    if (inst.mods.offen) offsets = inst.mods.idxen ? given + kWaveSize : given;
  }
  lanes.active = wave.exec();
  const u32 immediate = static_cast<u32>(inst.mods.offset);
  const Resource& resource = operands.resource;
  if (inst.mods.idxen || resource.add_thread || resource.swizzle)
    indexed_addresses(resource, operands.scalar_offset, indices, inst.mods.idxen, offsets, immediate, lanes);
  else
    linear_addresses(resource, operands.scalar_offset, offsets, immediate, lanes);
  // Swizzled dwords do not follow each other in memory.
  if (resource.swizzle) lanes.at.pattern = LaneAddresses::Pattern::Checked;
}

u32 lane_count(u64 active) { return static_cast<u32>(std::popcount(active)); }

template <typename Visit>
void for_each_lane(u64 active, const Visit& visit) {
  for (u64 left = active; left != 0; left &= left - 1) visit(static_cast<u32>(std::countr_zero(left)));
}

// The address of dword k of a lane's access: swizzled records spread their dwords.
u64 dword_address(const BufferLanes& lanes, const Resource& resource, u32 lane, u32 k) {
  return lanes.at.guest[lane] + 4 * u64{k} * (resource.swizzle ? resource.index_stride : 1);
}

// ---- Loads and stores without conversion ----

// For the lanes that are not wholly in range, or not in one piece.
template <typename Data>
void load_by_parts(Wave& wave, const BufferLanes& lanes, const Resource& resource, u64 which, u32* destination) {
  for_each_lane(which, [&](u32 lane) {
    if constexpr (is_plain_dwords<Data>) {
      for (u32 k = 0; k < Data::dwords; ++k) {
        u32 value = 0;
        if (lanes.room[lane] >= 4 * (k + 1)) load_bytes(wave, dword_address(lanes, resource, lane, k), 4, lane, &value);
        destination[k * kWaveSize + lane] = value;
      }
    } else {
      typename Data::type value{};
      if (lanes.room[lane] >= Data::bytes) load_bytes(wave, lanes.at.guest[lane], Data::bytes, lane, &value);
      destination[lane] = Data::from_memory(value, destination[lane]);
    }
  });
}

template <typename Data>
void load_to(Wave& wave, BufferLanes& lanes, const Resource& resource, u32* destination) {
  lanes.at.active = resource.swizzle ? 0 : lanes.with_room(Data::bytes);
  const u64 others = lanes.active & ~lanes.at.active;
  u64 kept_addresses[kWaveSize];
  if (others != 0) std::copy_n(lanes.at.guest, kWaveSize, kept_addresses);  // resolve() changes those of inactive lanes
  if (lanes.at.active != 0) {
    resolve(wave, lanes.at, Data::bytes, false);
    load_lanes<Data>(wave, lanes.at, destination);
  }
  if (others != 0) {
    std::copy_n(kept_addresses, kWaveSize, lanes.at.guest);
    load_by_parts<Data>(wave, lanes, resource, others, destination);
  }
  wave.bytes_read += u64{Data::bytes} * lane_count(lanes.active);
}

// Direct to LDS: lane l's dword goes to M0[15:0] + immediate + 4 * l.
void write_to_lds(Wave& wave, const Inst& inst, u64 active, const u32* values) {
  const u32 base = (wave.m0() & 0xffff) + static_cast<u32>(inst.mods.offset);
  for_each_lane(active, [&](u32 lane) { store_bytes(wave, kLdsAperture + base + 4 * lane, 4, lane, &values[lane]); });
}

template <typename Data>
void load(Wave& wave, const Inst& inst) {
  const Operands operands = operands_of(wave, inst);
  BufferLanes lanes;
  buffer_addresses(wave, inst, operands, lanes);
  if (!inst.mods.lds) {
    if (operands.data == nullptr) throw GuestFault{FaultKind::IllegalOperand, "the buffer load has no data register"};
    load_to<Data>(wave, lanes, operands.resource, data_registers(wave, *operands.data));
    return;
  }
  LaneBuffer values[Data::dwords] = {};
  load_to<Data>(wave, lanes, operands.resource, values[0]);
  write_to_lds(wave, inst, lanes.active, values[0]);
}

template <typename Data>
void store(Wave& wave, const Inst& inst) {
  const Operands operands = operands_of(wave, inst);
  if (operands.data == nullptr) throw GuestFault{FaultKind::IllegalOperand, "the buffer store has no data register"};
  const u32* source = data_registers(wave, *operands.data);
  BufferLanes lanes;
  buffer_addresses(wave, inst, operands, lanes);
  wave.bytes_written += u64{Data::bytes} * lane_count(lanes.active);
  lanes.at.active = lanes.with_room(Data::bytes);
  if (lanes.at.active == lanes.active && !operands.resource.swizzle) {
    if (lanes.active == 0) return;
    resolve(wave, lanes.at, Data::bytes, true);
    store_lanes<Data>(wave, lanes.at, source);
    return;
  }
  for_each_lane(lanes.active, [&](u32 lane) {
    if constexpr (is_plain_dwords<Data>) {
      for (u32 k = 0; k < Data::dwords; ++k)
        if (lanes.room[lane] >= 4 * (k + 1))
          store_bytes(wave, dword_address(lanes, operands.resource, lane, k), 4, lane, &source[k * kWaveSize + lane]);
    } else if (lanes.room[lane] >= Data::bytes) {
      const typename Data::type value = Data::to_memory(source[lane]);
      store_bytes(wave, lanes.at.guest[lane], Data::bytes, lane, &value);
    }
  });
}

// ---- FORMAT instructions ----

struct ElementFormat {
  const DataFormat& data;
  NumberFormat number;
  u32 selects;
};
constexpr u32 kIdentity = 4 | 5 << 3 | 6 << 6 | 7 << 9;
constexpr u32 kSelectOne = 1, kSelectFirst = 4;

template <bool InstructionFormat>
ElementFormat element_format(const Inst& inst, const Resource& resource) {
  if constexpr (InstructionFormat)
    return {data_format(inst.words[0] >> 19 & 15), static_cast<NumberFormat>(inst.words[0] >> 23 & 7), kIdentity};
  else
    return {data_format(resource.add_thread ? 4 : resource.data_format_code), resource.number_format, resource.selects};
}

std::array<u32, 4> select_components(const std::array<u32, 4>& from, u32 selects, u32 one) {
  std::array<u32, 4> result = {};
  for (u32 c = 0; c < 4; ++c) {
    const u32 select = selects >> 3 * c & 7;
    if (select >= kSelectFirst) result[c] = from[select - kSelectFirst];
    else if (select == kSelectOne) result[c] = one;
  }
  return result;
}

// How components lie in registers.
enum class Registers : u8 { Dwords, Halves, HighHalf };

template <Registers Layout>
void put_component(u32* registers, u32 lane, u32 component, u32 value, bool integer) {
  if constexpr (Layout == Registers::Dwords) {
    registers[component * kWaveSize + lane] = value;
  } else {
    const u32 half = integer ? value & 0xffff : f32_to_f16(std::bit_cast<f32>(value));
    const bool high = Layout == Registers::HighHalf || component % 2 != 0;
    u32& place = registers[component / 2 * kWaveSize + lane];
    place = high ? (place & 0xffff) | half << 16 : (place & 0xffff0000) | half;
  }
}
template <Registers Layout>
u32 get_component(const u32* registers, u32 lane, u32 component, NumberFormat number) {
  if constexpr (Layout == Registers::Dwords) return registers[component * kWaveSize + lane];
  const bool high = Layout == Registers::HighHalf || component % 2 != 0;
  const u16 half = static_cast<u16>(registers[component / 2 * kWaveSize + lane] >> (high ? 16 : 0));
  if (number == NumberFormat::Uint) return half;
  if (number == NumberFormat::Sint) return static_cast<u32>(i32{static_cast<i16>(half)});
  return std::bit_cast<u32>(f16_to_f32(half));
}

template <u32 Components, Registers Layout, bool InstructionFormat>
void load_format(Wave& wave, const Inst& inst) {
  const Operands operands = operands_of(wave, inst);
  const ElementFormat format = element_format<InstructionFormat>(inst, operands.resource);
  BufferLanes lanes;
  buffer_addresses(wave, inst, operands, lanes);
  LaneBuffer for_lds = {};
  u32* registers = inst.mods.lds || operands.data == nullptr ? for_lds : data_registers(wave, *operands.data);
  const bool integer = is_integer(format.number);
  const u32 one = integer ? 1 : std::bit_cast<u32>(1.0f);
  for_each_lane(lanes.active, [&](u32 lane) {
    std::array<u32, 4> components = {};
    if (format.data.bytes != 0 && lanes.room[lane] >= format.data.bytes) {
      std::byte element[kMostElementBytes];
      load_bytes(wave, lanes.at.guest[lane], format.data.bytes, lane, element);
      components = unpack_element(element, format.data, format.number);
    }
    components = select_components(components, format.selects, one);
    for (u32 c = 0; c < Components; ++c) put_component<Layout>(registers, lane, c, components[c], integer);
  });
  if (registers == for_lds) write_to_lds(wave, inst, lanes.active, for_lds);
  wave.bytes_read += u64{format.data.bytes} * lane_count(lanes.active);
}

template <u32 Components, Registers Layout, bool InstructionFormat>
void store_format(Wave& wave, const Inst& inst) {
  const Operands operands = operands_of(wave, inst);
  const ElementFormat format = element_format<InstructionFormat>(inst, operands.resource);
  if (operands.data == nullptr) throw GuestFault{FaultKind::IllegalOperand, "the buffer store has no data register"};
  const u32* registers = data_registers(wave, *operands.data);
  BufferLanes lanes;
  buffer_addresses(wave, inst, operands, lanes);
  for_each_lane(lanes.active, [&](u32 lane) {
    if (format.data.bytes == 0 || lanes.room[lane] < format.data.bytes) return;
    // The selects say where a component comes from when loaded; stores go the same way back.
    std::array<u32, 4> components = {};
    for (u32 c = 0; c < Components; ++c)
      if (const u32 select = format.selects >> 3 * c & 7; select >= kSelectFirst)
        components[select - kSelectFirst] = get_component<Layout>(registers, lane, c, format.number);
    std::byte element[kMostElementBytes];
    pack_element(components, format.data, format.number, element);
    store_bytes(wave, lanes.at.guest[lane], format.data.bytes, lane, element);
  });
  wave.bytes_written += u64{format.data.bytes} * lane_count(lanes.active);
}

// ---- Others ----

// LDS to memory: the dword at M0[15:0] + immediate + 4 * lane. Operands: srsrc, soffset.
void store_lds_dword(Wave& wave, const Inst& inst) {
  if (inst.operand_count != 2 || !inst.operands[0].is_scalar() || inst.operands[0].dwords != 4)
    throw GuestFault{FaultKind::IllegalOperand, "the buffer resource is not in scalar registers"};
  const Operand off;
  const Operands operands{nullptr, off, Resource(&wave.sgprs[inst.operands[0].index]), static_cast<u32>(read_scalar(wave, inst.operands[1]))};
  BufferLanes lanes;
  buffer_addresses(wave, inst, operands, lanes);
  const u32 base = (wave.m0() & 0xffff) + static_cast<u32>(inst.mods.offset);
  for_each_lane(lanes.with_room(4), [&](u32 lane) {
    u32 value;
    load_bytes(wave, kLdsAperture + base + 4 * lane, 4, lane, &value);
    store_bytes(wave, lanes.at.guest[lane], 4, lane, &value);
  });
  wave.bytes_written += 4 * u64{lane_count(lanes.active)};
}

template <typename T, typename Apply>
void atomic_access(Wave& wave, const Inst& inst, const Apply& apply) {
  const Operands operands = operands_of(wave, inst);
  if (operands.data == nullptr) throw GuestFault{FaultKind::IllegalOperand, "the buffer atomic has no data register"};
  u32* data = data_registers(wave, *operands.data);
  BufferLanes lanes;
  buffer_addresses(wave, inst, operands, lanes);
  const u64 in_range = lanes.with_room(sizeof(T));
  // The value before the operation comes back in the data registers.
  u32* result = inst.mods.sc0 ? data : nullptr;
  apply(lanes.at.guest, in_range, data, result);
  if (result != nullptr)
    for_each_lane(lanes.active & ~in_range, [&](u32 lane) { set_lane_value<T>(result, lane, T{}); });
  wave.bytes_read += sizeof(T) * u64{lane_count(lanes.active)};
  wave.bytes_written += sizeof(T) * u64{lane_count(lanes.active)};
}
template <typename Operation, typename T>
void atomic(Wave& wave, const Inst& inst) {
  atomic_access<T>(wave, inst, [&](const u64* addresses, u64 active, const u32* data, u32* result) {
    atomic_lanes<Operation, T>(wave, addresses, active, data, result);
  });
}
template <typename T>
void compare_swap(Wave& wave, const Inst& inst) {
  atomic_access<T>(wave, inst, [&](const u64* addresses, u64 active, const u32* data, u32* result) {
    compare_swap_lanes<T>(wave, addresses, active, data, result);
  });
}

constexpr Op row(std::string_view name, Execute function) { return custom_wide(name, InstClass::Vmem, function); }

using UByteLow = HalfData<u8, false>;
using UByteHigh = HalfData<u8, true>;
using SByteLow = HalfData<i8, false>;
using SByteHigh = HalfData<i8, true>;
using ShortLow = HalfData<u16, false>;
using ShortHigh = HalfData<u16, true>;

using namespace atomic_op;

constexpr Op kRows[] = {
    row("buffer_load_ubyte", &load<UByte>),
    row("buffer_load_sbyte", &load<SByte>),
    row("buffer_load_ushort", &load<UShort>),
    row("buffer_load_sshort", &load<SShort>),
    row("buffer_load_dword", &load<DwordData<1>>),
    row("buffer_load_dwordx2", &load<DwordData<2>>),
    row("buffer_load_dwordx3", &load<DwordData<3>>),
    row("buffer_load_dwordx4", &load<DwordData<4>>),
    row("buffer_load_ubyte_d16", &load<UByteLow>),
    row("buffer_load_ubyte_d16_hi", &load<UByteHigh>),
    row("buffer_load_sbyte_d16", &load<SByteLow>),
    row("buffer_load_sbyte_d16_hi", &load<SByteHigh>),
    row("buffer_load_short_d16", &load<ShortLow>),
    row("buffer_load_short_d16_hi", &load<ShortHigh>),
    row("buffer_store_byte", &store<UByte>),
    row("buffer_store_byte_d16_hi", &store<UByteHigh>),
    row("buffer_store_short", &store<UShort>),
    row("buffer_store_short_d16_hi", &store<ShortHigh>),
    row("buffer_store_dword", &store<DwordData<1>>),
    row("buffer_store_dwordx2", &store<DwordData<2>>),
    row("buffer_store_dwordx3", &store<DwordData<3>>),
    row("buffer_store_dwordx4", &store<DwordData<4>>),
    row("buffer_store_lds_dword", &store_lds_dword),

#define HIPBENCH_FORMAT_ROWS(prefix, own_format)                                                  \
  row(prefix "_load_format_x", &load_format<1, Registers::Dwords, own_format>),                   \
  row(prefix "_load_format_xy", &load_format<2, Registers::Dwords, own_format>),                  \
  row(prefix "_load_format_xyz", &load_format<3, Registers::Dwords, own_format>),                 \
  row(prefix "_load_format_xyzw", &load_format<4, Registers::Dwords, own_format>),                \
  row(prefix "_load_format_d16_x", &load_format<1, Registers::Halves, own_format>),               \
  row(prefix "_load_format_d16_xy", &load_format<2, Registers::Halves, own_format>),              \
  row(prefix "_load_format_d16_xyz", &load_format<3, Registers::Halves, own_format>),             \
  row(prefix "_load_format_d16_xyzw", &load_format<4, Registers::Halves, own_format>),            \
  row(prefix "_store_format_x", &store_format<1, Registers::Dwords, own_format>),                 \
  row(prefix "_store_format_xy", &store_format<2, Registers::Dwords, own_format>),                \
  row(prefix "_store_format_xyz", &store_format<3, Registers::Dwords, own_format>),               \
  row(prefix "_store_format_xyzw", &store_format<4, Registers::Dwords, own_format>),              \
  row(prefix "_store_format_d16_x", &store_format<1, Registers::Halves, own_format>),             \
  row(prefix "_store_format_d16_xy", &store_format<2, Registers::Halves, own_format>),            \
  row(prefix "_store_format_d16_xyz", &store_format<3, Registers::Halves, own_format>),           \
  row(prefix "_store_format_d16_xyzw", &store_format<4, Registers::Halves, own_format>)
    HIPBENCH_FORMAT_ROWS("buffer", false),
    HIPBENCH_FORMAT_ROWS("tbuffer", true),
#undef HIPBENCH_FORMAT_ROWS
    row("buffer_load_format_d16_hi_x", &load_format<1, Registers::HighHalf, false>),
    row("buffer_store_format_d16_hi_x", &store_format<1, Registers::HighHalf, false>),

    row("buffer_atomic_swap", &atomic<Swap<u32>, u32>),
    row("buffer_atomic_cmpswap", &compare_swap<u32>),
    row("buffer_atomic_add", &atomic<Add<u32>, u32>),
    row("buffer_atomic_sub", &atomic<Sub<u32>, u32>),
    row("buffer_atomic_smin", &atomic<Min<i32>, i32>),
    row("buffer_atomic_umin", &atomic<Min<u32>, u32>),
    row("buffer_atomic_smax", &atomic<Max<i32>, i32>),
    row("buffer_atomic_umax", &atomic<Max<u32>, u32>),
    row("buffer_atomic_and", &atomic<And<u32>, u32>),
    row("buffer_atomic_or", &atomic<Or<u32>, u32>),
    row("buffer_atomic_xor", &atomic<Xor<u32>, u32>),
    row("buffer_atomic_inc", &atomic<Inc<u32>, u32>),
    row("buffer_atomic_dec", &atomic<Dec<u32>, u32>),
    row("buffer_atomic_swap_x2", &atomic<Swap<u64>, u64>),
    row("buffer_atomic_cmpswap_x2", &compare_swap<u64>),
    row("buffer_atomic_add_x2", &atomic<Add<u64>, u64>),
    row("buffer_atomic_sub_x2", &atomic<Sub<u64>, u64>),
    row("buffer_atomic_smin_x2", &atomic<Min<i64>, i64>),
    row("buffer_atomic_umin_x2", &atomic<Min<u64>, u64>),
    row("buffer_atomic_smax_x2", &atomic<Max<i64>, i64>),
    row("buffer_atomic_umax_x2", &atomic<Max<u64>, u64>),
    row("buffer_atomic_and_x2", &atomic<And<u64>, u64>),
    row("buffer_atomic_or_x2", &atomic<Or<u64>, u64>),
    row("buffer_atomic_xor_x2", &atomic<Xor<u64>, u64>),
    row("buffer_atomic_inc_x2", &atomic<Inc<u64>, u64>),
    row("buffer_atomic_dec_x2", &atomic<Dec<u64>, u64>),
    row("buffer_atomic_add_f32", &atomic<Add<f32>, f32>),
    row("buffer_atomic_add_f64", &atomic<Add<f64>, f64>),
    row("buffer_atomic_min_f64", &atomic<FloatMin<f64>, f64>),
    row("buffer_atomic_max_f64", &atomic<FloatMax<f64>, f64>),
    row("buffer_atomic_pk_add_f16", &atomic<PackedAddF16, u32>),
};

}  // namespace

std::span<const Op> buffer_ops() { return kRows; }

}  // namespace hipbench::emulator
