#pragma once
// Exact symmetries of mla_decode, by the axes of its tensors. What is done to an index that is summed over cancels;
// what is done to the others shows in the outputs.

#include "problems/mla_decode/layout.hpp"
#include "problems/symmetry.hpp"

namespace hipbench::mla_decode {

// What happens to the entries of one axis of a tensor: entry i goes to `to[i]`, times 2^exponent[i], negated if
// negate[i].
struct Axis {
  Permutation to;
  std::vector<int8_t> exponent;
  std::vector<uint8_t> negate;

  explicit Axis(int64_t size);
  int64_t size() const { return static_cast<int64_t>(to.size()); }
  Axis inverse_scale() const;  // the same, but times 2^-exponent: the other factor of a product that is summed over
};

struct Symmetry {
  Permutation heads;
  Axis batches;  // of x and the cache together: a negated batch has negated keys, queries and values
  Axis dim;      // of x; the down projections do the inverse
  Axis dq;       // rows of wq_down
  Axis nope;     // entry h*128+d: query rows of wq_up, key rows of wkv_up do the inverse; `to` follows `heads`
  Axis value;    // entry h*128+d: value rows of wkv_up, columns of wo do the inverse; `to` follows `heads`
  Axis cache;    // 512 latent entries in any order, then 64 rope entries in place, partners j and j + 32 alike
  Axis out;      // rows of wo

  explicit Symmetry(const Sizes& sizes);  // the identity
};

// A bf16 matrix with its elements moved and scaled. CHECK: every product is exact.
std::vector<std::byte> move_matrix(std::span<const std::byte> from, const Axis& rows, const Axis& columns,
                                   unsigned threads);

void move_inputs(const Sizes& sizes, Buffers& inputs, const Symmetry& symmetry, unsigned threads);

}  // namespace hipbench::mla_decode
