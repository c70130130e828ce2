// Absorbed weights: a head's score of key t is q_nope . (W_k c_t) = (W_k^T q_nope) . c_t with the latent row c_t of the
// cache, and its output W_v (sum of p_t c_t). So a head meets each key with 576 + 512 multiplications, and W_k and W_v
// (the halves of wkv_up) are used once a batch instead of once a key.

#include "problems/mla_decode/oracle.hpp"

#include <algorithm>
#include <cmath>

#include "problems/linear_algebra.hpp"
#include "problems/number_formats.hpp"
#include "problems/parallel.hpp"

namespace hipbench::mla_decode {
namespace {

using Doubles = std::vector<double>;

Doubles doubles(int64_t rows, int64_t columns) { return Doubles(static_cast<size_t>(rows * columns)); }

void convert(const uint16_t* bits, int64_t count, double* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = bf16_to_float(bits[i]);
}

// Rows [first, first + count) of a weight matrix, in double, one piece at a time: wo alone would take 940 MB.
Doubles converted_rows(const uint16_t* weights, int64_t first, int64_t count, int64_t columns) {
  Doubles rows = doubles(count, columns);
  convert(weights + first * columns, count * columns, rows.data());
  return rows;
}

// inputs . weights^T, as a linear layer computes it. weights: [outputs][depth].
Doubles linear(const Doubles& inputs, int64_t rows, const uint16_t* weights, int64_t outputs, int64_t depth,
               unsigned threads) {
  constexpr int64_t kPiece = 64;
  Doubles result = doubles(rows, outputs);
  parallel_for(threads, (outputs + kPiece - 1) / kPiece, [&](int64_t piece) {
    const int64_t first = piece * kPiece, count = std::min(kPiece, outputs - first);
    const Doubles w = converted_rows(weights, first, count, depth);
    multiply({inputs.data(), rows, depth, depth}, ConstMatrix{w.data(), count, depth, depth}.transposed(),
             {result.data() + first, rows, count, outputs}, 0, 1);
  });
  return result;
}

class Decode {
 public:
  Decode(const Operands& operands, std::span<const int64_t> batches, unsigned threads)
      : x_(operands),
        s_(operands.sizes),
        batches_(batches),
        rows_(static_cast<int64_t>(batches.size())),
        threads_(std::max(1u, threads)) {}

  Answer run() {
    Doubles x = doubles(rows_, s_.dim);
    for (int64_t row = 0; row < rows_; ++row) convert(x_.x + batch(row) * s_.dim, s_.dim, &x[at(row * s_.dim)]);
    Answer answer;
    answer.cache_rows = rounded(linear(x, rows_, x_.wkv_down, kCacheRow, s_.dim, threads_));
    const Doubles queries = absorbed_queries(linear(linear(x, rows_, x_.wq_down, s_.dq, s_.dim, threads_), rows_,
                                                    x_.wq_up, s_.n_heads * kQueryHead, s_.dq, threads_));
    const Doubles values = head_values(attend(queries, answer.cache_rows));
    answer.y = rounded(linear(values, rows_, x_.wo, s_.dim, s_.n_heads * kValue, threads_));
    return answer;
  }

 private:
  int64_t batch(int64_t row) const { return batches_[at(row)]; }

  static std::vector<uint16_t> rounded(const Doubles& values) {
    std::vector<uint16_t> bits(values.size());
    std::transform(values.begin(), values.end(), bits.begin(), double_to_bf16);
    return bits;
  }

  // [rows][n_heads][576]: what a cache row is multiplied with, latent part and rotated rope part.
  Doubles absorbed_queries(const Doubles& q) const {
    Doubles result = doubles(rows_, s_.n_heads * kCacheRow);
    const Rotation rotation(s_.prefill);
    parallel_for(threads_, s_.n_heads, [&](int64_t head) {
      const Doubles keys = converted_rows(x_.wkv_up, head * kKeyHead, kNope, kLatent);
      multiply({&q[at(head * kQueryHead)], rows_, kNope, s_.n_heads * kQueryHead},
               {keys.data(), kNope, kLatent, kLatent},
               {&result[at(head * kCacheRow)], rows_, kLatent, s_.n_heads * kCacheRow}, 0, 1);
      for (int64_t row = 0; row < rows_; ++row) {
        const double* in = &q[at((row * s_.n_heads + head) * kQueryHead + kNope)];
        float rope[kRope];
        for (int64_t j = 0; j < kRope; ++j) rope[j] = bf16_to_float(double_to_bf16(in[j]));
        rotation.apply(rope, &result[at((row * s_.n_heads + head) * kCacheRow + kLatent)]);
      }
    });
    return result;
  }

  // [rows][n_heads][512]: the mean of the latent rows under the attention weights.
  Doubles attend(const Doubles& queries, const std::vector<uint16_t>& appended) const {
    std::vector<Rotation> rotations;
    for (int64_t position = 0; position <= s_.prefill; ++position) rotations.emplace_back(position);
    Doubles result = doubles(rows_, s_.n_heads * kLatent);
    const auto across = static_cast<unsigned>(std::min<int64_t>(threads_, rows_));
    const unsigned within = threads_ / std::max(1u, across);
    parallel_for(across, rows_, [&](int64_t row) {
      const int64_t keys = s_.prefill + 1;
      const Doubles k = rotated_keys(batch(row), &appended[at(row * kCacheRow)], rotations);
      Doubles scores = doubles(s_.n_heads, keys);
      multiply({&queries[at(row * s_.n_heads * kCacheRow)], s_.n_heads, kCacheRow, kCacheRow},
               ConstMatrix{k.data(), keys, kCacheRow, kCacheRow}.transposed(), {scores.data(), s_.n_heads, keys, keys},
               0, within);
      for (int64_t head = 0; head < s_.n_heads; ++head) softmax(std::span(scores).subspan(at(head * keys), at(keys)));
      multiply({scores.data(), s_.n_heads, keys, keys}, {k.data(), keys, kLatent, kCacheRow},
               {&result[at(row * s_.n_heads * kLatent)], s_.n_heads, kLatent, kLatent}, 0, within);
    });
    return result;
  }

  // [prefill + 1][576]: the cache rows of a batch and the appended one, rope parts rotated to their positions.
  Doubles rotated_keys(int64_t batch, const uint16_t* appended, std::span<const Rotation> rotations) const {
    Doubles keys = doubles(s_.prefill + 1, kCacheRow);
    for (int64_t t = 0; t <= s_.prefill; ++t) {
      const uint16_t* in = t == s_.prefill ? appended : x_.kv_cache + (batch * s_.max_seq + t) * kCacheRow;
      double* out = &keys[at(t * kCacheRow)];
      convert(in, kLatent, out);
      float rope[kRope];
      for (int64_t j = 0; j < kRope; ++j) rope[j] = bf16_to_float(in[kLatent + j]);
      rotations[at(t)].apply(rope, out + kLatent);
    }
    return keys;
  }

  static void softmax(std::span<double> scores) {
    const double scale = 1 / std::sqrt(static_cast<double>(kQueryHead));
    const double largest = *std::max_element(scores.begin(), scores.end());
    double sum = 0;
    for (double& score : scores) sum += score = std::exp((score - largest) * scale);
    for (double& score : scores) score /= sum;
  }

  // [rows][n_heads][128]: latent means through the value half of wkv_up.
  Doubles head_values(const Doubles& means) const {
    Doubles result = doubles(rows_, s_.n_heads * kValue);
    parallel_for(threads_, s_.n_heads, [&](int64_t head) {
      const Doubles w = converted_rows(x_.wkv_up, head * kKeyHead + kNope, kValue, kLatent);
      multiply({&means[at(head * kLatent)], rows_, kLatent, s_.n_heads * kLatent},
               ConstMatrix{w.data(), kValue, kLatent, kLatent}.transposed(),
               {&result[at(head * kValue)], rows_, kValue, s_.n_heads * kValue}, 0, 1);
    });
    return result;
  }

  const Operands& x_;
  const Sizes s_;
  std::span<const int64_t> batches_;
  int64_t rows_;
  unsigned threads_;
};

}  // namespace

Answer decode(const Operands& operands, std::span<const int64_t> batches, unsigned threads) {
  return Decode(operands, batches, threads).run();
}

}  // namespace hipbench::mla_decode
