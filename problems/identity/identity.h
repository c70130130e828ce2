// hipbench problem identity: y = x. See `hipbench problems show identity`.
// Valid in hipRTC device code and in C++20 host code.
#pragma once
#include <cstdint>

struct hb_identity {
  const float *x;  // (i,j) = x[i*columns + j]
  float *y;        // OUT, laid out as x
  int32_t rows, columns;
};

static_assert(sizeof(hb_identity) == 24, "hb_identity is 24 bytes");
static_assert(__builtin_offsetof(hb_identity, x) == 0 && __builtin_offsetof(hb_identity, y) == 8, "layout");
static_assert(__builtin_offsetof(hb_identity, rows) == 16 && __builtin_offsetof(hb_identity, columns) == 20, "layout");
