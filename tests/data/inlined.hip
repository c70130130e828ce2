// Kernels whose work is done in a header of somebody else: tests/emulator/loader/elsewhere.h.
#include <elsewhere.h>

static __device__ void double_later(float* p) {
  double_one(p + 64);  // the innermost call in this file
}

extern "C" __attribute__((global)) void nested(float* p) {
  double_one(p);
  double_later(p);
}
