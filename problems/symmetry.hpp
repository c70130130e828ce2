#pragma once
// The parts that exact symmetries of the problems (Problem::transform) are put together from.

#include <cstdint>
#include <span>
#include <vector>

#include "problems/number_formats.hpp"
#include "problems/random.hpp"

namespace hipbench {

// `to[i]` is the new place of what stood at i.
using Permutation = std::vector<int64_t>;

Permutation identity_permutation(int64_t size);
// Each permutation is equally likely.
Permutation random_permutation(RandomStream& random, int64_t size);
// Permutes whole blocks of `block` elements among themselves and the elements within each block; a shorter last block
// keeps its place.
Permutation random_block_permutation(RandomStream& random, int64_t size, int64_t block);
// Two different places are exchanged, the rest stays. Nothing for size < 2.
Permutation random_exchange(RandomStream& random, int64_t size);
// Each entry 0 or 1 with probability one half.
std::vector<uint8_t> random_bits(RandomStream& random, int64_t size);

// The rows that a case holds after its rows were permuted.
struct MovedRows {
  std::vector<int64_t> rows;   // ascending; empty if `held` was (all rows)
  std::vector<int64_t> order;  // the packed row k was packed row order[k] before
};
MovedRows move_rows(std::span<const int64_t> held, const Permutation& to);

// The bits of a bf16 or f16 number times 2^exponent, negated if `negate`. Exact unless the product is subnormal, where
// it is rounded (far below any absolute tolerance); exponents must leave room to overflow.
uint16_t scaled_bits(ElementType type, uint16_t bits, int exponent, bool negate);

}  // namespace hipbench
