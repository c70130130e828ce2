// Buffer memory instructions (MUBUF, MTBUF): addresses relative to a buffer resource, checked against its size. CDNA3
// ISA, chapter "Vector memory buffer instructions". Operand order in assembler: [vdata,] vaddr, srsrc, soffset; vaddr
// is "off", an index (idxen), an offset (offen) or both in this order.
//
// Rules that the ISA document leaves open, as Mesa and LLVM know them of gfx9:
//   NUM_RECORDS counts records when the instruction gives an index and the stride is not 0, bytes otherwise.
//   Dword loads and stores are checked dword by dword, everything else as a whole.
//   A load direct to LDS writes zero for what is out of range.

#include <algorithm>

#include "emulator/isa/buffer_format.hpp"
#include "emulator/isa/row_family.hpp"

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
void linear_addresses(const Resource& resource, u32 scalar_offset, const u32* offsets, u32 immediate,
                      BufferLanes& lanes) {
  const u64 base = resource.base + scalar_offset;
  const u64 limit = resource.num_records > scalar_offset ? resource.num_records - scalar_offset : 0;
  for (u32 lane = 0; lane < kWaveSize; ++lane) {
    const u64 offset = u64{offsets[lane]} + immediate;
    lanes.at.guest[lane] = base + offset;
    lanes.room[lane] = to_room(limit, offset);
  }
}

void indexed_addresses(const Resource& resource, u32 scalar_offset, const u32* indices, bool has_index,
                       const u32* offsets, u32 immediate, BufferLanes& lanes) {
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
    if (!operands.address.is_vgpr())
      throw GuestFault{FaultKind::IllegalOperand, "the buffer address is not a vector register"};
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

struct BufferAccess {
  template <typename Data>
  static void load(Wave& wave, const Inst& inst) {
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
  static void store(Wave& wave, const Inst& inst) {
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
};

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
  const Operands operands{nullptr, off, Resource(&wave.sgprs[inst.operands[0].index]),
                          static_cast<u32>(read_scalar(wave, inst.operands[1]))};
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
struct BufferAtomic {
  template <typename Operation, typename T>
  static void apply(Wave& wave, const Inst& inst) {
    atomic_access<T>(wave, inst, [&](const u64* addresses, u64 active, const u32* data, u32* result) {
      atomic_lanes<Operation, T>(wave, addresses, active, data, result);
    });
  }
  template <typename T>
  static void compare_swap(Wave& wave, const Inst& inst) {
    atomic_access<T>(wave, inst, [&](const u64* addresses, u64 active, const u32* data, u32* result) {
      compare_swap_lanes<T>(wave, addresses, active, data, result);
    });
  }
};

template <bool InstructionFormat, Registers Layout>
void add_format_rows(RowFamily& family, const std::string& prefix, const std::string& layout) {
  const std::string load = prefix + "_load_format_" + layout, store = prefix + "_store_format_" + layout;
  family.add(load + "x", &load_format<1, Layout, InstructionFormat>);
  family.add(load + "xy", &load_format<2, Layout, InstructionFormat>);
  family.add(load + "xyz", &load_format<3, Layout, InstructionFormat>);
  family.add(load + "xyzw", &load_format<4, Layout, InstructionFormat>);
  family.add(store + "x", &store_format<1, Layout, InstructionFormat>);
  family.add(store + "xy", &store_format<2, Layout, InstructionFormat>);
  family.add(store + "xyz", &store_format<3, Layout, InstructionFormat>);
  family.add(store + "xyzw", &store_format<4, Layout, InstructionFormat>);
}

RowFamily make_rows() {
  RowFamily family(InstClass::Vmem);
  add_loads_and_stores<BufferAccess>(family, "buffer");
  family.add("buffer_store_lds_dword", &store_lds_dword);
  add_format_rows<false, Registers::Dwords>(family, "buffer", "");
  add_format_rows<false, Registers::Halves>(family, "buffer", "d16_");
  add_format_rows<true, Registers::Dwords>(family, "tbuffer", "");
  add_format_rows<true, Registers::Halves>(family, "tbuffer", "d16_");
  family.add("buffer_load_format_d16_hi_x", &load_format<1, Registers::HighHalf, false>);
  family.add("buffer_store_format_d16_hi_x", &store_format<1, Registers::HighHalf, false>);
  add_integer_atomics<BufferAtomic>(family, "buffer_atomic_");
  add_float_atomics<BufferAtomic>(family, "buffer_atomic_");
  return family;
}

}  // namespace

std::span<const Op> buffer_ops() {
  static const RowFamily family = make_rows();
  return family.rows();
}

}  // namespace hipbench::emulator
