// Bit and wide-integer intrinsics against plain loops on the CPU.
#include "check.hpp"

constexpr unsigned kResults = 27;

__global__ void tricks(const uint64_t* a, const uint64_t* b, uint64_t* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const unsigned x = unsigned(a[i]), y = unsigned(b[i]), s = y & 31;
  const int sx = int(x), sy = int(y);
  const unsigned long long wx = a[i], wy = b[i];
  const uint64_t results[kResults] = {
      uint64_t(__clz(sx)),        uint64_t(__clzll((long long)wx)), uint64_t(__ffs(sx)),          uint64_t(__ffsll(wx)),
      uint64_t(__popc(x)),        uint64_t(__popcll(wx)),           uint64_t(__brev(x)),          uint64_t(__brevll(wx)),
      __funnelshift_l(x, y, s),   __funnelshift_r(x, y, s),         __umulhi(x, y),               unsigned(__mulhi(sx, sy)),
      __umul64hi(wx, wy),         uint64_t(__mul64hi((long long)wx, (long long)wy)),
      unsigned(__mul24(sx, sy)),  unsigned(__umul24(x, y)),                  __byte_perm(x, y, 0x5342),    __usad(x, y, 5),
      unsigned(__hadd(sx, sy)), __uhadd(x, y),                  __urhadd(x, y),               wx * wy,
      wx >> (y & 63),             uint64_t((long long)wx >> (y & 63)), wx << (y & 63),            __bitextract_u32(x, 5, 11),
      __bitinsert_u32(x, y, 7, 9),
  };
  for (unsigned k = 0; k < kResults; k++)
    out[i * kResults + k] = results[k];
}

void expected_of(uint64_t wx, uint64_t wy, uint64_t* e) {
  const uint32_t x = uint32_t(wx), y = uint32_t(wy), s = y & 31;
  const auto leading = [](uint64_t value, int bits) {
    int count = 0;
    while (count < bits && !(value >> (bits - 1 - count) & 1))
      count++;
    return uint64_t(count);
  };
  const auto reversed = [](uint64_t value, int bits) {
    uint64_t result = 0;
    for (int k = 0; k < bits; k++)
      result |= (value >> k & 1) << (bits - 1 - k);
    return result;
  };
  const int64_t sx = int32_t(x), sy = int32_t(y);
  const int64_t low24x = int64_t(wx << 40) >> 40, low24y = int64_t(wy << 40) >> 40;
  const uint64_t both = uint64_t{y} << 32 | x;
  e[0] = leading(x, 32);
  e[1] = leading(wx, 64);
  e[2] = x ? 32 - leading(x & (0 - x), 32) : 0;
  e[3] = wx ? 64 - leading(wx & (0 - wx), 64) : 0;
  e[4] = e[5] = 0;
  for (int k = 0; k < 64; k++) {
    e[4] += k < 32 && (x >> k & 1);
    e[5] += wx >> k & 1;
  }
  e[6] = reversed(x, 32);
  e[7] = reversed(wx, 64);
  e[8] = uint32_t((both << s) >> 32);
  e[9] = uint32_t(both >> s);
  e[10] = uint64_t{x} * y >> 32;
  e[11] = uint32_t(uint64_t(sx * sy) >> 32);
  e[12] = uint64_t((unsigned __int128)wx * wy >> 64);
  e[13] = uint64_t((__int128)int64_t(wx) * int64_t(wy) >> 64);
  e[14] = uint32_t(low24x * low24y);
  e[15] = uint32_t(uint64_t{x & 0xffffff} * (y & 0xffffff));
  e[16] = 0;
  for (int k = 0; k < 4; k++)
    e[16] |= (both >> (8 * (0x5342 >> (4 * k) & 7)) & 255) << (8 * k);
  e[17] = uint32_t((x > y ? x - y : y - x) + 5);
  e[18] = uint32_t((sx + sy) >> 1);
  e[19] = (uint64_t{x} + y) >> 1;
  e[20] = (uint64_t{x} + y + 1) >> 1;
  e[21] = wx * wy;
  e[22] = wx >> (y & 63);
  e[23] = uint64_t(int64_t(wx) >> (y & 63));
  e[24] = wx << (y & 63);
  e[25] = x >> 5 & 0x7ff;
  e[26] = (x & ~(0x1ffu << 7)) | (y & 0x1ff) << 7;
}

int main() {
  Check check("bit_tricks");
  std::vector<uint64_t> a, b;
  const uint64_t corners[] = {0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000, ~0ull, 0x00800000, 0x007fffff};
  for (uint64_t x : corners)
    for (uint64_t y : corners) {
      a.push_back(x);
      b.push_back(y);
    }
  Rng rng(31);
  for (int i = 0; i < 500; i++) {
    a.push_back(rng.u64() >> rng.below(64));
    b.push_back(rng.u64() >> rng.below(64));
  }
  const unsigned n = unsigned(a.size());
  DeviceBuffer<uint64_t> d_a(a), d_b(b), d_out(n * kResults);
  tricks<<<ceil_div(n, 90), 90>>>(d_a.get(), d_b.get(), d_out.get(), n);
  HIP_CHECK_LAUNCH();
  const auto got = d_out.download();
  for (unsigned i = 0; i < n; i++) {
    uint64_t expected[kResults];
    expected_of(a[i], b[i], expected);
    for (unsigned k = 0; k < kResults; k++)
      check.equal(("result " + std::to_string(k)).c_str(), i, got[i * kResults + k], expected[k]);
  }
  return check.finish();
}
