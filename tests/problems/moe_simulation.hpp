#pragma once
// What honest and wrong moe kernels compute, for sizes of any kind. Independent of the oracle: plain loops over single
// elements.

#include <vector>

#include "problems/moe/layout.hpp"

namespace hipbench::moe {

enum class Arithmetic {
  Exact,        // double
  F16,          // as the challenge's reference: f32 sums, every intermediate result rounded to f16
  Bf16Sums,     // sums rounded to bf16 after each 8 products
  Fp8Operands,  // operands of the three products of an expert rounded to e4m3fnuz, scaled to use its range
};

enum class Mistake {
  None,
  Renormalised,  // weights of the chosen experts add up to 1
  NoShared,
  NextExpert,       // the weights of expert e + 1 for e
  ReversedWeights,  // the smallest softmax value for the most wanted expert
  OneExpertLess,
  SwappedGateAndUp,
  UnweightedExperts,
};

struct Kernel {
  Arithmetic arithmetic = Arithmetic::Exact;
  Mistake mistake = Mistake::None;
};

// y, [tokens][d_hidden], not rounded with Arithmetic::Exact.
std::vector<double> simulate(const Sizes& sizes, const Buffers& inputs, const Kernel& kernel);

// A shape of any sizes; shapes that a user may ask for are larger.
Shape small_shape(const Sizes& sizes);

}  // namespace hipbench::moe
