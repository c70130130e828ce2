#pragma once
// mla_decode written down as the model defines it: keys and values of every head expanded, no weights absorbed, one sum
// at a time. Independent of the oracle, slow, and with the mistakes that a candidate may make.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "problems/mla_decode/layout.hpp"
#include "problems/number_formats.hpp"

namespace hipbench::mla_decode {

inline double bf16(double value) { return bf16_to_float(double_to_bf16(value)); }

inline double exact(double value) { return value; }

struct Variant {
  using Round = double (*)(double);
  Round store = exact;       // intermediate results, where the reference and an honest kernel store them
  Round accumulate = exact;  // after each addition
  Round cached = exact;      // each element that is read from the cache
  Round rope_step = bf16;    // every rounding within RoPE but the next two
  Round theta = bf16;
  Round angle = bf16;
  double base = 9984;
  int64_t position_offset = 0;  // of the query
  bool appended_key = true;
  int64_t later_keys = 0;  // rows behind the new token that are taken for keys as well
};

class Plain {
 public:
  Plain(const Shape& shape, const Buffers& inputs) : s_(sizes_of(shape)) {
    for (size_t field = kX; field <= kKvCache; ++field) {
      Vector& numbers = inputs_.emplace_back(inputs[field].size() / 2);
      for (size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = load_element(ElementType::Bf16, inputs[field].data(), static_cast<int64_t>(i));
      }
    }
  }

  // The packed outputs, as Problem::expected() gives them.
  Buffers run(const Variant& variant) const {
    Buffers result(kFieldCount);
    for (int64_t batch = 0; batch < s_.bs; ++batch) run_batch(batch, variant, result);
    return result;
  }

 private:
  using Vector = std::vector<double>;

  double element(size_t field, int64_t row, int64_t column) const {
    return inputs_[field][static_cast<size_t>(row * extents(s_, field).columns + column)];
  }

  Vector linear(size_t field, int64_t first_row, int64_t rows, const Vector& x, const Variant& v) const {
    Vector result;
    for (int64_t row = first_row; row < first_row + rows; ++row) {
      const double* w = &inputs_[field][static_cast<size_t>(row) * x.size()];
      double sum = 0;
      if (v.accumulate == exact) {
        for (size_t i = 0; i < x.size(); ++i) sum += w[i] * x[i];
      } else {
        for (size_t i = 0; i < x.size(); ++i) sum = v.accumulate(sum + w[i] * x[i]);
      }
      result.push_back(v.store(sum));
    }
    return result;
  }

  // The last 64 elements turned to a position.
  static void rotate(Vector& vector, int64_t position, const Variant& v) {
    double* x = &vector[vector.size() - kRope];
    std::array<double, kRope> turned;
    for (size_t j = 0; j < kRope; ++j) {
      const double theta = v.theta(std::pow(v.base, -static_cast<double>(j % 32) / 32));
      const double angle = v.angle(v.angle(static_cast<double>(position)) * theta);
      const double partner = j < 32 ? -x[j + 32] : x[j - 32];
      turned[j] = v.rope_step(v.rope_step(x[j] * v.rope_step(std::cos(angle))) +
                              v.rope_step(partner * v.rope_step(std::sin(angle))));
    }
    std::copy(turned.begin(), turned.end(), x);
  }

  void run_batch(int64_t batch, const Variant& v, Buffers& result) const {
    Vector x;
    for (int64_t i = 0; i < s_.dim; ++i) x.push_back(element(kX, batch, i));
    Vector appended = linear(kWkvDown, 0, kCacheRow, x, v);
    for (double& number : appended) number = bf16(number);
    append(result[kKvCache], appended);

    const Vector q_latent = linear(kWqDown, 0, s_.dq, x, v);
    std::vector<Vector> cache;
    for (int64_t t = 0; t < s_.prefill; ++t) {
      Vector& row = cache.emplace_back();
      for (int64_t i = 0; i < kCacheRow; ++i) row.push_back(v.cached(element(kKvCache, batch * s_.max_seq + t, i)));
    }
    if (v.appended_key) cache.push_back(appended);
    for (int64_t t = s_.prefill + 1; t <= s_.prefill + v.later_keys; ++t) {
      Vector& row = cache.emplace_back();
      for (int64_t i = 0; i < kCacheRow; ++i) row.push_back(element(kKvCache, batch * s_.max_seq + t, i));
    }
    Vector outputs;
    for (int64_t head = 0; head < s_.n_heads; ++head) {
      const Vector output = attend(head, linear(kWqUp, head * kQueryHead, kQueryHead, q_latent, v), cache, v);
      outputs.insert(outputs.end(), output.begin(), output.end());
    }
    append(result[kY], linear(kWo, 0, s_.dim, outputs, v));
  }

  Vector attend(int64_t head, Vector query, const std::vector<Vector>& cache, const Variant& v) const {
    for (size_t j = kNope; j < query.size(); ++j) query[j] = v.rope_step(query[j]);
    rotate(query, s_.prefill + v.position_offset, v);
    Vector weights;
    std::vector<Vector> values;
    for (size_t t = 0; t < cache.size(); ++t) {
      const Vector latent(cache[t].begin(), cache[t].begin() + kLatent);
      Vector key = linear(kWkvUp, head * kKeyHead, kNope, latent, v);
      values.push_back(linear(kWkvUp, head * kKeyHead + kNope, kValue, latent, v));
      key.insert(key.end(), cache[t].begin() + kLatent, cache[t].end());
      rotate(key, static_cast<int64_t>(t), v);
      double score = 0;
      for (size_t i = 0; i < key.size(); ++i) score = v.accumulate(score + query[i] * key[i]);
      weights.push_back(score / std::sqrt(192.0));
    }
    const double largest = *std::max_element(weights.begin(), weights.end());
    double sum = 0;
    for (double& weight : weights) sum += weight = std::exp(weight - largest);
    Vector output(kValue);
    for (size_t t = 0; t < values.size(); ++t) {
      for (size_t d = 0; d < output.size(); ++d)
        output[d] = v.accumulate(output[d] + v.store(weights[t] / sum) * values[t][d]);
    }
    for (double& number : output) number = v.store(number);
    return output;
  }

  static void append(std::vector<std::byte>& bytes, const Vector& numbers) {
    for (const double number : numbers) {
      const uint16_t bits = double_to_bf16(number);
      bytes.resize(bytes.size() + 2);
      std::memcpy(&bytes[bytes.size() - 2], &bits, 2);
    }
  }

  const Sizes s_;
  std::vector<Vector> inputs_;
};

}  // namespace hipbench::mla_decode
