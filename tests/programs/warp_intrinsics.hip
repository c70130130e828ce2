// Cross-lane operations of a 64-lane wave: shuffles, votes, and the builtins beneath them, with some lanes switched off.
#include "check.hpp"

constexpr unsigned kResults = 21;

__global__ void cross_lane(const int* in, uint64_t* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;  // the last wave is partly off
  const int value = in[i];
  const int lane = int(threadIdx.x % 64);
  uint64_t* result = out + i * kResults;
  const auto put = [result](unsigned k, uint64_t bits) { result[k] = bits; };
  const auto word = [](int bits) { return uint64_t(unsigned(bits)); };
  put(0, word(__shfl(value, (lane * 5) % 32)));
  put(1, word(__shfl_up(value, 3)));
  put(2, word(__shfl_down(value, 2, 16)));
  put(3, word(__shfl_xor(value, 9)));
  put(4, uint64_t(__shfl(double(value), 7, 32)));
  put(5, uint64_t(__shfl_xor((long long)value << 20, 4)));
  put(6, __ballot(value % 2 == 0));
  put(7, uint64_t(__any(value > 990) | __all(value >= 0) << 1 | __all(value < 500) << 2));
  put(8, uint64_t(__popcll(__ballot(value % 3 == 0))) * 100 + uint64_t(__ffsll((unsigned long long)__ballot(value % 5 == 0))));
  put(9, word(__builtin_amdgcn_readfirstlane(value)));
  put(10, word(__builtin_amdgcn_readlane(value, 5)));
  put(11, word(__builtin_amdgcn_ds_bpermute(((lane + 1) % 32) * 4, value)));
  put(12, word(__builtin_amdgcn_update_dpp(-7, value, 0x111, 0xf, 0xf, false)));  // row_shr:1, keeps -7 at the edge
  put(13, word(__builtin_amdgcn_mov_dpp(value, 0xb1, 0xf, 0xf, true)));           // quad_perm:[1,0,3,2]
  put(14, word(__builtin_amdgcn_update_dpp(0, value, 0x140, 0xf, 0xf, true)));    // row_mirror
  put(15, word(__builtin_amdgcn_update_dpp(0, value, 0x121, 0xf, 0xf, true)));    // row_ror:1
  put(16, word(__builtin_amdgcn_ds_swizzle(value, 0x041f)));                      // xor 1 within 32 lanes
  put(17, word(int(__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)))));
  if (value % 2 == 0)
    put(18, __ballot(1));  // only those who are here vote
  else
    put(18, __ballot(1) << 1);
  put(19, __lane_id() * 1000 + __popc(unsigned(value)));
  put(20, __builtin_amdgcn_read_exec());
}

int main() {
  Check check("warp_intrinsics");
  for (unsigned n : {64u, 128u, 160u}) {  // 160: the third wave has 32 active lanes
    Rng rng(n);
    std::vector<int> in(n);
    for (int& value : in)
      value = int(rng.below(1000));
    DeviceBuffer<int> d_in(in);
    DeviceBuffer<uint64_t> d_out(n * kResults);
    cross_lane<<<1, 192>>>(d_in.get(), d_out.get(), n);
    HIP_CHECK_LAUNCH();
    const auto out = d_out.download();
    for (unsigned base = 0; base < n; base += 64) {
      const unsigned active = std::min(64u, n - base);
      const int* v = in.data() + base;
      uint64_t even = 0, third = 0, fifth = 0;
      const uint64_t everyone = active == 64 ? ~0ull : (1ull << active) - 1;
      bool any = false, non_negative = true, small = true;
      for (unsigned l = 0; l < active; l++) {
        even |= uint64_t(v[l] % 2 == 0) << l;
        third |= uint64_t(v[l] % 3 == 0) << l;
        fifth |= uint64_t(v[l] % 5 == 0) << l;
        any |= v[l] > 990;
        small &= v[l] < 500;
      }
      const auto word = [](int bits) { return uint64_t(unsigned(bits)); };
      for (unsigned l = 0; l < active; l++) {
        const unsigned row = l / 16 * 16;
        const uint64_t expected[kResults] = {
            word(v[l * 5 % 32]),
            word(l >= 3 ? v[l - 3] : v[l]),
            word(l % 16 + 2 < 16 ? v[l + 2] : v[l]),
            word(v[l ^ 9]),
            uint64_t(v[l / 32 * 32 + 7]),
            uint64_t((long long)v[l ^ 4] << 20),
            even,
            uint64_t(any | non_negative << 1 | small << 2),
            uint64_t(__builtin_popcountll(third)) * 100 + uint64_t(__builtin_ffsll((long long)fifth)),
            word(v[0]),
            word(v[5]),
            word(v[(l + 1) % 32]),
            word(l % 16 ? v[l - 1] : -7),
            word(v[l ^ 1]),
            word(v[row + 15 - l % 16]),
            word(v[row + (l + 15) % 16]),
            word(v[l ^ 1]),
            l,
            v[l] % 2 == 0 ? even : (everyone & ~even) << 1,
            l * 1000 + uint64_t(__builtin_popcount(unsigned(v[l]))),
            everyone,
        };
        for (unsigned k = 0; k < kResults; k++)
          check.equal(("result " + std::to_string(k)).c_str(), base + l, out[(base + l) * kResults + k], expected[k]);
      }
    }
  }
  return check.finish();
}
