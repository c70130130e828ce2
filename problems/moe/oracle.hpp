#pragma once
// The right answer of moe, in double from the f16 inputs to the f16 output.

#include <cstdint>
#include <span>
#include <vector>

#include "problems/moe/layout.hpp"

namespace hipbench::moe {

// x . router^T of the given tokens: [tokens][n_experts].
std::vector<double> logits(const Sizes& sizes, const uint16_t* x, const uint16_t* router,
                           std::span<const int64_t> tokens, unsigned threads);

struct Choice {
  int32_t expert;
  double weight;  // softmax over all experts, not renormalised over the chosen ones
};

// The top_k experts of a token from its n_experts logits, as the reference chooses them: by softmax values in f16,
// greatest first, of equal ones (one token in 400 with 32 experts has such at the edge) the one with the smaller index.
std::vector<Choice> choose(std::span<const double> token_logits, int64_t top_k);

// y's rows `tokens` (ascending, all valid), packed: tokens.size() * d_hidden values of f16. Any sizes.
std::vector<uint16_t> forward(const Sizes& sizes, const Buffers& inputs, std::span<const int64_t> tokens,
                              unsigned threads);

}  // namespace hipbench::moe
