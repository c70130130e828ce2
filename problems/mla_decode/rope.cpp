#include "problems/mla_decode/rope.hpp"

#include <bit>
#include <cmath>

#include "problems/number_formats.hpp"

namespace hipbench::mla_decode {
namespace {

// To nearest even. The products of two bf16 numbers that come here are exact in float, and a sum of two is rounded to
// float first, as the reference does it.
float to_bf16_value(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return std::bit_cast<float>((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u);
}

float bf16_value_of(double value) { return bf16_to_float(double_to_bf16(value)); }

}  // namespace

const std::array<float, kPairs>& rope_thetas() {
  static const std::array<float, kPairs> thetas = [] {
    const double base = bf16_value_of(10000);
    std::array<float, kPairs> result{};
    for (size_t j = 0; j < kPairs; ++j) result[j] = bf16_value_of(std::pow(base, -static_cast<double>(j) / kPairs));
    return result;
  }();
  return thetas;
}

Rotation::Rotation(int64_t position) {
  const float rounded_position = bf16_value_of(static_cast<double>(position));
  for (size_t j = 0; j < kPairs; ++j) {
    const double angle = to_bf16_value(rounded_position * rope_thetas()[j]);
    cosine[j] = bf16_value_of(std::cos(angle));
    sine[j] = bf16_value_of(std::sin(angle));
  }
}

void Rotation::apply(const float* x, double* out) const {
  for (size_t j = 0; j < kPairs; ++j) {
    const float low = x[j], high = x[j + kPairs];
    out[j] = to_bf16_value(to_bf16_value(low * cosine[j]) + to_bf16_value(-high * sine[j]));
    out[j + kPairs] = to_bf16_value(to_bf16_value(high * cosine[j]) + to_bf16_value(low * sine[j]));
  }
}

}  // namespace hipbench::mla_decode
