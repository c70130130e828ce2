#include "problems/random.hpp"

#include <charconv>
#include <cmath>
#include <numbers>
#include <string>

#include "common/files.hpp"
#include "problems/number_formats.hpp"

namespace hipbench {

RandomStream::RandomStream(std::string_view purpose, uint64_t seed, uint64_t case_index) {
  const std::string digest =
      sha256_hex(std::string(purpose) + '/' + std::to_string(seed) + '/' + std::to_string(case_index));
  for (size_t word = 0; word < state_.size(); ++word) {
    const char* begin = digest.data() + 16 * word;
    std::from_chars(begin, begin + 16, state_[word], 16);
  }
}

uint64_t RandomStream::below(uint64_t bound) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>(Wide{next()} * bound >> 64);
}

double RandomStream::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_normal_;
  }
  // Box-Muller; the first uniform is in (0, 1].
  const double radius = std::sqrt(-2 * std::log(static_cast<double>((next() >> 11) + 1) * 0x1p-53));
  const double angle = 2 * std::numbers::pi * static_cast<double>(next() >> 11) * 0x1p-53;
  spare_normal_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

CodeSampler::CodeSampler(const std::array<double, 256>& probabilities) {
  std::array<double, 256> scaled{};
  std::vector<uint8_t> small, large;
  for (size_t code = 0; code < 256; ++code) {
    scaled[code] = probabilities[code] * 256;
    (scaled[code] < 1 ? small : large).push_back(static_cast<uint8_t>(code));
    slots_[code] = {1u << 24, static_cast<uint8_t>(code)};
  }
  while (!small.empty() && !large.empty()) {
    const uint8_t poor = small.back(), rich = large.back();
    small.pop_back();
    slots_[poor] = {static_cast<uint32_t>(std::lround(scaled[poor] * 0x1p24)), rich};
    scaled[rich] -= 1 - scaled[poor];
    if (scaled[rich] < 1) {
      large.pop_back();
      small.push_back(rich);
    }
  }
  // What rounding errors leave over stays with its own code, unless that code must never come up.
  for (const uint8_t code : small) {
    if (probabilities[code] == 0) slots_[code] = {0, large.empty() ? uint8_t{0} : large.back()};
  }
}

void CodeSampler::fill(RandomStream& random, std::span<std::byte> codes) const {
  size_t index = 0;
  for (; index + 2 <= codes.size(); index += 2) {
    const uint64_t bits = random.next();
    codes[index] = std::byte{draw(static_cast<uint32_t>(bits))};
    codes[index + 1] = std::byte{draw(static_cast<uint32_t>(bits >> 32))};
  }
  if (index < codes.size()) codes[index] = std::byte{draw(static_cast<uint32_t>(random.next()))};
}

const CodeSampler& e4m3fnuz_normal_sampler() {
  static const CodeSampler sampler = [] {
    std::array<double, 256> probabilities{};
    // Each bf16 number owns the reals between the midpoints to its neighbours.
    double lower_tail = 0.5;  // P(X > lower midpoint); zero's interval starts at 0 here and is mirrored
    for (uint32_t bits = 0; bits < 0x7f80; ++bits) {
      const double value = bf16_to_float(static_cast<uint16_t>(bits));
      const double above = bits + 1 < 0x7f80 ? bf16_to_float(static_cast<uint16_t>(bits + 1)) : value * 2;
      const double upper_tail = 0.5 * std::erfc((value + above) / 2 / std::numbers::sqrt2);
      const double probability = lower_tail - upper_tail;
      lower_tail = upper_tail;
      if (value > 240) break;  // 240 standard deviations: the rest has probability 0 in double
      probabilities[double_to_e4m3fnuz(value)] += probability;
      probabilities[double_to_e4m3fnuz(-value)] += probability;
    }
    return CodeSampler(probabilities);
  }();
  return sampler;
}

}  // namespace hipbench
