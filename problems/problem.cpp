#include "problems/problem.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "common/files.hpp"
#include "problems/registry.hpp"

namespace hipbench {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::string joined(std::span<const std::string> words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

constexpr std::array<std::string_view, 3> kRoleNames = {"naive", "baseline", "expert"};

// The toml is embedded and every test loads it, so a mistake in it is a bug of ours.
toml::table parse_embedded(const ProblemFiles& files) {
  try {
    return toml::parse(files.toml);
  } catch (const toml::parse_error& error) {
    check_failed("problem.toml parses", files.id.data(), static_cast<int>(error.source().begin.line),
                 error.description());
  }
}

double required_number(const toml::table& table, std::string_view section, std::string_view key) {
  const auto value = table[section][key].value<double>();
  CHECK(value.has_value(), fmt::format("problem.toml has no number {}.{}", section, key));
  return *value;
}

}  // namespace

Problem::Problem(const ProblemFiles& files) : files_(&files), id_(files.id) {
  const toml::table table = parse_embedded(files);
  title_ = table["title"].value_or(std::string());
  tolerance_ = {required_number(table, "tolerance", "relative"), required_number(table, "tolerance", "absolute")};
  limit_base_instructions_ = required_number(table, "limits", "base_wave_instructions");
  limit_instructions_per_flop_ = required_number(table, "limits", "wave_instructions_per_flop");
  limit_modelled_ms_ = required_number(table, "limits", "modelled_ms");
}

void Problem::finish(uint32_t args_size, std::vector<IntegerField> integers, std::vector<PointerField> pointers,
                     std::vector<std::string> dimensions) {
  args_size_ = args_size;
  integer_fields_ = std::move(integers);
  pointer_fields_ = std::move(pointers);
  dimensions_ = std::move(dimensions);
  quick_ = read_shapes("quick");
  tests_ = read_shapes("tests");
  benchmarks_ = read_shapes("benchmarks");
  read_tensors();
  read_writable();
  read_references();
}

int64_t Problem::evaluate(const Expression& expression, const Shape& shape) const {
  const int64_t result = expression.evaluate([&](const std::string& name, size_t) { return value(shape, name); });
  CHECK(result >= 0, fmt::format("an extent in problem.toml of {} is negative", id_));
  return result;
}

void Problem::read_tensors() {
  const toml::table table = parse_embedded(*files_);
  for (const PointerField& field : pointer_fields_) {
    const toml::array* extents = table["tensors"][field.name].as_array();
    CHECK(extents != nullptr, fmt::format("problem.toml of {} has no tensors.{}", id_, field.name));
    std::vector<Expression>& tensor = tensors_.emplace_back();
    for (const toml::node& extent : *extents)
      tensor.push_back(Expression::parse(extent.value<std::string>().value_or("")));
  }
}

std::vector<int64_t> Problem::tensor_shape(const Shape& shape, size_t pointer) const {
  std::vector<int64_t> extents;
  for (const Expression& extent : tensors_[pointer]) extents.push_back(evaluate(extent, shape));
  return extents;
}

uint64_t Problem::element_count(const Shape& shape, size_t pointer) const {
  uint64_t count = 1;
  for (const Expression& extent : tensors_[pointer]) count *= static_cast<uint64_t>(evaluate(extent, shape));
  return count;
}

void Problem::read_writable() {
  const toml::table table = parse_embedded(*files_);
  for (const PointerField& field : pointer_fields_) {
    std::optional<WritableExpressions>& slot = writable_.emplace_back();
    const toml::table* entry = table["writable"][field.name].as_table();
    CHECK((entry == nullptr) == (field.access != Access::InOut) || field.access == Access::Out,
          fmt::format("problem.toml of {} has [writable.{}] iff that is an InOut or a partly written Out field", id_,
                      field.name));
    if (entry == nullptr) continue;
    const auto expression = [&](std::string_view key) {
      const auto text = (*entry)[key].value<std::string>();
      CHECK(text.has_value(), fmt::format("problem.toml of {} has no writable.{}.{}", id_, field.name, key));
      return Expression::parse(*text);
    };
    slot = WritableExpressions{expression("offset"), expression("length"), expression("stride"), expression("rows")};
  }
}

StridedRange Problem::writable(const Shape& shape, size_t pointer) const {
  const PointerField& field = pointer_fields_[pointer];
  if (field.access == Access::In) return {};
  const uint64_t size = element_size(field.type), bytes = byte_count(shape, pointer);
  if (!writable_[pointer]) return {0, bytes, bytes, 1};
  const auto value_of = [&](const Expression& expression) {
    return static_cast<uint64_t>(evaluate(expression, shape));
  };
  const WritableExpressions& e = *writable_[pointer];
  const StridedRange range{value_of(e.offset) * size, value_of(e.length) * size, value_of(e.stride) * size,
                           value_of(e.rows)};
  CHECK(range.rows == 0 || (range.row_bytes <= range.stride_bytes &&
                            range.offset + (range.rows - 1) * range.stride_bytes + range.row_bytes <= bytes),
        "a writable range lies in its buffer");
  return range;
}

std::vector<ListedShape> Problem::read_shapes(std::string_view set) const {
  const toml::table table = parse_embedded(*files_);
  const toml::array* rows = table["shapes"][set].as_array();
  CHECK(rows != nullptr, fmt::format("problem.toml of {} has no shapes.{}", id_, set));
  std::vector<ListedShape> result;
  for (const toml::node& node : *rows) {
    const toml::table& row = *node.as_table();
    std::vector<int64_t> values;
    for (const std::string& dimension : dimensions_) values.push_back(row[dimension].value_or(int64_t{-1}));
    Result<Shape> shape = make_shape(values);
    CHECK(shape.has_value(), shape ? "" : shape.error().message);
    result.push_back(
        {*std::move(shape), row["emulated_check_rows"].value_or(int64_t{0}), row["sol_us"].value<double>()});
  }
  return result;
}

// Results are relative to these files, so a changed one is a mistake unless problem.toml says the same.
void Problem::read_references() {
  const toml::table table = parse_embedded(*files_);
  const auto read = [&](std::string name, const toml::table& entry) {
    const std::string file = entry["file"].value_or(std::string());
    const auto text = std::find_if(files_->references.begin(), files_->references.end(),
                                   [&](const EmbeddedFile& one) { return one.name == file; });
    CHECK(text != files_->references.end(), fmt::format("problem.toml of {}: {} names no file", id_, name));
    ReferenceSolution one{std::move(name), fmt::format("kernels/reference_solutions/{}/{}", id_, file),
                          entry["shows"].value_or(std::string()), entry["sha256"].value_or(std::string()), text->text};
    CHECK(sha256_hex(one.source) == one.sha256,
          fmt::format("{} is not the file that problem.toml has frozen; if the change is on purpose, run "
                      "scripts/freeze-references and build again, else restore the file",
                      one.path));
    return one;
  };
  for (const std::string_view role : kRoleNames) {
    if (const toml::table* entry = table["references"][role].as_table())
      references_.push_back(read(std::string(role), *entry));
  }
  if (const toml::array* rungs = table["ladder"].as_array()) {
    for (const toml::node& rung : *rungs)
      ladder_.push_back(read(rung.as_table()->at("name").value_or(std::string()), *rung.as_table()));
  }
}

const ReferenceSolution* Problem::reference(ReferenceRole role) const {
  for (const ReferenceSolution& one : references_)
    if (one.name == kRoleNames[static_cast<size_t>(role)]) return &one;
  return nullptr;
}

Result<const ReferenceSolution*> Problem::find_reference(std::string_view name) const {
  std::vector<std::string_view> known;
  for (const auto* list : {&references_, &ladder_}) {
    for (const ReferenceSolution& one : *list) {
      if (one.name == name) return &one;
      known.push_back(one.name);
    }
  }
  if (known.empty()) return Error{fmt::format("{} has no reference solutions", id_)};
  return Error{fmt::format("{} has no reference solution \"{}\"{}; it has: {}", id_, name,
                           name == kRoleNames.back() ? " yet" : "", fmt::join(known, ", "))};
}

std::string_view Problem::readme() const { return files_->readme; }
std::string_view Problem::header() const { return files_->header; }
std::string_view Problem::starter(Track track) const {
  return track == Track::Kernel ? files_->starter_kernel : files_->starter_host;
}

std::vector<std::byte> Problem::make_args(const Shape& shape, std::span<const uint64_t> pointers) const {
  CHECK(pointers.size() == pointer_fields_.size() && shape.values.size() == integer_fields_.size());
  std::vector<std::byte> args(args_size_);
  for (size_t i = 0; i < pointers.size(); ++i) std::memcpy(&args[pointer_fields_[i].offset], &pointers[i], 8);
  for (size_t i = 0; i < integer_fields_.size(); ++i)
    std::memcpy(&args[integer_fields_[i].offset], &shape.values[i], 4);
  return args;
}

std::span<const ListedShape> Problem::shapes(ShapeSet set) const {
  switch (set) {
    case ShapeSet::Quick:
      return quick_;
    case ShapeSet::Tests:
      return tests_;
    case ShapeSet::Benchmarks:
      return benchmarks_;
  }
  return {};
}

Result<Shape> Problem::make_shape(std::span<const int64_t> dimension_values) const {
  Shape shape;
  shape.values = TRY(complete_shape(dimension_values));
  for (size_t i = 0; i < dimensions_.size(); ++i) {
    shape.label += fmt::format("{}{}={}", i == 0 ? "" : ",", dimensions_[i], dimension_values[i]);
  }
  return shape;
}

Result<Problem::NamedSizes> Problem::parse_sizes(std::string_view text,
                                                 std::span<const std::string_view> others) const {
  std::string help = fmt::format("a shape of {} is written {}=N", id_, joined(dimensions_, "=N,"));
  if (!others.empty()) help += fmt::format("; the oracle also takes {}=N", fmt::join(others, "=N, "));
  NamedSizes sizes;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view item = trim(text.substr(0, comma));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos) return Error{fmt::format("\"{}\" is not KEY=VALUE; {}", item, help)};
    const std::string_view key = trim(item.substr(0, equals)), number = trim(item.substr(equals + 1));
    const bool is_known = std::find(dimensions_.begin(), dimensions_.end(), key) != dimensions_.end() ||
                          std::find(others.begin(), others.end(), key) != others.end();
    if (!is_known) return Error{fmt::format("{} has no dimension \"{}\"; {}", id_, key, help)};
    if (sizes.contains(key)) return Error{fmt::format("the dimension {} is given twice; {}", key, help)};
    int64_t value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error != std::errc() || end != number.data() + number.size() || number.empty()) {
      return Error{fmt::format("{}: \"{}\" is not an integer of 64 bits", key, number)};
    }
    sizes.emplace(key, value);
  }
  for (const std::string& dimension : dimensions_) {
    if (!sizes.contains(dimension)) return Error{fmt::format("the dimension {} is missing; {}", dimension, help)};
  }
  return sizes;
}

Result<Shape> Problem::parse_shape(std::string_view text) const {
  const NamedSizes sizes = TRY(parse_sizes(text, {}));
  std::vector<int64_t> values;
  for (const std::string& dimension : dimensions_) values.push_back(sizes.at(dimension));
  return make_shape(values);
}

Result<Shape> Problem::parse_oracle_shape(std::string_view text) const {
  const NamedSizes sizes = TRY(parse_sizes(text, oracle_fields()));
  for (const auto& [name, value] : sizes) {
    if (value < 0 || value > kLargestOracleSize)
      return Error{fmt::format("{}={} is not between 0 and {}", name, value, kLargestOracleSize)};
  }
  Shape shape;
  shape.values = TRY(complete_oracle_shape(sizes));
  for (const std::string& name : dimensions_) shape.label += fmt::format(",{}={}", name, sizes.at(name));
  for (const std::string_view name : oracle_fields()) {
    const auto given = sizes.find(name);
    if (given != sizes.end()) shape.label += fmt::format(",{}={}", name, given->second);
  }
  shape.label.erase(0, 1);
  constexpr uint64_t kMostBytes = uint64_t{1} << 38;
  uint64_t bytes = 0;
  for (size_t pointer = 0; pointer < pointer_fields_.size(); ++pointer) bytes += byte_count(shape, pointer);
  if (bytes > kMostBytes) return Error{fmt::format("the tensors of {} take {} GB", shape.label, bytes / 1'000'000'000)};
  return shape;
}

Result<std::vector<int32_t>> Problem::complete_oracle_shape(const NamedSizes& given) const {
  std::vector<int64_t> values;
  for (const std::string& dimension : dimensions_) values.push_back(given.at(dimension));
  return complete_shape(values);
}

std::map<std::string, int64_t> Problem::named_values(const Shape& shape) const {
  std::map<std::string, int64_t> result;
  for (size_t i = 0; i < integer_fields_.size(); ++i) result[integer_fields_[i].name] = shape.values[i];
  return result;
}

int64_t Problem::value(const Shape& shape, std::string_view field) const {
  for (size_t i = 0; i < integer_fields_.size(); ++i) {
    if (integer_fields_[i].name == field) return shape.values[i];
  }
  CHECK(false, fmt::format("{} has no integer field {}", id_, field));
  return 0;
}

int64_t Problem::emulated_check_rows(const Shape& shape) const {
  for (const auto* set : {&quick_, &tests_, &benchmarks_}) {
    for (const ListedShape& listed : *set) {
      if (listed.shape.label == shape.label) return listed.emulated_check_rows;
    }
  }
  return 0;
}

std::optional<double> Problem::challenge_sol_us(const Shape& shape) const {
  for (const auto* set : {&quick_, &tests_, &benchmarks_}) {
    for (const ListedShape& listed : *set) {
      if (listed.shape.label == shape.label && listed.challenge_sol_us) return listed.challenge_sol_us;
    }
  }
  return std::nullopt;
}

uint64_t Problem::byte_count(const Shape& shape, size_t pointer) const {
  return element_count(shape, pointer) * element_size(pointer_fields_[pointer].type);
}

std::vector<std::byte> Problem::pack(const StridedRange& range, std::span<const std::byte> buffer) {
  std::vector<std::byte> packed(range.total_bytes());
  if (range.rows == 0 || range.row_bytes == 0) return packed;
  CHECK(range.offset + (range.rows - 1) * range.stride_bytes + range.row_bytes <= buffer.size(),
        "range outside the buffer");
  for (uint64_t row = 0; row < range.rows; ++row) {
    std::memcpy(&packed[row * range.row_bytes], &buffer[range.offset + row * range.stride_bytes], range.row_bytes);
  }
  return packed;
}

Buffers Problem::all_rows(const Shape& shape, const Case& one) const {
  if (one.rows.empty()) return one.expected;
  Buffers all(one.expected.size());
  for (size_t field = 0; field < all.size(); ++field) {
    all[field].resize(writable(shape, field).total_bytes());
    const size_t row_bytes = one.expected[field].size() / one.rows.size();
    for (size_t row = 0; row < one.rows.size() && row_bytes != 0; ++row)
      std::memcpy(&all[field][static_cast<size_t>(one.rows[row]) * row_bytes], &one.expected[field][row * row_bytes],
                  row_bytes);
  }
  return all;
}

Comparison Problem::compare(const Shape& shape, const Buffers& expected, const Buffers& got,
                            std::span<const int64_t> rows, std::byte poison) const {
  Comparison first;
  bool have_one = false;
  int64_t elements = 0;
  double worst_ratio = 0;
  for (size_t pointer = 0; pointer < pointer_fields_.size(); ++pointer) {
    const PointerField& field = pointer_fields_[pointer];
    if (field.access == Access::In) continue;
    const int64_t row_total = row_count(shape);
    const auto packed_elements =
        static_cast<int64_t>(writable(shape, pointer).total_bytes() / element_size(field.type));
    Comparison comparison = compare_output(
        {field.name, field.type, row_total, packed_elements / row_total, rows, expected[pointer], got[pointer]},
        tolerance_, poison);
    elements += comparison.elements;
    worst_ratio = std::max(worst_ratio, comparison.worst_ratio);
    if (!have_one || (first.passed && !comparison.passed)) first = std::move(comparison);
    have_one = true;
  }
  if (first.passed) {
    first.elements = elements;
    first.worst_ratio = worst_ratio;
  }
  return first;
}

Roofs Problem::roofs(const Shape& shape) const {
  const Work needed = work(shape);
  Roofs roofs{.flops = needed.flops, .input_bytes = needed.input_bytes};
  for (size_t pointer = 0; pointer < pointer_fields_.size(); ++pointer)
    roofs.output_bytes += writable(shape, pointer).total_bytes();
  const auto input = static_cast<double>(roofs.input_bytes), output = static_cast<double>(roofs.output_bytes);
  roofs.floor_us = 1e6 * std::max({needed.flops / needed.rate.peak_flops, input / mi300x::kPeakHbmBytes,
                                   output / mi300x::kPeakInfinityCacheBytes});
  roofs.matrix_roof_us = 1e6 * needed.flops / needed.rate.achieved_flops;
  roofs.memory_roof_us = 1e6 * (input + output) / mi300x::kAchievedHbmBytes;
  roofs.matrix_peak_us = 1e6 * needed.flops / needed.rate.peak_flops;
  return roofs;
}

Limits Problem::limits(const Shape& shape) const {
  return {static_cast<uint64_t>(limit_base_instructions_ + limit_instructions_per_flop_ * roofs(shape).flops),
          limit_modelled_ms_};
}

}  // namespace hipbench
