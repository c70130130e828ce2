// Buffer resources: raw and indexed access with range checks, swizzled records, format conversion, atomics, loads to LDS.
#include "check.hpp"

using Words = int __attribute__((ext_vector_type(4)));
using Float4 = float __attribute__((ext_vector_type(4)));
using LdsPointer = __attribute__((address_space(3))) void*;

// What clang has no builtin for is named as Composable Kernel does it. Arguments after the data: resource, [index,] offset,
// scalar offset, cache policy.
__device__ float load_indexed(Words, int, int, int, int) __asm("llvm.amdgcn.struct.buffer.load.f32");
__device__ void store_indexed(float, Words, int, int, int, int) __asm("llvm.amdgcn.struct.buffer.store.f32");
__device__ Float4 load_format(Words, int, int, int, int) __asm("llvm.amdgcn.struct.buffer.load.format.v4f32");
__device__ void store_format(Float4, Words, int, int, int, int) __asm("llvm.amdgcn.struct.buffer.store.format.v4f32");
__device__ Float4 load_typed(Words, int, int, int, int, int) __asm("llvm.amdgcn.struct.tbuffer.load.v4f32");
__device__ int atomic_add(int, Words, int, int, int) __asm("llvm.amdgcn.raw.buffer.atomic.add.i32");
__device__ int compare_swap(int, int, Words, int, int, int) __asm("llvm.amdgcn.raw.buffer.atomic.cmpswap.i32");
__device__ void load_to_lds(Words, LdsPointer, int, int, int, int, int) __asm("llvm.amdgcn.raw.buffer.load.lds");

constexpr int kRaw = 0x00027000, kItems = 64;
constexpr unsigned kSelectXyzw = 4 | 5 << 3 | 6 << 6 | 7 << 9;
enum DataFormat { k32 = 4, k16x2 = 5, k11_11_10 = 6, k2_10_10_10 = 9, k8x4 = 10, k32x4 = 14 };
enum NumberFormat { kUnorm = 0, kSnorm = 1, kUint = 4, kSint = 5, kFloat = 7 };

__device__ Words resource(const void* base, int stride, int records, unsigned word3, bool swizzle = false) {
  const uint64_t address = reinterpret_cast<uint64_t>(base);
  return {int(address), int(unsigned(address >> 32) | unsigned(stride) << 16 | unsigned(swizzle) << 31), records, int(word3)};
}
__host__ __device__ constexpr unsigned format_word(unsigned data, unsigned number, unsigned selects = kSelectXyzw) {
  return selects | number << 12 | data << 15;
}

// Every width, from 20 bytes before the end of the range to beyond it; stores likewise into `out` (bytes in range only).
__global__ void raw_access(const uint8_t* in, int bytes, unsigned* loaded, uint8_t* out) {
  const int lane = int(threadIdx.x), offset = bytes - 128 + lane * 4;
  auto from = __builtin_amdgcn_make_buffer_rsrc(const_cast<uint8_t*>(in), 0, bytes, kRaw);
  auto to = __builtin_amdgcn_make_buffer_rsrc(out, 0, bytes, kRaw);
  unsigned* result = loaded + lane * 12;
  result[0] = __builtin_amdgcn_raw_buffer_load_b8(from, offset + 1, 0, 0);
  result[1] = __builtin_amdgcn_raw_buffer_load_b16(from, offset + 2, 0, 0);
  result[2] = __builtin_amdgcn_raw_buffer_load_b32(from, offset, 0, 0);
  const auto two = __builtin_amdgcn_raw_buffer_load_b64(from, offset, 0, 0);
  const auto three = __builtin_amdgcn_raw_buffer_load_b96(from, offset, 0, 0);
  const auto four = __builtin_amdgcn_raw_buffer_load_b128(from, offset - 4, 4, 0);  // the scalar offset counts too
  result[3] = two[0], result[4] = two[1];
  result[5] = three[0], result[6] = three[1], result[7] = three[2];
  for (int k = 0; k < 4; k++)
    result[8 + k] = four[k];
  if (lane % 2 == 0)
    __builtin_amdgcn_raw_buffer_store_b64(two, to, offset, 0, 0);
  __syncthreads();
  if (lane % 2 != 0)
    __builtin_amdgcn_raw_buffer_store_b8(uint8_t(lane), to, offset + 3, 0, 0);
}

// Records of 12 bytes by index; the swizzled copy holds rows of 16 records whose dwords lie interleaved.
__global__ void indexed_access(const float* records, int count, float* loaded, float* swizzled, float* back) {
  const int lane = int(threadIdx.x);
  const Words plain = resource(records, 12, count, kRaw);
  const Words mixed = resource(swizzled, 12, kItems, kRaw | 1u << 21, true);
  for (int k = 0; k < 3; k++) {
    const float value = load_indexed(plain, lane, k * 4, 0, 0);
    loaded[lane * 3 + k] = value;
    store_indexed(value, mixed, lane, k * 4, 0, 0);
  }
  __syncthreads();
  for (int k = 0; k < 3; k++)
    back[lane * 3 + k] = load_indexed(mixed, lane, k * 4, 0, 0);
}

template <unsigned Data, unsigned Number>
__device__ void convert(const unsigned* in, Float4* loaded, unsigned* stored, int lane) {
  const Float4 value = load_format(resource(in, 4, kItems, format_word(Data, Number)), lane, 0, 0, 0);
  loaded[lane] = value;
  store_format(value, resource(stored, 4, kItems, format_word(Data, Number)), lane, 0, 0, 0);
}
__global__ void formats(const unsigned* in, Float4* loaded, unsigned* stored) {
  const int lane = int(threadIdx.x);
  convert<k8x4, kUnorm>(in, loaded, stored, lane);
  convert<k8x4, kSnorm>(in, loaded + 64, stored + 64, lane);
  convert<k8x4, kSint>(in, loaded + 128, stored + 128, lane);
  convert<k2_10_10_10, kUint>(in, loaded + 192, stored + 192, lane);
  convert<k16x2, kUnorm>(in, loaded + 256, stored + 256, lane);
  // The last record is out of range; components w, x, 0 and 1 are selected.
  const unsigned selects = 7 | 4 << 3 | 0 << 6 | 1 << 9;
  loaded[320 + lane] = load_format(resource(in, 4, kItems - 1, format_word(k8x4, kUint, selects)), lane, 0, 0, 0);
  // The instruction's own format: 32 bits, unsigned.
  loaded[384 + lane] = load_typed(resource(in, 4, kItems, kRaw), lane, 0, 0, k32 | kUint << 4, 0);
}

__global__ void atomics_and_lds(int* counters, int bytes, int* old, int* through_lds) {
  __shared__ int lds[kItems];
  const int lane = int(threadIdx.x);
  const Words range = resource(counters, 0, bytes, kRaw);
  old[lane] = atomic_add(lane + 1, range, lane / 2 * 4, 0, 0);
  old[64 + lane] = compare_swap(-5, lane / 2 * 4 + lane + 1, range, lane * 4, 0, 0);
  lds[lane] = -1;
  __syncthreads();
  load_to_lds(range, (LdsPointer)lds, 4, lane * 4, 0, 0, 0);
  __builtin_amdgcn_s_waitcnt(0);
  __syncthreads();
  through_lds[lane] = lds[lane ^ 1];
}

static void check_raw(Check& check) {
  constexpr int kBytes = 1024;
  std::vector<uint8_t> bytes(kBytes + 256);
  Rng rng(1);
  for (uint8_t& byte : bytes)
    byte = uint8_t(rng.u32());
  DeviceBuffer<uint8_t> in(bytes), out(bytes.size());
  DeviceBuffer<unsigned> loaded(kItems * 12);
  out.fill_bytes(0xee);
  raw_access<<<1, kItems>>>(in.get(), kBytes, loaded.get(), out.get());
  HIP_CHECK_LAUNCH();
  const auto word = [&](int offset) {
    unsigned value = 0;
    if (offset + 4 <= kBytes)
      std::memcpy(&value, &bytes[size_t(offset)], 4);
    return value;
  };
  std::vector<unsigned> expected;
  std::vector<uint8_t> expected_out(bytes.size(), 0xee);
  for (int lane = 0; lane < kItems; lane++) {
    const int offset = kBytes - 128 + lane * 4;
    expected.push_back(offset + 1 < kBytes ? bytes[size_t(offset) + 1] : 0);
    expected.push_back(offset + 2 < kBytes ? bytes[size_t(offset) + 2] | unsigned(bytes[size_t(offset) + 3]) << 8 : 0);
    for (int dwords = 1; dwords <= 4; dwords++)
      for (int k = 0; k < dwords; k++)
        expected.push_back(word(offset + 4 * k));
    for (int k = 0; k < 8 && lane % 2 == 0; k++)
      if (offset + k < kBytes)
        expected_out[size_t(offset + k)] = bytes[size_t(offset + k)];
  }
  for (int lane = 1; lane < 32; lane += 2)
    expected_out[size_t(kBytes - 128 + lane * 4 + 3)] = uint8_t(lane);
  check.all_equal("raw loads", loaded.download(), expected);
  check.all_equal("raw stores", out.download(), expected_out);
}

static void check_indexed(Check& check) {
  constexpr int kCount = 50;
  std::vector<float> records(kItems * 3);
  for (size_t i = 0; i < records.size(); i++)
    records[i] = float(i) + 0.5f;
  DeviceBuffer<float> in(records), loaded(records.size()), swizzled(records.size()), back(records.size());
  indexed_access<<<1, kItems>>>(in.get(), kCount, loaded.get(), swizzled.get(), back.get());
  HIP_CHECK_LAUNCH();
  std::vector<float> expected = records, interleaved(records.size());
  std::fill(expected.begin() + kCount * 3, expected.end(), 0.0f);
  for (int i = 0; i < kItems; i++)
    for (int k = 0; k < 3; k++)
      interleaved[size_t(i / 16 * 48 + k * 16 + i % 16)] = expected[size_t(i * 3 + k)];
  check.all_equal("indexed loads", loaded.download(), expected);
  check.all_equal("swizzled records", swizzled.download(), interleaved);
  check.all_equal("swizzled loads", back.download(), expected);
}

static float bits_as_float(unsigned bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

static void check_formats(Check& check) {
  std::vector<unsigned> in(kItems);
  Rng rng(2);
  for (unsigned& word : in)
    word = rng.u32();
  in[0] = 0x80ff7f00;
  DeviceBuffer<unsigned> words(in), stored(kItems * 5);
  DeviceBuffer<Float4> loaded(kItems * 7);
  formats<<<1, kItems>>>(words.get(), loaded.get(), stored.get());
  HIP_CHECK_LAUNCH();
  const std::vector<Float4> got = loaded.download();
  for (size_t i = 0; i < kItems; i++) {
    const unsigned word = in[i];
    const unsigned shifts[4] = {0, 10, 20, 30};
    for (unsigned c = 0; c < 4; c++) {
      const unsigned byte = word >> 8 * c & 255;
      check.equal("unorm", i, got[i][c], float(byte / 255.0));
      check.equal("snorm", i, got[64 + i][c], float(std::max(int8_t(byte) / 127.0, -1.0)));
      check.equal("sint", i, got[128 + i][c], bits_as_float(unsigned(int{int8_t(byte)})));
      check.equal("2_10_10_10", i, got[192 + i][c], bits_as_float(word >> shifts[c] & (c < 3 ? 1023u : 3u)));
      check.equal("16_16", i, got[256 + i][c], c < 2 ? float((word >> 16 * c & 0xffff) / 65535.0) : c == 2 ? 0.0f : 1.0f);
      check.equal("32 of the instruction", i, got[384 + i][c], bits_as_float(c == 0 ? word : c == 3 ? 1u : 0u));
    }
    const bool in_range = i + 1 < kItems;
    check.equal("selected w", i, got[320 + i][0], bits_as_float(in_range ? word >> 24 : 0));
    check.equal("selected x", i, got[320 + i][1], bits_as_float(in_range ? word & 255 : 0));
    check.equal("selected 0", i, got[320 + i][2], 0.0f);
    check.equal("selected 1", i, got[320 + i][3], bits_as_float(1));
  }
  std::vector<unsigned> expected;
  for (unsigned block = 0; block < 5; block++)
    for (unsigned word : in) {
      for (unsigned c = 0; c < 4 && block == 1; c++)  // -128 and -127 are both -1
        if ((word >> 8 * c & 255) == 0x80)
          word += 1u << 8 * c;
      expected.push_back(word);
    }
  check.all_equal("stored formats", stored.download(), expected);
}

static void check_atomics(Check& check) {
  constexpr int kBytes = 80;
  std::vector<int> start(kItems);
  for (int i = 0; i < kItems; i++)
    start[size_t(i)] = 100 * i;
  DeviceBuffer<int> counters(start), old(2 * kItems), through_lds(kItems);
  atomics_and_lds<<<1, kItems>>>(counters.get(), kBytes, old.get(), through_lds.get());
  HIP_CHECK_LAUNCH();
  std::vector<int> memory = start, expected_old(2 * kItems);
  for (int lane = 0; lane < kItems; lane++) {
    if (lane / 2 * 4 + 4 > kBytes)
      continue;
    expected_old[size_t(lane)] = memory[size_t(lane / 2)];
    memory[size_t(lane / 2)] += lane + 1;
  }
  for (int lane = 0; lane * 4 + 4 <= kBytes; lane++) {
    expected_old[size_t(64 + lane)] = memory[size_t(lane)];
    if (memory[size_t(lane)] == lane / 2 * 4 + lane + 1)
      memory[size_t(lane)] = -5;
  }
  std::vector<int> expected_lds(kItems);
  for (int lane = 0; lane < kItems; lane++)
    expected_lds[size_t(lane)] = (lane ^ 1) * 4 + 4 <= kBytes ? memory[size_t(lane ^ 1)] : 0;
  check.all_equal("atomics return", old.download(), expected_old);
  check.all_equal("atomics in memory", counters.download(), memory);
  check.all_equal("loads to LDS", through_lds.download(), expected_lds);
}

int main() {
  Check check("buffer_resources");
  check_raw(check);
  check_indexed(check);
  check_formats(check);
  check_atomics(check);
  return check.finish();
}
