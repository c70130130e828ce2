#pragma once
// Random data for inputs, reproducible from (seed, case, tensor) on every machine.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "problems/number_formats.hpp"

namespace hipbench {

// xoshiro256** whose 256-bit state is the SHA-256 of the purpose, the seed and the case. So a candidate that works out
// the state from the inputs of one launch learns nothing of the next launch's, nor of the seed.
class RandomStream {
 public:
  RandomStream(std::string_view purpose, uint64_t seed, uint64_t case_index);
  uint64_t next() {
    const uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }
  // Uniform in [0, bound), bound > 0; the bias is below bound / 2^64.
  uint64_t below(uint64_t bound);
  // Standard normal.
  double normal();

 private:
  static uint64_t rotate(uint64_t value, int count) { return value << count | value >> (64 - count); }
  std::array<uint64_t, 4> state_{};
  double spare_normal_ = 0;
  bool has_spare_ = false;
};

// Draws one of up to 256 codes with given probabilities (Walker's alias method, 32 random bits a draw): for narrow
// formats this gives the exact distribution of "draw a normal, round it" at a fraction of the cost.
class CodeSampler {
 public:
  explicit CodeSampler(const std::array<double, 256>& probabilities);
  void fill(RandomStream& random, std::span<std::byte> codes) const;

 private:
  struct Slot {
    uint32_t threshold;  // of 2^24
    uint8_t alias;
  };
  uint8_t draw(uint32_t bits) const {
    const auto index = static_cast<uint8_t>(bits);
    return bits >> 8 < slots_[index].threshold ? index : slots_[index].alias;
  }
  std::array<Slot, 256> slots_{};
};

// Draws f16 or bf16 numbers: a normal with the given deviation, rounded to the type. The alias method again, over all
// 65536 codes with 32 random bits a draw; a code's probability is right within 2^-32. Fast enough for weights of
// gigabytes.
class NormalSampler {
 public:
  NormalSampler(ElementType type, double deviation);
  void fill(RandomStream& random, std::span<uint16_t> codes) const;

 private:
  struct Slot {
    uint16_t threshold, alias;  // an index below 2^16 whose other 16 bits are above the threshold gives the alias
  };
  uint16_t draw(uint32_t bits) const {
    const auto index = static_cast<uint16_t>(bits);
    return bits >> 16 < slots_[index].threshold ? index : slots_[index].alias;
  }
  std::vector<Slot> slots_;
};

// The distribution of a standard normal that is rounded to bf16 and then to e4m3fnuz.
const CodeSampler& e4m3fnuz_normal_sampler();

}  // namespace hipbench
