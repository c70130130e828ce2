#include "problems/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/result.hpp"

namespace hipbench {
namespace {

// Everything that the pattern finder looks at. Row positions index the checked rows, not the output's rows.
struct Mismatches {
  const OutputView& output;
  std::vector<int64_t> rows;               // ids of the checked rows
  std::vector<int64_t> by_row, by_column;  // wrong elements in each
  int64_t total = 0, wrong = 0, nan = 0, zero = 0, untouched = 0;

  float got(size_t row_position, int64_t column) const {
    return static_cast<float>(
        load_element(output.type, output.got.data(), rows[row_position] * output.columns + column));
  }
  float expected(size_t row_position, int64_t column) const {
    return static_cast<float>(load_element(output.type, output.expected.data(),
                                           static_cast<int64_t>(row_position) * output.columns + column));
  }
};

bool within(float got, float expected, float relative, float absolute) {
  return std::isfinite(got) && std::isfinite(expected) &&
         std::abs(got - expected) <= absolute + relative * std::abs(expected);
}

bool is_untouched(const OutputView& output, int64_t index, std::byte poison) {
  const size_t size = element_size(output.type);
  const std::byte* at = output.got.data() + static_cast<size_t>(index) * size;
  return std::all_of(at, at + size, [&](std::byte byte) { return byte == poison; });
}

// The flagged ids of one axis in words, or "" when nothing simple describes them. `all` says that every id is flagged.
struct AxisDescription {
  bool all = false;
  std::string text;  // follows "every row" or "every column": " >= 64", " in 64..127", …
  bool single = false;
};

AxisDescription describe_axis(const std::vector<int64_t>& ids, const std::vector<bool>& flagged) {
  const auto first = static_cast<size_t>(std::find(flagged.begin(), flagged.end(), true) - flagged.begin());
  size_t last = first, count = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (flagged[i]) last = i, ++count;
  }
  if (count == ids.size()) return {true, ""};
  if (count == 1) return {false, fmt::format(" {}", ids[first]), true};
  if (count == last - first + 1) {
    if (last + 1 == ids.size()) return {false, fmt::format(" >= {}", ids[first])};
    if (first == 0) return {false, fmt::format(" < {}", ids[last] + 1)};
    return {false, fmt::format(" in {}..{}", ids[first], ids[last])};
  }
  // A contiguous set of residues modulo a power of two, as wrong lanes and fragments produce.
  for (int64_t modulus = 2; modulus <= 256; modulus *= 2) {
    std::vector<int> residues(static_cast<size_t>(modulus), -1);
    bool consistent = true;
    for (size_t i = 0; i < ids.size() && consistent; ++i) {
      int& residue = residues[static_cast<size_t>(ids[i] % modulus)];
      const int flag = flagged[i] ? 1 : 0;
      consistent = residue < 0 || residue == flag;
      residue = flag;
    }
    if (!consistent || static_cast<int64_t>(ids.size()) < 2 * modulus) continue;
    const auto low = static_cast<int64_t>(std::find(residues.begin(), residues.end(), 1) - residues.begin());
    const auto high = static_cast<int64_t>(residues.rend() - std::find(residues.rbegin(), residues.rend(), 1)) - 1;
    if (std::count(residues.begin() + low, residues.begin() + high + 1, 1) != high - low + 1) continue;
    if (modulus == 2) return {false, low == 0 ? " with an even index" : " with an odd index"};
    if (low == high) return {false, fmt::format(" with index % {} == {}", modulus, low)};
    return {false, fmt::format(" with index % {} in {}..{}", modulus, low, high)};
  }
  return {false, ""};
}

std::vector<bool> flag(const std::vector<int64_t>& counts, int64_t threshold) {
  std::vector<bool> flagged;
  for (const int64_t count : counts) flagged.push_back(count >= threshold);
  return flagged;
}

// "every row >= 64 is wrong". Tries the exact set of rows and columns first, then those with many wrong elements; the
// rectangle they span must be nearly full and must hold nearly all wrong elements (some come out right by chance).
std::string region_sentence(const Mismatches& m) {
  std::vector<int64_t> columns(static_cast<size_t>(m.output.columns));
  for (size_t i = 0; i < columns.size(); ++i) columns[i] = static_cast<int64_t>(i);
  const int64_t row_maximum = *std::max_element(m.by_row.begin(), m.by_row.end());
  const int64_t column_maximum = *std::max_element(m.by_column.begin(), m.by_column.end());
  for (const bool strict : {true, false}) {
    const std::vector<bool> rows_flagged = flag(m.by_row, strict ? 1 : std::max<int64_t>(1, row_maximum / 2));
    const std::vector<bool> columns_flagged = flag(m.by_column, strict ? 1 : std::max<int64_t>(1, column_maximum / 2));
    const auto area = static_cast<double>(std::count(rows_flagged.begin(), rows_flagged.end(), true) *
                                          std::count(columns_flagged.begin(), columns_flagged.end(), true));
    if (static_cast<double>(m.wrong) < 0.6 * area || static_cast<double>(m.wrong) > 1.02 * area) continue;
    const char* every = static_cast<double>(m.wrong) > 0.97 * area ? "every " : "nearly every ";
    const AxisDescription rows = describe_axis(m.rows, rows_flagged);
    const AxisDescription cols = describe_axis(columns, columns_flagged);
    if (rows.all && cols.all)
      return fmt::format("{} element is wrong", static_cast<double>(m.wrong) < area ? "nearly every" : "every");
    if (cols.all && !rows.text.empty()) return fmt::format("{}row{} is wrong", rows.single ? "" : every, rows.text);
    if (rows.all && !cols.text.empty()) return fmt::format("{}column{} is wrong", cols.single ? "" : every, cols.text);
    if (!rows.text.empty() && !cols.text.empty()) {
      return fmt::format("{}element with row{} and column{} is wrong", every, rows.text, cols.text);
    }
  }
  const auto touched = [](const std::vector<int64_t>& counts) {
    return std::count_if(counts.begin(), counts.end(), [](int64_t count) { return count > 0; });
  };
  return fmt::format("the wrong elements are spread over {} of {} rows and {} of {} columns", touched(m.by_row),
                     m.by_row.size(), touched(m.by_column), m.by_column.size());
}

// How many of up to 4096 elements spread over the output satisfy a predicate, as a fraction.
template <typename Predicate>
double sampled_fraction(const Mismatches& m, Predicate predicate) {
  const int64_t step = std::max<int64_t>(1, m.total / 4096) | 1;
  int64_t seen = 0, hits = 0;
  for (int64_t index = 0; index < m.total; index += step) {
    ++seen;
    hits += predicate(static_cast<size_t>(index / m.output.columns), index % m.output.columns) ? 1 : 0;
  }
  return seen == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(seen);
}

bool looks_transposed(const Mismatches& m, float relative, float absolute) {
  const bool all_rows = static_cast<int64_t>(m.rows.size()) == m.output.rows;
  if (!all_rows || m.output.rows == 1 || m.output.columns == 1) return false;
  return sampled_fraction(m, [&](size_t row, int64_t column) {
           const int64_t flat = column * m.output.rows + static_cast<int64_t>(row);
           const auto got = static_cast<float>(load_element(m.output.type, m.output.got.data(), flat));
           return within(got, m.expected(row, column), relative, absolute);
         }) > 0.95;
}

// A constant factor between got and expected (a forgotten or doubled scale), or 0.
double constant_factor(const Mismatches& m, float relative) {
  double factor = 0;
  for (size_t row = 0; row < m.rows.size() && factor == 0; ++row) {
    for (int64_t column = 0; column < m.output.columns && factor == 0; ++column) {
      const double expected = m.expected(row, column), got = m.got(row, column);
      if (std::abs(expected) > 1e-3 && std::isfinite(got)) factor = got / expected;
    }
  }
  if (factor == 0 || std::abs(factor - 1) < 0.01) return 0;
  const double fraction = sampled_fraction(m, [&](size_t row, int64_t column) {
    const double expected = m.expected(row, column) * factor;
    return std::abs(m.got(row, column) - expected) <= relative * std::abs(expected) + 1e-6;
  });
  return fraction > 0.95 ? factor : 0;
}

std::string find_pattern(const Mismatches& m, float relative, float absolute) {
  if (m.untouched == m.total) return "all of the output is untouched (still poison)";
  std::string sentence = region_sentence(m);
  if (m.untouched == m.wrong) return sentence + "; all of these are untouched (still poison)";
  if (m.nan == m.wrong) return sentence + "; all of these are NaN or infinite";
  if (m.zero == m.wrong) return sentence + "; all of these are zero";
  if (m.untouched > 0) sentence += fmt::format("; {} of these are untouched (still poison)", m.untouched);
  if (2 * m.wrong > m.total) {
    if (looks_transposed(m, relative, absolute)) return sentence + "; the output looks transposed";
    const double factor = constant_factor(m, relative);
    if (factor != 0) return sentence + fmt::format("; the output is about {:.4g} times what it should be", factor);
  }
  return sentence;
}

// The output in at most 16 x 48 cells, each with its wrong elements.
class MismatchMap {
 public:
  MismatchMap(const std::vector<int64_t>& rows, int64_t columns)
      : rows_(rows),
        columns_(columns),
        cell_rows_(cell(count_of(rows), 16)),
        cell_columns_(cell(columns, 48)),
        wrong_(static_cast<size_t>(cells(count_of(rows), cell_rows_) * cells(columns, cell_columns_))) {}

  void add(size_t row, int64_t column) {
    const int64_t line = static_cast<int64_t>(row) / cell_rows_;
    ++wrong_[static_cast<size_t>(line * cells(columns_, cell_columns_) + column / cell_columns_)];
  }

  std::string text() const {
    const int64_t row_count = count_of(rows_);
    std::string text =
        fmt::format("each sign is {} row{} x {} column{}: . right, 1 to 9 tenths of it wrong, # all or nearly all\n",
                    cell_rows_, cell_rows_ == 1 ? "" : "s", cell_columns_, cell_columns_ == 1 ? "" : "s");
    const size_t digits = fmt::formatted_size("{}", rows_.empty() ? 0 : rows_.back());
    size_t at = 0;
    for (int64_t row = 0; row < row_count; row += cell_rows_) {
      text += fmt::format("row {:<{}}  ", rows_[static_cast<size_t>(row)], digits);
      for (int64_t column = 0; column < columns_; column += cell_columns_) {
        const int64_t all = std::min(cell_rows_, row_count - row) * std::min(cell_columns_, columns_ - column);
        text += sign(wrong_[at++], all);
      }
      text += '\n';
    }
    return text;
  }

 private:
  static int64_t count_of(const std::vector<int64_t>& rows) { return static_cast<int64_t>(rows.size()); }
  static int64_t cell(int64_t count, int64_t most) { return std::max<int64_t>(1, (count + most - 1) / most); }
  static int64_t cells(int64_t count, int64_t size) { return (count + size - 1) / size; }
  static char sign(int64_t wrong, int64_t all) {
    const int64_t tenths = (10 * wrong + all / 2) / all;
    return wrong == 0 ? '.' : tenths >= 10 ? '#' : static_cast<char>('0' + std::max<int64_t>(tenths, 1));
  }

  const std::vector<int64_t>& rows_;  // ids of the compared rows
  const int64_t columns_, cell_rows_, cell_columns_;
  std::vector<int64_t> wrong_;
};

}  // namespace

Comparison compare_output(const OutputView& output, const Tolerance& tolerance, std::byte poison) {
  Mismatches m{output, {}, {}, {}};
  m.rows.assign(output.checked_rows.begin(), output.checked_rows.end());
  if (m.rows.empty()) {
    for (int64_t row = 0; row < output.rows; ++row) m.rows.push_back(row);
  }
  const size_t row_bytes = static_cast<size_t>(output.columns) * element_size(output.type);
  CHECK(output.expected.size() == m.rows.size() * row_bytes, "expected holds the checked rows");
  CHECK(output.got.size() == static_cast<size_t>(output.rows) * row_bytes, "got holds all rows");
  m.by_row.resize(m.rows.size());
  m.by_column.resize(static_cast<size_t>(output.columns));

  MismatchMap map(m.rows, output.columns);
  Comparison result;
  result.output = output.name;
  const auto relative = static_cast<float>(tolerance.relative), absolute = static_cast<float>(tolerance.absolute);
  double worst_ratio = -1;
  for (size_t row = 0; row < m.rows.size(); ++row) {
    CHECK(m.rows[row] >= 0 && m.rows[row] < output.rows, "checked rows exist");
    for (int64_t column = 0; column < output.columns; ++column) {
      const float got = m.got(row, column), expected = m.expected(row, column);
      const double error = std::isfinite(got) && std::isfinite(expected) ? std::abs(double{got} - double{expected})
                                                                         : std::numeric_limits<double>::infinity();
      const double allowed = absolute + relative * std::abs(expected);
      const double ratio = std::isinf(error) ? error : error / allowed;
      if (ratio > worst_ratio) {
        worst_ratio = ratio;
        result.worst = WorstElement{m.rows[row], column, got, expected, error, allowed};
      }
      if (within(got, expected, relative, absolute)) continue;
      ++m.wrong;
      map.add(row, column);
      ++m.by_row[row];
      ++m.by_column[static_cast<size_t>(column)];
      m.nan += std::isfinite(got) ? 0 : 1;
      m.zero += got == 0 ? 1 : 0;
      m.untouched += is_untouched(output, m.rows[row] * output.columns + column, poison) ? 1 : 0;
    }
  }
  m.total = static_cast<int64_t>(m.rows.size()) * output.columns;
  result.passed = m.wrong == 0;
  result.elements = m.total;
  result.mismatches = m.wrong;
  result.non_finite = m.nan;
  result.untouched = m.untouched;
  result.worst_ratio = std::max(worst_ratio, 0.0);
  if (!result.passed) {
    result.pattern = find_pattern(m, relative, absolute);
    result.map = map.text();
  }
  return result;
}

// Without the sign that printf gives a NaN.
static std::string number(double value) { return std::isnan(value) ? "nan" : fmt::format("{:.6g}", value); }

std::string Comparison::sentence() const {
  if (passed)
    return fmt::format("{} elements of {} agree, worst at {:.3g} of the tolerance", elements, output, worst_ratio);
  std::string text = fmt::format("{} of {} elements of {} are wrong", mismatches, elements, output);
  if (worst) {
    text += fmt::format(", worst at ({}, {}): got {}, expected {}", worst->row, worst->column, number(worst->got),
                        number(worst->expected));
    if (std::isfinite(worst->error))
      text += fmt::format(" (error {:.3g}, allowed {:.3g})", worst->error, worst->allowed);
  }
  if (!pattern.empty()) text += "; " + pattern;
  return text;
}

}  // namespace hipbench
