#pragma once
// Rotary position embedding, rounded to bf16 where the challenge's reference rounds. Those roundings are part of the
// problem: at position 4100 the angles are so coarse that the exact rotation gives another answer.

#include <array>
#include <cstdint>

namespace hipbench::mla_decode {

constexpr int64_t kRope = 64;
constexpr int64_t kPairs = kRope / 2;  // element j turns with element j + 32

// theta_j = bf16(9984^(-j/32)): the base 10000 is itself rounded to bf16.
const std::array<float, kPairs>& rope_thetas();

// cos and sin, bf16 values, of the angle bf16(bf16(position) * theta_j).
struct Rotation {
  explicit Rotation(int64_t position);
  // out = bf16(bf16(x * cos) + bf16(rot(x) * sin)), rot(x) = (-x[32..63], x[0..31]). `x` holds bf16 values, so does
  // `out`.
  void apply(const float* x, double* out) const;

  std::array<float, kPairs> cosine, sine;
};

}  // namespace hipbench::mla_decode
