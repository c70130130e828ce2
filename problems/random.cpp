#include "problems/random.hpp"

#include <charconv>
#include <cmath>
#include <numbers>
#include <string>

#include "common/files.hpp"
#include "common/result.hpp"
#include "problems/number_formats.hpp"

namespace hipbench {
namespace {

struct AliasSlot {
  uint32_t threshold, alias;
};

// Walker's table for codes with the given probabilities, thresholds as parts of `one`: slot i stands for code i with
// probability threshold / one, else for its alias.
std::vector<AliasSlot> alias_slots(std::span<const double> probabilities, uint32_t one) {
  const size_t count = probabilities.size();
  std::vector<AliasSlot> slots(count);
  std::vector<double> scaled(count);
  std::vector<uint32_t> small, large;
  for (uint32_t code = 0; code < count; ++code) {
    scaled[code] = probabilities[code] * static_cast<double>(count);
    (scaled[code] < 1 ? small : large).push_back(code);
    slots[code] = {one, code};
  }
  while (!small.empty() && !large.empty()) {
    const uint32_t poor = small.back(), rich = large.back();
    small.pop_back();
    slots[poor] = {static_cast<uint32_t>(std::lround(scaled[poor] * one)), rich};
    scaled[rich] -= 1 - scaled[poor];
    if (scaled[rich] < 1) {
      large.pop_back();
      small.push_back(rich);
    }
  }
  // What rounding errors leave over stays with its own code, unless that code must never come up.
  for (const uint32_t code : small) {
    if (probabilities[code] == 0) slots[code] = {0, large.empty() ? 0 : large.back()};
  }
  return slots;
}

}  // namespace

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
  const std::vector<AliasSlot> slots = alias_slots(probabilities, 1u << 24);
  for (size_t code = 0; code < 256; ++code) {
    slots_[code] = {slots[code].threshold, static_cast<uint8_t>(slots[code].alias)};
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

NormalSampler::NormalSampler(ElementType type, double deviation) {
  CHECK(type == ElementType::F16 || type == ElementType::Bf16, "a 16-bit format");
  const uint32_t infinity = type == ElementType::F16 ? 0x7c00 : 0x7f80;
  const auto value_of = [&](uint32_t bits) {
    const auto code = static_cast<uint16_t>(bits);
    return type == ElementType::F16 ? f16_to_double(code) : bf16_to_float(code);
  };
  // Each number owns the reals between the midpoints to its neighbours; zero its own half interval, mirrored for -0.
  std::vector<double> probabilities(1 << 16);
  double lower_tail = 0.5;
  for (uint32_t bits = 0; bits + 1 < infinity && lower_tail > 0; ++bits) {
    const double midpoint = (value_of(bits) + value_of(bits + 1)) / 2;
    const double upper_tail = 0.5 * std::erfc(midpoint / deviation / std::numbers::sqrt2);
    probabilities[bits] = probabilities[bits | 0x8000] = lower_tail - upper_tail;
    lower_tail = upper_tail;
  }
  for (const AliasSlot& slot : alias_slots(probabilities, 1u << 16)) {
    const auto code = static_cast<uint16_t>(slots_.size());
    if (slot.threshold > 0xffff) {
      slots_.push_back({0, code});  // always itself
    } else {
      slots_.push_back({static_cast<uint16_t>(slot.threshold), static_cast<uint16_t>(slot.alias)});
    }
  }
}

void NormalSampler::fill(RandomStream& random, std::span<uint16_t> codes) const {
  size_t index = 0;
  for (; index + 2 <= codes.size(); index += 2) {
    const uint64_t bits = random.next();
    codes[index] = draw(static_cast<uint32_t>(bits));
    codes[index + 1] = draw(static_cast<uint32_t>(bits >> 32));
  }
  if (index < codes.size()) codes[index] = draw(static_cast<uint32_t>(random.next()));
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
