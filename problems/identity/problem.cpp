// identity: y = x. The example of a problem in CONTRIBUTING.md, hence in one file.

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "problems/identity/identity.h"
#include "problems/registry.hpp"
#include "problems/symmetry.hpp"

namespace hipbench {

std::unique_ptr<Problem> make_identity(const ProblemFiles& files);

namespace {

constexpr size_t kX = 0, kY = 1;  // in pointer_fields()
constexpr std::string_view kFamilies[] = {"one-hot", "extremes"};

struct Sizes {
  int64_t rows, columns;
  size_t row_bytes() const { return static_cast<size_t>(columns) * sizeof(float); }
};
Sizes sizes_of(const Shape& shape) { return {shape.values[0], shape.values[1]}; }

// Any bits but those of NaN and infinity; a quarter of them each near zero and near the largest value.
uint32_t extreme_bits(RandomStream& random) {
  const uint64_t bits = random.next();
  const auto sign_and_fraction = static_cast<uint32_t>(bits) & 0x807fffffu;
  switch (bits >> 62) {
    case 0: return sign_and_fraction;               // subnormal or zero
    case 1: return sign_and_fraction | 0x7f000000;  // the largest binade
    default: return sign_and_fraction | static_cast<uint32_t>((bits >> 32) % 255) << 23;
  }
}

class Identity final : public Problem {
 public:
  explicit Identity(const ProblemFiles& files) : Problem(files) {
    finish(sizeof(hb_identity), {{"rows", offsetof(hb_identity, rows)}, {"columns", offsetof(hb_identity, columns)}},
           {{"x", offsetof(hb_identity, x), Access::In, ElementType::F32},
            {"y", offsetof(hb_identity, y), Access::Out, ElementType::F32}},
           {"rows", "columns"});
  }

  int64_t row_count(const Shape& shape) const override { return sizes_of(shape).rows; }

  std::span<const std::string_view> input_families() const override { return kFamilies; }

  Buffers generate(const Shape& shape, const Draw& draw) const override {
    RandomStream random("identity/" + shape.label + "/" + std::string(draw.family), draw.seed, draw.case_index);
    std::vector<float> x(element_count(shape, kX));
    if (draw.family == kFamilies[0]) {
      const auto columns = static_cast<size_t>(sizes_of(shape).columns);
      for (size_t row = 0; row < x.size(); row += columns)
        x[row + random.below(columns)] = 1 + static_cast<float>(random.below(1000));
    } else {
      for (float& value : x)
        value = draw.family == kNormalInputs ? static_cast<float>(random.normal())
                                             : std::bit_cast<float>(extreme_bits(random));
    }
    const std::span<const std::byte> bytes = std::as_bytes(std::span(x));
    return {{bytes.begin(), bytes.end()}, {}};
  }

  Buffers expected(const Shape& shape, const Buffers& inputs, std::span<const int64_t> rows, unsigned) const override {
    if (rows.empty()) return {{}, inputs[kX]};
    const size_t row_bytes = sizes_of(shape).row_bytes();
    Buffers result(2);
    for (const int64_t row : rows) {
      const auto first = inputs[kX].begin() + row * static_cast<int64_t>(row_bytes);
      result[kY].insert(result[kY].end(), first, first + static_cast<int64_t>(row_bytes));
    }
    return result;
  }

  // Whole: rows and columns change places, rows change sign. Slight: one element changes sign.
  Case transform(const Shape& shape, Case drawn, Extent extent, uint64_t seed, unsigned) const override {
    const Sizes sizes = sizes_of(shape);
    RandomStream random("identity/" + shape.label + "/symmetry", seed, extent == Extent::Whole ? 0 : 1);
    if (extent == Extent::Slight) {
      const size_t held = random.below(drawn.rows.empty() ? static_cast<uint64_t>(sizes.rows) : drawn.rows.size());
      const size_t row = drawn.rows.empty() ? held : static_cast<size_t>(drawn.rows[held]);
      const size_t sign_byte = random.below(static_cast<uint64_t>(sizes.columns)) * sizeof(float) + 3;
      drawn.inputs[kX][row * sizes.row_bytes() + sign_byte] ^= std::byte{0x80};
      drawn.expected[kY][held * sizes.row_bytes() + sign_byte] ^= std::byte{0x80};
      return drawn;
    }
    const Permutation rows = random_permutation(random, sizes.rows),
                      columns = random_permutation(random, sizes.columns);
    std::vector<uint8_t> signs = random_bits(random, sizes.rows);
    if (sizes.rows == 1) signs[0] = 1;  // a single element has nothing else that could change
    MovedRows moved = move_rows(drawn.rows, rows), everywhere = move_rows({}, rows);
    drawn.expected[kY] = move(drawn.expected[kY], drawn.rows, moved.order, columns, signs);
    drawn.inputs[kX] = move(drawn.inputs[kX], {}, everywhere.order, columns, signs);
    drawn.rows = std::move(moved.rows);
    return drawn;
  }

  Work work(const Shape& shape) const override {
    return {.flops = 0, .rate = {}, .input_bytes = byte_count(shape, kX)};
  }

 protected:
  Result<std::vector<int32_t>> complete_shape(std::span<const int64_t> dimensions) const override {
    constexpr int64_t kLargest = 65536, kMostElements = int64_t{1} << 30;
    for (size_t i = 0; i < 2; ++i)
      if (dimensions[i] < 1 || dimensions[i] > kLargest)
        return Error{fmt::format("{}={} is not in 1..{}", this->dimensions()[i], dimensions[i], kLargest)};
    if (dimensions[0] * dimensions[1] > kMostElements)
      return Error{
          fmt::format("rows={},columns={} has more than {} elements", dimensions[0], dimensions[1], kMostElements)};
    return std::vector<int32_t>{static_cast<int32_t>(dimensions[0]), static_cast<int32_t>(dimensions[1])};
  }

 private:
  // Row k of the result is the row order[k] of `from`, which holds the rows `held` (empty = all), columns moved,
  // perhaps negated.
  static std::vector<std::byte> move(const std::vector<std::byte>& from, std::span<const int64_t> held,
                                     std::span<const int64_t> order, const Permutation& columns,
                                     std::span<const uint8_t> signs) {
    std::vector<std::byte> to(from.size());
    const size_t width = columns.size();
    for (size_t row = 0; row < order.size(); ++row) {
      const auto source = static_cast<size_t>(order[row]);
      const uint32_t flip = signs[held.empty() ? source : static_cast<size_t>(held[source])] ? 0x80000000 : 0;
      for (size_t j = 0; j < width; ++j) {
        uint32_t bits;
        std::memcpy(&bits, &from[(source * width + j) * 4], 4);
        bits ^= flip;
        std::memcpy(&to[(row * width + static_cast<size_t>(columns[j])) * 4], &bits, 4);
      }
    }
    return to;
  }
};

}  // namespace

std::unique_ptr<Problem> make_identity(const ProblemFiles& files) { return std::make_unique<Identity>(files); }

}  // namespace hipbench
