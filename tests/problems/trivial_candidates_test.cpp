// What costs no work must not pass: zeros, an input, the mean of the right answer, an untouched output, an earlier
// answer. For every problem, shape and input family; each output alone, with all others right. The build makes two
// programs of this file: the quick shapes in one (but of those with large inputs only the first), all others (label
// "slow") in the other. Where a shape has many rows, a few are looked at: who fails on them fails.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "problems/registry.hpp"

namespace hipbench {
namespace {

constexpr std::byte kPoison{0xff};
constexpr unsigned kThreads = 2;
constexpr size_t kRows = 4;
constexpr uint64_t kLargeInputBytes = uint64_t{64} << 20;

struct TestCase {
  const Problem* problem;
  Shape shape;
  std::string_view family;
};

// For a test's name.
std::string letters_of(std::string text) {
  std::replace_if(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return text;
}

bool is_large(const Problem& problem, const Shape& shape) {
  uint64_t bytes = 0;
  for (size_t field = 0; field < problem.pointer_fields().size(); ++field) bytes += problem.byte_count(shape, field);
  return bytes > kLargeInputBytes;
}

std::vector<TestCase> all_cases() {
  std::vector<TestCase> cases;
  for (const Problem* problem : all_problems()) {
    std::vector<std::string_view> families = {kNormalInputs};
    families.insert(families.end(), problem->input_families().begin(), problem->input_families().end());
    std::set<std::string> seen;  // some shapes are in two sets
    for (const ShapeSet set : {ShapeSet::Quick, ShapeSet::Tests, ShapeSet::Benchmarks}) {
      for (const ListedShape& listed : problem->shapes(set)) {
        const Shape& shape = listed.shape;
        const bool is_slow = set != ShapeSet::Quick || (is_large(*problem, shape) && !seen.empty());
        if (!seen.insert(shape.label).second || is_slow != HIPBENCH_SLOW_SHAPES) continue;
        for (const std::string_view family : families) cases.push_back({problem, shape, family});
      }
    }
  }
  return cases;
}

std::string case_name(const testing::TestParamInfo<TestCase>& info) {
  return letters_of(info.param.problem->id() + "_" + info.param.shape.label + "_" + std::string(info.param.family));
}

void store(ElementType type, double value, std::byte* at) {
  const auto put = [&](auto bits) { std::memcpy(at, &bits, sizeof bits); };
  switch (type) {
    case ElementType::E4m3Fnuz: return put(double_to_e4m3fnuz(value));
    case ElementType::Bf16: return put(double_to_bf16(value));
    case ElementType::F16: return put(double_to_f16(value));
    case ElementType::F32: return put(static_cast<float>(value));
  }
}

double mean_of(ElementType type, const std::vector<std::byte>& data) {
  const auto count = static_cast<int64_t>(data.size() / element_size(type));
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += load_element(type, data.data(), i);
  return sum / static_cast<double>(count);
}

class TrivialCandidateTest : public testing::TestWithParam<TestCase> {
 protected:
  const Problem& problem() const { return *GetParam().problem; }
  const Shape& shape() const { return GetParam().shape; }

  Case draw() const {
    Case one;
    one.inputs = problem().generate(shape(), {77, 0, GetParam().family, kThreads});
    const auto all = static_cast<size_t>(problem().row_count(shape()));
    if (all > kRows)
      for (size_t k = 0; k < kRows; ++k) one.rows.push_back(static_cast<int64_t>((2 * k + 1) * all / (2 * kRows)));
    one.expected = problem().expected(shape(), one.inputs, one.rows, kThreads);
    return one;
  }

  bool passes(const Case& one, const Buffers& got) const {
    return problem().compare(shape(), one.expected, got, one.rows, kPoison).passed;
  }

  // Bit for bit, in the rows that the case holds: where the task is to copy.
  bool is_the_answer(const Case& one, const Buffers& got, size_t field) const {
    if (one.rows.empty()) return got[field] == one.expected[field];
    const size_t row_bytes = one.expected[field].size() / one.rows.size();
    for (size_t row = 0; row < one.rows.size(); ++row)
      if (std::memcmp(&got[field][static_cast<size_t>(one.rows[row]) * row_bytes],
                      &one.expected[field][row * row_bytes], row_bytes) != 0)
        return false;
    return true;
  }

  // Right but for one field, which is `data` over and over.
  static Buffers with(const Buffers& right, size_t field, std::span<const std::byte> data) {
    Buffers got = right;
    for (size_t at = 0; at < got[field].size(); at += data.size())
      std::copy_n(data.begin(), std::min(data.size(), got[field].size() - at),
                  got[field].begin() + static_cast<std::ptrdiff_t>(at));
    return got;
  }
};

TEST_P(TrivialCandidateTest, Fails) {
  Case one = draw();
  const Buffers right = problem().all_rows(shape(), one);
  ASSERT_TRUE(passes(one, right));
  const auto fields = problem().pointer_fields();
  for (size_t field = 0; field < fields.size(); ++field) {
    if (fields[field].access == Access::In) continue;
    SCOPED_TRACE(fields[field].name);
    const ElementType type = fields[field].type;
    std::vector<std::byte> element(element_size(type));
    EXPECT_FALSE(passes(one, with(right, field, element))) << "zeros";
    store(type, mean_of(type, one.expected[field]), element.data());
    EXPECT_FALSE(passes(one, with(right, field, element))) << "mean";
    EXPECT_FALSE(passes(one, with(right, field, std::vector{kPoison}))) << "untouched";
    for (size_t input = 0; input < fields.size(); ++input) {
      if (one.inputs[input].empty()) continue;
      const Buffers got = with(right, field, one.inputs[input]);
      if (!is_the_answer(one, got, field)) EXPECT_FALSE(passes(one, got)) << "copy of " << fields[input].name;
    }
  }
  const Case later = problem().transform(shape(), std::move(one), Extent::Whole, 3, kThreads);
  EXPECT_FALSE(passes(later, right)) << "an earlier answer";
}

INSTANTIATE_TEST_SUITE_P(Every, TrivialCandidateTest, testing::ValuesIn(all_cases()), case_name);

}  // namespace
}  // namespace hipbench
