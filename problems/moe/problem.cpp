#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "problems/moe/layout.hpp"
#include "problems/moe/moe.h"
#include "problems/moe/oracle.hpp"
#include "problems/registry.hpp"

namespace hipbench {

std::unique_ptr<Problem> make_moe(const ProblemFiles& files);

namespace {

constexpr int64_t kHidden = 7168, kExpert = 2048, kSharedExperts = 1, kTopK = 4;  // a candidate may rely on these

class Moe final : public Problem {
 public:
  explicit Moe(const ProblemFiles& files) : Problem(files) {
    const auto input = [](const char* name, size_t offset) {
      return PointerField{name, static_cast<uint32_t>(offset), Access::In, ElementType::F16};
    };
    finish(sizeof(hb_moe),
           {{"bs", offsetof(hb_moe, bs)},
            {"seq", offsetof(hb_moe, seq)},
            {"tokens", offsetof(hb_moe, tokens)},
            {"d_hidden", offsetof(hb_moe, d_hidden)},
            {"d_expert", offsetof(hb_moe, d_expert)},
            {"d_shared", offsetof(hb_moe, d_shared)},
            {"n_experts", offsetof(hb_moe, n_experts)},
            {"top_k", offsetof(hb_moe, top_k)}},
           {input("x", offsetof(hb_moe, x)),
            input("router", offsetof(hb_moe, router)),
            input("w_gate", offsetof(hb_moe, w_gate)),
            input("w_up", offsetof(hb_moe, w_up)),
            input("w_down", offsetof(hb_moe, w_down)),
            input("s_gate", offsetof(hb_moe, s_gate)),
            input("s_up", offsetof(hb_moe, s_up)),
            input("s_down", offsetof(hb_moe, s_down)),
            {"y", offsetof(hb_moe, y), Access::Out, ElementType::F16}},
           {"n_experts", "bs", "seq"});
  }

  std::span<const std::string_view> input_families() const override { return moe::kFamilies; }
  Buffers generate(const Shape& shape, const Draw& draw) const override { return moe::draw_inputs(shape, draw); }

  int64_t row_count(const Shape& shape) const override { return moe::sizes_of(shape).tokens; }

  Buffers expected(const Shape& shape, const Buffers& inputs, std::span<const int64_t> rows,
                   unsigned threads) const override {
    const moe::Sizes sizes = moe::sizes_of(shape);
    for (size_t pointer = 0; pointer < moe::kY; ++pointer) {
      CHECK(inputs[pointer].size() == byte_count(shape, pointer), "inputs fit the shape");
    }
    std::vector<int64_t> all_rows;
    if (rows.empty()) {
      all_rows.resize(static_cast<size_t>(sizes.tokens));
      std::iota(all_rows.begin(), all_rows.end(), int64_t{0});
      rows = all_rows;
    }
    const std::vector<uint16_t> y = moe::forward(sizes, inputs, rows, threads);
    Buffers result(pointer_fields().size());
    const std::span<const std::byte> bytes = std::as_bytes(std::span(y));
    result[moe::kY].assign(bytes.begin(), bytes.end());
    return result;
  }

  Case transform(const Shape& shape, Case drawn, Extent extent, uint64_t seed, unsigned threads) const override {
    return moe::transform(shape, std::move(drawn), extent, seed, threads);
  }

  Work work(const Shape& shape) const override {
    const moe::Sizes s = moe::sizes_of(shape);
    // With this many tokens, normal inputs leave no expert out (with 32 experts a miss has probability 1e-14); with
    // fewer all that is sure is that the first token's experts are read.
    constexpr int64_t kTokensThatUseAll = 256;
    const int64_t experts_read = s.tokens >= kTokensThatUseAll ? s.n_experts : s.top_k;
    const int64_t inside = s.top_k * s.d_expert + s.d_shared;
    Work work{.flops = 2.0 * static_cast<double>(s.tokens) * static_cast<double>(s.d_hidden) *
                       static_cast<double>(3 * inside + s.n_experts),
              .rate = mi300x::kF16};
    for (const size_t pointer : {moe::kX, moe::kRouter, moe::kSharedGate, moe::kSharedUp, moe::kSharedDown}) {
      work.input_bytes += byte_count(shape, pointer);
    }
    work.input_bytes += static_cast<uint64_t>(3 * experts_read * s.d_hidden * s.d_expert * 2);
    return work;
  }

 protected:
  Result<std::vector<int32_t>> complete_shape(std::span<const int64_t> dimensions) const override {
    const int64_t experts = dimensions[0], batches = dimensions[1], length = dimensions[2];
    constexpr int64_t kMostTokens = 65536;
    if (experts != 4 && experts != 8 && experts != 32)
      return Error{fmt::format("n_experts={} is not 4, 8 or 32", experts)};
    for (size_t i = 1; i < 3; ++i) {
      if (dimensions[i] < 1 || dimensions[i] > kMostTokens) {
        return Error{fmt::format("{}={} is not between 1 and {}", this->dimensions()[i], dimensions[i], kMostTokens)};
      }
    }
    if (batches * length > kMostTokens) {
      return Error{fmt::format("bs={} times seq={} is more than {} tokens", batches, length, kMostTokens)};
    }
    std::vector<int32_t> values;
    for (const int64_t value :
         {batches, length, batches * length, kHidden, kExpert, kExpert * kSharedExperts, experts, kTopK}) {
      values.push_back(static_cast<int32_t>(value));
    }
    return values;
  }

  std::span<const std::string_view> oracle_fields() const override {
    static constexpr std::string_view kNames[] = {"d_hidden", "d_expert", "d_shared", "top_k"};
    return kNames;
  }

  Result<std::vector<int32_t>> complete_oracle_shape(const NamedSizes& given) const override {
    const auto size_of = [&](std::string_view name, int64_t otherwise) {
      const auto found = given.find(name);
      return found == given.end() ? otherwise : found->second;
    };
    const int64_t batches = given.at("bs"), length = given.at("seq"), experts = given.at("n_experts");
    const int64_t hidden = size_of("d_hidden", kHidden), expert = size_of("d_expert", kExpert);
    const int64_t shared = size_of("d_shared", expert * kSharedExperts), top_k = size_of("top_k", kTopK);
    for (const int64_t size : {batches, length, experts, hidden, expert, shared, top_k})
      if (size < 1) return Error{"every size must be positive"};
    if (batches * length > kLargestOracleSize)
      return Error{fmt::format("bs={} times seq={} is more than {} tokens", batches, length, kLargestOracleSize)};
    if (top_k > experts) return Error{fmt::format("top_k={} is more than n_experts={}", top_k, experts)};
    std::vector<int32_t> values;
    for (const int64_t value : {batches, length, batches * length, hidden, expert, shared, experts, top_k})
      values.push_back(static_cast<int32_t>(value));
    return values;
  }
};

}  // namespace

std::unique_ptr<Problem> make_moe(const ProblemFiles& files) { return std::make_unique<Moe>(files); }

}  // namespace hipbench
