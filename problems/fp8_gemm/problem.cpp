#include <fmt/format.h>

#include "problems/fp8_gemm/fp8_gemm.h"
#include "problems/fp8_gemm/layout.hpp"
#include "problems/fp8_gemm/oracle.hpp"
#include "problems/registry.hpp"

namespace hipbench {

std::unique_ptr<Problem> make_fp8_gemm(const ProblemFiles& files);

namespace {

using fp8_gemm::kA, fp8_gemm::kB, fp8_gemm::kAScale, fp8_gemm::kBScale, fp8_gemm::kC;

class Fp8Gemm final : public Problem {
 public:
  explicit Fp8Gemm(const ProblemFiles& files) : Problem(files) {
    finish(sizeof(hb_fp8_gemm),
           {{"m", offsetof(hb_fp8_gemm, m)},
            {"n", offsetof(hb_fp8_gemm, n)},
            {"k", offsetof(hb_fp8_gemm, k)},
            {"reserved", offsetof(hb_fp8_gemm, reserved)}},
           {{"a", offsetof(hb_fp8_gemm, a), Access::In, ElementType::E4m3Fnuz},
            {"b", offsetof(hb_fp8_gemm, b), Access::In, ElementType::E4m3Fnuz},
            {"a_scale", offsetof(hb_fp8_gemm, a_scale), Access::In, ElementType::F32},
            {"b_scale", offsetof(hb_fp8_gemm, b_scale), Access::In, ElementType::F32},
            {"c", offsetof(hb_fp8_gemm, c), Access::Out, ElementType::Bf16}},
           {"m", "n", "k"});
  }

  std::span<const std::string_view> input_families() const override { return fp8_gemm::kFamilies; }
  Buffers generate(const Shape& shape, const Draw& draw) const override { return fp8_gemm::draw_inputs(shape, draw); }

  int64_t row_count(const Shape& shape) const override { return sizes(shape).m; }

  Buffers expected(const Shape& shape, const Buffers& inputs, std::span<const int64_t> rows,
                   unsigned threads) const override {
    const auto [m, n, k] = sizes(shape);
    for (const size_t pointer : {kA, kB, kAScale, kBScale}) {
      CHECK(inputs[pointer].size() == byte_count(shape, pointer), "inputs fit the shape");
    }
    std::vector<int64_t> all_rows;
    if (rows.empty()) {
      for (int64_t row = 0; row < m; ++row) all_rows.push_back(row);
      rows = all_rows;
    }
    const fp8_gemm::Operands operands{reinterpret_cast<const uint8_t*>(inputs[kA].data()),
                                      reinterpret_cast<const uint8_t*>(inputs[kB].data()),
                                      reinterpret_cast<const float*>(inputs[kAScale].data()),
                                      reinterpret_cast<const float*>(inputs[kBScale].data()),
                                      m,
                                      n,
                                      k};
    const std::vector<uint16_t> c = fp8_gemm::multiply(operands, rows, threads);
    Buffers result(pointer_fields().size());
    const std::span<const std::byte> bytes = std::as_bytes(std::span(c));
    result[kC].assign(bytes.begin(), bytes.end());
    return result;
  }

  Case transform(const Shape& shape, Case drawn, Extent extent, uint64_t seed, unsigned threads) const override {
    return fp8_gemm::transform(shape, std::move(drawn), extent, seed, threads);
  }

  // Products with fewer multiplications (Strassen) form sums of inputs first, which e4m3fnuz cannot hold: they do not
  // run at the FP8 rate.
  Work work(const Shape& shape) const override {
    const auto [m, n, k] = sizes(shape);
    Work work{.flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k),
              .rate = mi300x::kFp8};
    for (const size_t pointer : {kA, kB, kAScale, kBScale}) work.input_bytes += byte_count(shape, pointer);
    return work;
  }

 protected:
  Result<std::vector<int32_t>> complete_shape(std::span<const int64_t> dimensions) const override {
    constexpr int64_t kMultiples[] = {32, 64, 128};  // what a candidate may assume
    constexpr int64_t kLargest = 65536;
    std::vector<int32_t> values;
    for (size_t i = 0; i < 3; ++i) {
      const std::string& name = this->dimensions()[i];
      if (dimensions[i] < 1 || dimensions[i] > kLargest || dimensions[i] % kMultiples[i] != 0) {
        return Error{fmt::format("{}={} is not a positive multiple of {} up to {}", name, dimensions[i], kMultiples[i],
                                 kLargest)};
      }
      values.push_back(static_cast<int32_t>(dimensions[i]));
    }
    values.push_back(0);  // reserved
    return values;
  }

  Result<std::vector<int32_t>> complete_oracle_shape(const NamedSizes& given) const override {
    std::vector<int32_t> values;
    for (const std::string& name : dimensions()) {
      if (given.at(name) < 1) return Error{fmt::format("{}={} is not positive", name, given.at(name))};
      values.push_back(static_cast<int32_t>(given.at(name)));
    }
    values.push_back(0);  // reserved
    return values;
  }

 private:
  static fp8_gemm::Sizes sizes(const Shape& shape) { return fp8_gemm::sizes_of(shape); }
};

}  // namespace

std::unique_ptr<Problem> make_fp8_gemm(const ProblemFiles& files) { return std::make_unique<Fp8Gemm>(files); }

}  // namespace hipbench
