#include "problems/symmetry.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/result.hpp"

namespace hipbench {

Permutation identity_permutation(int64_t size) {
  Permutation to(static_cast<size_t>(size));
  std::iota(to.begin(), to.end(), int64_t{0});
  return to;
}

Permutation random_permutation(RandomStream& random, int64_t size) {
  Permutation to = identity_permutation(size);
  for (size_t left = to.size(); left > 1; --left) std::swap(to[left - 1], to[random.below(left)]);
  return to;
}

Permutation random_block_permutation(RandomStream& random, int64_t size, int64_t block) {
  const Permutation blocks = random_permutation(random, size / block);
  Permutation to = identity_permutation(size);
  for (int64_t first = 0; first < size; first += block) {
    const int64_t count = std::min(block, size - first);
    const int64_t target = count == block ? blocks[static_cast<size_t>(first / block)] * block : first;
    const Permutation within = random_permutation(random, count);
    for (int64_t i = 0; i < count; ++i) to[static_cast<size_t>(first + i)] = target + within[static_cast<size_t>(i)];
  }
  return to;
}

Permutation random_exchange(RandomStream& random, int64_t size) {
  Permutation to = identity_permutation(size);
  if (size < 2) return to;
  const uint64_t one = random.below(to.size()), other = (one + 1 + random.below(to.size() - 1)) % to.size();
  std::swap(to[one], to[other]);
  return to;
}

std::vector<uint8_t> random_bits(RandomStream& random, int64_t size) {
  std::vector<uint8_t> bits(static_cast<size_t>(size));
  for (uint8_t& bit : bits) bit = static_cast<uint8_t>(random.next() >> 63);
  return bits;
}

MovedRows move_rows(std::span<const int64_t> held, const Permutation& to) {
  MovedRows moved;
  if (held.empty()) {
    moved.order.resize(to.size());
    for (size_t row = 0; row < to.size(); ++row) moved.order[static_cast<size_t>(to[row])] = static_cast<int64_t>(row);
    return moved;
  }
  moved.order = identity_permutation(static_cast<int64_t>(held.size()));
  const auto target = [&](int64_t packed) { return to[static_cast<size_t>(held[static_cast<size_t>(packed)])]; };
  std::sort(moved.order.begin(), moved.order.end(), [&](int64_t a, int64_t b) { return target(a) < target(b); });
  for (const int64_t packed : moved.order) moved.rows.push_back(target(packed));
  return moved;
}

uint16_t scaled_bits(ElementType type, uint16_t bits, int exponent, bool negate) {
  CHECK(type == ElementType::Bf16 || type == ElementType::F16, "a 16-bit format");
  const int fraction_bits = type == ElementType::Bf16 ? 7 : 10, exponent_mask = type == ElementType::Bf16 ? 0xff : 0x1f;
  const int magnitude = bits & 0x7fff, sign = (bits & 0x8000) ^ (negate ? 0x8000 : 0);
  const int old_exponent = magnitude >> fraction_bits, new_exponent = old_exponent + exponent;
  if (exponent == 0 || magnitude == 0 || old_exponent == exponent_mask) return static_cast<uint16_t>(magnitude | sign);
  if (old_exponent > 0 && new_exponent > 0 && new_exponent < exponent_mask)
    return static_cast<uint16_t>((magnitude + exponent * (1 << fraction_bits)) | sign);
  const auto unsigned_bits = static_cast<uint16_t>(magnitude);
  const double value =
      std::ldexp(type == ElementType::Bf16 ? bf16_to_float(unsigned_bits) : f16_to_double(unsigned_bits), exponent);
  return static_cast<uint16_t>((type == ElementType::Bf16 ? double_to_bf16(value) : double_to_f16(value)) | sign);
}

}  // namespace hipbench
