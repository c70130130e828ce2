// Kernel arguments by value: every size and alignment, structs with padding, unions, arrays in structs, many arguments, and enough
// bytes to need loads beyond the first few registers. Also 3D grids and the built-in coordinates.
#include "check.hpp"

struct Mixed {
  char letter;
  double number;
  short pair[3];
  bool flag;
  long long wide;
};
union Word {
  float real;
  unsigned bits;
  unsigned char bytes[4];
};
struct alignas(32) Aligned {
  int values[5];
};
struct Large {
  unsigned words[120];
};
struct Empty {};

__global__ void many(char a, short b, int c, long long d, float e, double f, bool g, Mixed mixed, Word word, Aligned aligned, Empty, unsigned char last,
                     double* out) {
  double sum = a + b * 2.0 + c * 3.0 + double(d) * 4.0 + e * 5.0 + f * 6.0 + (g ? 7.0 : 0.0);
  sum += mixed.letter + mixed.number + mixed.pair[0] + mixed.pair[1] * 10 + mixed.pair[2] * 100 + (mixed.flag ? 0.25 : 0.5) + double(mixed.wide);
  sum += word.bytes[3] + word.bytes[0];
  for (int value : aligned.values)
    sum = sum * 2 + value;
  out[threadIdx.x] = sum + last + threadIdx.x;
}

__global__ void large_argument(Large large, const unsigned* which, unsigned* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = large.words[which[i]] + large.words[119];
}

__global__ void __launch_bounds__(120) coordinates(unsigned* out) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  out[block * threads + thread] = blockIdx.x | blockIdx.y << 4 | blockIdx.z << 8 | threadIdx.x << 12 | threadIdx.y << 16 | threadIdx.z << 20;
}

int main() {
  Check check("kernel_arguments");
  Mixed mixed{'x', 0.125, {1, -2, 3}, true, -(1ll << 40)};
  Word word;
  word.real = -1.5f;
  const Aligned aligned{{5, 4, 3, 2, 1}};
  DeviceBuffer<double> d_out(70);
  many<<<1, 70>>>('a', short(-300), 70000, 1ll << 35, 0.5f, 2.25, true, mixed, word, aligned, Empty{}, 200, d_out.get());
  HIP_CHECK_LAUNCH();
  double sum = 'a' + -300 * 2.0 + 70000 * 3.0 + double(1ll << 35) * 4 + 0.5 * 5 + 2.25 * 6 + 7;
  sum += 'x' + 0.125 + 1 - 20 + 300 + 0.25 - double(1ll << 40);
  sum += 0xbf + 0;
  for (int value : {5, 4, 3, 2, 1})
    sum = sum * 2 + value;
  const auto out = d_out.download();
  for (unsigned i = 0; i < out.size(); i++)
    check.equal("many", i, out[i], sum + 200 + i);

  Large large;
  Rng rng(6);
  for (unsigned& value : large.words)
    value = rng.u32();
  constexpr unsigned n = 150;
  std::vector<unsigned> which(n), expected(n);
  for (unsigned i = 0; i < n; i++) {
    which[i] = rng.below(120);
    expected[i] = large.words[which[i]] + large.words[119];
  }
  DeviceBuffer<unsigned> d_which(which), d_words(n);
  large_argument<<<ceil_div(n, 64), 64>>>(large, d_which.get(), d_words.get(), n);
  HIP_CHECK_LAUNCH();
  check.all_equal("large argument", d_words.download(), expected);

  const dim3 grids[] = {dim3(3, 2, 4), dim3(1, 5, 1), dim3(7, 1, 2)}, blocks[] = {dim3(5, 4, 3), dim3(1, 1, 15), dim3(13, 7, 1)};
  for (const dim3 grid : grids)
    for (const dim3 block : blocks) {
      std::vector<unsigned> all;
      for (unsigned bz = 0; bz < grid.z; bz++)
        for (unsigned by = 0; by < grid.y; by++)
          for (unsigned bx = 0; bx < grid.x; bx++)
            for (unsigned tz = 0; tz < block.z; tz++)
              for (unsigned ty = 0; ty < block.y; ty++)
                for (unsigned tx = 0; tx < block.x; tx++)
                  all.push_back(bx | by << 4 | bz << 8 | tx << 12 | ty << 16 | tz << 20);
      DeviceBuffer<unsigned> d_all(all.size());
      coordinates<<<grid, block>>>(d_all.get());
      HIP_CHECK_LAUNCH();
      check.all_equal("coordinates", d_all.download(), all);
    }
  return check.finish();
}
