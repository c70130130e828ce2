#include "tests/problems/moe_simulation.hpp"

#include <algorithm>
#include <cmath>

namespace hipbench::moe {
namespace {

class Simulation {
 public:
  Simulation(const Sizes& sizes, const Buffers& inputs, const Kernel& kernel)
      : s_(sizes), kernel_(kernel), values_(kY) {
    for (size_t field = 0; field < kY; ++field) {
      for (int64_t i = 0; i < field_elements(sizes, field); ++i)
        values_[field].push_back(f16_to_double(codes(inputs[field])[i]));
    }
  }

  std::vector<double> run() const {
    std::vector<double> y(static_cast<size_t>(s_.tokens * s_.d_hidden));
    for (int64_t token = 0; token < s_.tokens; ++token) add_token(token, &y[static_cast<size_t>(token * s_.d_hidden)]);
    return y;
  }

 private:
  double element(size_t field, int64_t index) const { return values_[field][static_cast<size_t>(index)]; }

  double rounded(double value) const {
    return kernel_.arithmetic == Arithmetic::F16 ? f16_to_double(double_to_f16(value)) : value;
  }
  // Operands of a product. Their standard deviation is brought to 8 or so, whose largest values e4m3fnuz can hold.
  double operand(double value, double scale) const {
    if (kernel_.arithmetic != Arithmetic::Fp8Operands) return value;
    return e4m3fnuz_to_double(double_to_e4m3fnuz(std::clamp(value * scale, -240.0, 240.0))) / scale;
  }

  template <typename Left, typename Right>
  double dot(int64_t count, Left left, Right right) const {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) {
      sum += left(i) * right(i);
      if (kernel_.arithmetic == Arithmetic::F16) sum = static_cast<float>(sum);
      if (kernel_.arithmetic == Arithmetic::Bf16Sums && i % 8 == 7) sum = bf16_to_float(double_to_bf16(sum));
    }
    return rounded(sum);
  }

  // Of one row through one expert, whose matrices begin at `at`.
  std::vector<double> feed_forward(int64_t token, size_t gate, size_t up, size_t down, int64_t at,
                                   int64_t width) const {
    if (kernel_.mistake == Mistake::SwappedGateAndUp) std::swap(gate, up);
    const double weight_scale = 8 * std::sqrt(static_cast<double>(width));
    const auto inner = [&](size_t field, int64_t j) {
      return dot(
          s_.d_hidden, [&](int64_t i) { return operand(element(kX, token * s_.d_hidden + i), 8); },
          [&](int64_t i) { return operand(element(field, at + i * width + j), weight_scale); });
    };
    std::vector<double> hidden;
    for (int64_t j = 0; j < width; ++j) {
      const double g = inner(gate, j), u = inner(up, j);
      hidden.push_back(rounded(rounded(g / (1 + std::exp(-g))) * u));
    }
    std::vector<double> out;
    for (int64_t c = 0; c < s_.d_hidden; ++c) {
      out.push_back(dot(
          width, [&](int64_t j) { return operand(hidden[static_cast<size_t>(j)], 4); },
          [&](int64_t j) { return operand(element(down, at + j * s_.d_hidden + c), weight_scale); }));
    }
    return out;
  }

  void add_token(int64_t token, double* y) const {
    std::vector<double> logits, exponentials;
    for (int64_t e = 0; e < s_.n_experts; ++e) {
      logits.push_back(dot(
          s_.d_hidden, [&](int64_t i) { return element(kX, token * s_.d_hidden + i); },
          [&](int64_t i) { return element(kRouter, e * s_.d_hidden + i); }));
      exponentials.push_back(std::exp(logits.back()));
    }
    double sum = 0;
    for (const double value : exponentials) sum += value;
    std::vector<int64_t> chosen;
    for (int64_t e = 0; e < s_.n_experts; ++e) {
      const auto better = std::count_if(logits.begin(), logits.end(),
                                        [&](double other) { return other > logits[static_cast<size_t>(e)]; });
      if (better < s_.top_k) chosen.push_back(e);
    }
    std::sort(chosen.begin(), chosen.end(),
              [&](int64_t a, int64_t b) { return logits[static_cast<size_t>(a)] > logits[static_cast<size_t>(b)]; });
    if (kernel_.mistake == Mistake::OneExpertLess) chosen.pop_back();
    double chosen_sum = 0;
    for (const int64_t e : chosen) chosen_sum += exponentials[static_cast<size_t>(e)];
    if (kernel_.mistake == Mistake::Renormalised) sum = chosen_sum;

    for (size_t rank = 0; rank < chosen.size(); ++rank) {
      const size_t weight_rank = kernel_.mistake == Mistake::ReversedWeights ? chosen.size() - 1 - rank : rank;
      double weight = rounded(exponentials[static_cast<size_t>(chosen[weight_rank])] / sum);
      if (kernel_.mistake == Mistake::UnweightedExperts) weight = 1.0 / static_cast<double>(s_.top_k);
      const int64_t e = (chosen[rank] + (kernel_.mistake == Mistake::NextExpert ? 1 : 0)) % s_.n_experts;
      const std::vector<double> out =
          feed_forward(token, kGate, kUp, kDown, e * s_.d_hidden * s_.d_expert, s_.d_expert);
      for (size_t c = 0; c < out.size(); ++c) y[c] = rounded(y[c] + rounded(weight * out[c]));
    }
    if (kernel_.mistake == Mistake::NoShared) return;
    const std::vector<double> out = feed_forward(token, kSharedGate, kSharedUp, kSharedDown, 0, s_.d_shared);
    for (size_t c = 0; c < out.size(); ++c) y[c] = rounded(y[c] + out[c]);
  }

  const Sizes& s_;
  const Kernel& kernel_;
  std::vector<std::vector<double>> values_;
};

}  // namespace

std::vector<double> simulate(const Sizes& sizes, const Buffers& inputs, const Kernel& kernel) {
  return Simulation(sizes, inputs, kernel).run();
}

Shape small_shape(const Sizes& s) {
  Shape shape{"small", {}};
  for (const int64_t value : {s.bs, s.seq, s.tokens, s.d_hidden, s.d_expert, s.d_shared, s.n_experts, s.top_k}) {
    shape.values.push_back(static_cast<int32_t>(value));
  }
  return shape;
}

}  // namespace hipbench::moe
