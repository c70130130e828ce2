// Divergent control flow: nested loops with break and continue, switch with fall-through, goto into shared tails, early returns,
// short circuits with side effects. The same function runs on the device and on the CPU.
#include "check.hpp"

__host__ __device__ unsigned collatz_steps(unsigned n) {
  unsigned steps = 0;
  while (n != 1) {
    n = n % 2 ? 3 * n + 1 : n / 2;
    if (++steps > 300)
      break;
  }
  return steps;
}

__host__ __device__ unsigned interpreter(unsigned program, unsigned input) {
  unsigned accumulator = input, stack = 0;
  for (int pc = 0; pc < 24; pc++) {
    switch (program >> (pc % 8 * 4) & 15) {
      case 0: accumulator += 3; [[fallthrough]];
      case 1: accumulator ^= 0x55; break;
      case 2:
        if (accumulator & 1)
          continue;
        accumulator >>= 1;
        break;
      case 3: stack = stack << 4 | (accumulator & 15); break;
      case 4: accumulator += stack & 15; stack >>= 4; break;
      case 5: accumulator *= 5; break;
      case 6:
        if (accumulator % 7 == 0)
          return accumulator ^ 0xabcd;
        break;
      case 7: pc += int(accumulator & 1); break;
      case 8: accumulator = ~accumulator; [[fallthrough]];
      case 9: case 10: accumulator = accumulator << 3 | accumulator >> 29; break;
      default: accumulator -= program;
    }
  }
  return accumulator + stack;
}

__host__ __device__ unsigned nested(unsigned seed) {
  unsigned result = 0;
  for (unsigned i = 0; i < 2 + seed % 5; i++) {
    for (unsigned j = i; j < 10; j++) {
      if ((seed >> j & 1) == 0)
        continue;
      unsigned k = seed + i;
      do {
        k = k * 5 + j;
        if (k % 11 == 3)
          goto next_row;
        if (k % 13 == 5)
          goto done;
        result += k & 255;
      } while (k % 4 != 0 && result < 5000);
    }
  next_row:
    result = result * 3 + i;
  }
done:
  return result;
}

__host__ __device__ bool note(unsigned& trail, unsigned bit, bool value) {
  trail = trail * 2 + bit;
  return value;
}

__host__ __device__ unsigned short_circuits(unsigned x) {
  unsigned trail = 1;
  if ((note(trail, 1, x % 2 == 0) && note(trail, 0, x % 3 == 0)) || (note(trail, 1, x % 5 == 0) && !note(trail, 1, x % 7 == 0)))
    trail += 1000;
  return x % 4 == 0 ? trail : x % 4 == 1 ? trail ^ 0xff : note(trail, 0, x & 8) ? trail * 3 : trail * 5;
}

__global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const unsigned x = in[i];
  out[i] = collatz_steps(x % 1000 + 1);
  out[n + i] = interpreter(x, i);
  out[2 * n + i] = nested(x);
  out[3 * n + i] = short_circuits(x);
}

int main() {
  Check check("control_flow");
  for (unsigned n : {37u, 400u}) {
    Rng rng(n);
    std::vector<unsigned> in(n), expected(4 * n);
    for (unsigned i = 0; i < n; i++) {
      in[i] = rng.u32();
      expected[i] = collatz_steps(in[i] % 1000 + 1);
      expected[n + i] = interpreter(in[i], i);
      expected[2 * n + i] = nested(in[i]);
      expected[3 * n + i] = short_circuits(in[i]);
    }
    DeviceBuffer<unsigned> d_in(in), d_out(4 * n);
    run<<<ceil_div(n, 130), 130>>>(d_in.get(), d_out.get(), n);
    HIP_CHECK_LAUNCH();
    check.all_equal("control flow", d_out.download(), expected);
  }
  return check.finish();
}
