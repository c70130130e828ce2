#include <fmt/format.h>

#include <algorithm>

#include "problems/mla_decode/layout.hpp"
#include "problems/mla_decode/mla_decode.h"
#include "problems/registry.hpp"

namespace hipbench {

std::unique_ptr<Problem> make_mla_decode(const ProblemFiles& files);

namespace {

using namespace mla_decode;

const uint16_t* numbers(const std::vector<std::byte>& bytes) { return reinterpret_cast<const uint16_t*>(bytes.data()); }

std::vector<std::byte> bytes_of(const std::vector<uint16_t>& values) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

class MlaDecode final : public Problem {
 public:
  explicit MlaDecode(const ProblemFiles& files) : Problem(files) {
    constexpr ElementType kType = ElementType::Bf16;
    finish(sizeof(hb_mla_decode),
           {{"bs", offsetof(hb_mla_decode, bs)},
            {"dim", offsetof(hb_mla_decode, dim)},
            {"dq", offsetof(hb_mla_decode, dq)},
            {"n_heads", offsetof(hb_mla_decode, n_heads)},
            {"prefill", offsetof(hb_mla_decode, prefill)},
            {"max_seq", offsetof(hb_mla_decode, max_seq)}},
           {{"x", offsetof(hb_mla_decode, x), Access::In, kType},
            {"wq_down", offsetof(hb_mla_decode, wq_down), Access::In, kType},
            {"wkv_down", offsetof(hb_mla_decode, wkv_down), Access::In, kType},
            {"wq_up", offsetof(hb_mla_decode, wq_up), Access::In, kType},
            {"wkv_up", offsetof(hb_mla_decode, wkv_up), Access::In, kType},
            {"wo", offsetof(hb_mla_decode, wo), Access::In, kType},
            {"kv_cache", offsetof(hb_mla_decode, kv_cache), Access::InOut, kType},
            {"y", offsetof(hb_mla_decode, y), Access::Out, kType}},
           {"bs", "prefill"});
  }

  std::span<const std::string_view> input_families() const override { return kFamilies; }
  Buffers generate(const Shape& shape, const Draw& draw) const override { return draw_inputs(shape, draw); }

  int64_t row_count(const Shape& shape) const override { return sizes_of(shape).bs; }

  Buffers expected(const Shape& shape, const Buffers& inputs, std::span<const int64_t> rows,
                   unsigned threads) const override {
    const Sizes sizes = sizes_of(shape);
    for (size_t field = kX; field <= kKvCache; ++field) {
      CHECK(inputs[field].size() == byte_count(shape, field), "inputs fit the shape");
    }
    std::vector<int64_t> all_rows;
    if (rows.empty()) {
      for (int64_t row = 0; row < sizes.bs; ++row) all_rows.push_back(row);
      rows = all_rows;
    }
    const Operands operands{
        numbers(inputs[kX]),     numbers(inputs[kWqDown]), numbers(inputs[kWkvDown]), numbers(inputs[kWqUp]),
        numbers(inputs[kWkvUp]), numbers(inputs[kWo]),     numbers(inputs[kKvCache]), sizes};
    const Answer answer = decode(operands, rows, threads);
    Buffers result(kFieldCount);
    result[kKvCache] = bytes_of(answer.cache_rows);
    result[kY] = bytes_of(answer.y);
    return result;
  }

  Case transform(const Shape& shape, Case drawn, Extent extent, uint64_t seed, unsigned threads) const override {
    return mla_decode::transform(shape, std::move(drawn), extent, seed, threads);
  }

  // Weights are absorbed where that is less work. Of the cache, only the earlier rows must be read.
  Work work(const Shape& shape) const override {
    const Sizes s = sizes_of(shape);
    const auto keys = s.prefill + 1;
    int64_t products = s.dim * kCacheRow + s.n_heads * kValue * s.dim;  // a batch: the appended row, and wo
    uint64_t bytes = 0;
    for (const size_t field : {kX, kWkvDown, kWo}) bytes += byte_count(shape, field);
    if (s.prefill == 0) {
      // The only key has all the weight, whatever the query is: neither queries nor keys are needed.
      products += s.n_heads * kValue * kLatent;
      bytes += byte_count(shape, kWkvUp) / kKeyHead * kValue;
    } else {
      products += s.dim * s.dq + s.dq * s.n_heads * kQueryHead;
      products += s.n_heads * std::min(kNope * kLatent + keys * kCacheRow, keys * (kNope * kLatent + kQueryHead));
      products += s.n_heads * std::min(kValue * kLatent + keys * kLatent, keys * (kValue * kLatent + kValue));
      for (const size_t field : {kWqDown, kWqUp, kWkvUp}) bytes += byte_count(shape, field);
      bytes += static_cast<uint64_t>(s.bs * s.prefill * kCacheRow) * 2;
    }
    return {2.0 * static_cast<double>(s.bs) * static_cast<double>(products), mi300x::kBf16, bytes};
  }

 protected:
  Result<std::vector<int32_t>> complete_shape(std::span<const int64_t> dimensions) const override {
    const int64_t bs = dimensions[0], prefill = dimensions[1];
    if (bs < 1 || bs > 128) return Error{fmt::format("bs={} is not between 1 and 128", bs)};
    if (prefill < 0 || prefill >= kMaxSeq)
      return Error{fmt::format("prefill={} is not between 0 and {}", prefill, kMaxSeq - 1)};
    return std::vector<int32_t>{static_cast<int32_t>(bs), kDim, kDq, kHeads, static_cast<int32_t>(prefill), kMaxSeq};
  }

  std::span<const std::string_view> oracle_fields() const override {
    static constexpr std::string_view kNames[] = {"dim", "dq", "n_heads", "max_seq"};
    return kNames;
  }

  Result<std::vector<int32_t>> complete_oracle_shape(const NamedSizes& given) const override {
    const auto size_of = [&](std::string_view name, int32_t otherwise) {
      const auto found = given.find(name);
      return found == given.end() ? otherwise : static_cast<int32_t>(found->second);
    };
    const int32_t bs = size_of("bs", 0), prefill = size_of("prefill", 0), max_seq = size_of("max_seq", kMaxSeq);
    const int32_t dim = size_of("dim", kDim), dq = size_of("dq", kDq), heads = size_of("n_heads", kHeads);
    for (const int32_t size : {bs, dim, dq, heads})
      if (size < 1) return Error{"every size but prefill must be positive"};
    if (prefill >= max_seq)
      return Error{fmt::format("prefill={} leaves no row of max_seq={} for the new token", prefill, max_seq)};
    return std::vector<int32_t>{bs, dim, dq, heads, prefill, max_seq};
  }

 private:
  static constexpr int32_t kDim = 7168, kDq = 1536, kHeads = 128, kMaxSeq = 8192;
};

}  // namespace

std::unique_ptr<Problem> make_mla_decode(const ProblemFiles& files) { return std::make_unique<MlaDecode>(files); }

}  // namespace hipbench
