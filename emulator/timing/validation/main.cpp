// What scripts/validate-timing runs: chooses measured points, runs the kernel's variants through the model, reports.
//
//   validate_timing variants POINTS.csv          the variants to compile, one a line: name, then the template arguments
//   validate_timing run POINTS.csv CODE [NAME=VALUE...]   CODE: folder of NAME.co; prints the results as CSV
//   validate_timing report RESULTS.csv FOLDER    prints the report, writes the figures

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <set>
#include <span>

#include "common/files.hpp"
#include "emulator/timing/launch_model.hpp"
#include "emulator/timing/validation/run_points.hpp"
#include "emulator/timing/validation/statistics.hpp"

namespace hipbench::emulator {
namespace {

// Columns of the measured data: shape, tile parameters, times.
constexpr size_t kShapeColumns = 3, kColumns = 12, kGemmTime = 12, kPipelineDepth = 9, kFusedTranspose = 10,
                 kThreads = 11;
constexpr size_t kVariants = 48;  // of the kernel that are compiled

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

// Chance that everybody draws alike: the first 32 bits of a hash.
u32 draw(std::string_view purpose, std::string_view what) {
  return static_cast<u32>(std::stoul(sha256_hex(fmt::format("{}:{}", purpose, what)).substr(0, 8), nullptr, 16));
}

f64 number(const std::string& text) {
  f64 value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

struct Sample {
  MeasuredPoint point;
  bool fitted = false;
  std::string order;
};

std::string variant_of(std::vector<std::string> row) {
  // At depth 2 the two settings of this flag were measured as the same kernel (docs/timing-model.md).
  if (row[kPipelineDepth] == "2") row[kFusedTranspose] = "1";
  return join(std::span(row).subspan(kShapeColumns, kColumns - kShapeColumns), "_");
}

// Half of the points are never looked at; of the rest those of a few variants, a third of them for fitting.
Result<std::vector<Sample>> choose(const std::string& path) {
  const std::string text = TRY(read_file(path));
  std::vector<std::vector<std::string>> rows;
  std::set<std::pair<u32, std::string>> variants;
  for (const std::string& line : split(text, '\n')) {
    const std::vector<std::string> row = split(line, ',');
    if (row.size() < kColumns + 3 || row[0] == "m") continue;
    const auto variant = join(std::span(row).subspan(kShapeColumns, kColumns - kShapeColumns), ",");
    variants.emplace(draw("variant", variant), variant);
    rows.push_back(row);
  }
  std::set<std::string> chosen;
  for (const auto& [hash, variant] : variants)
    if (chosen.size() < kVariants) chosen.insert(variant);
  std::vector<Sample> samples;
  for (const std::vector<std::string>& row : rows) {
    const std::string all = join(std::span(row).first(kColumns), ",");
    if (draw("row", all) % 2 != 0 ||
        !chosen.contains(join(std::span(row).subspan(kShapeColumns, kColumns - kShapeColumns), ",")))
      continue;
    Sample sample;
    const auto integer = [&](size_t column) { return static_cast<u32>(number(row[column])); };
    sample.point = {.m = integer(0),
                    .n = integer(1),
                    .k = integer(2),
                    .block_m = integer(3),
                    .block_n = integer(4),
                    .threads = integer(kThreads),
                    .variant = variant_of(row),
                    .gemm_us = number(row[kGemmTime])};
    sample.fitted = draw("fit", all) % 3 == 0;
    sample.order = fmt::format("{:08x}", draw("order", all));
    samples.push_back(std::move(sample));
  }
  std::ranges::sort(samples, {}, &Sample::order);
  return samples;
}

Result<void> print_variants(const std::string& path) {
  std::set<std::string> names;
  for (const Sample& sample : TRY(choose(path))) names.insert(sample.point.variant);
  for (const std::string& name : names) {
    const std::vector<std::string> p = split(name, '_');
    fmt::print("{} {}, cube{{{},{},{}}}, cube{{{},{},{}}}, __uint128_t, {}, {}, false\n", name, p[8], p[0], p[1], p[2],
               p[3], p[4], p[5], p[6], p[7] == "1");
  }
  return {};
}

Result<void> run(const std::string& path, const std::string& folder, std::span<const std::string> constants) {
  TimingParameters parameters = mi300x_timing();
  for (const std::string& constant : constants) {
    const std::vector<std::string> parts = split(constant, '=');
    if (parts.size() != 2) return Error{constant + " is not NAME=VALUE"};
    TRY(parameters.set(parts[0], number(parts[1])));
  }
  PointRunner runner = TRY(PointRunner::create(parameters));
  for (const Sample& sample : TRY(choose(path))) {
    const MeasuredPoint& point = sample.point;
    const Result<LaunchResult> result = runner.run(fmt::format("{}/{}.co", folder, point.variant), point);
    if (!result) {
      fmt::print(stderr, "{}x{}x{} {}: {}\n", point.m, point.n, point.k, point.variant, result.error().message);
      continue;
    }
    fmt::print("{}x{}x{},{},{},{:.2f},{:.2f}\n", point.m, point.n, point.k, point.variant,
               sample.fitted ? "fit" : "test", point.gemm_us, result->modelled_seconds * 1e6);
    std::fflush(stdout);
  }
  return {};
}

Result<void> report(const std::string& path, const std::string& folder) {
  std::vector<Agreement> points;
  for (const std::string& line : split(TRY(read_file(path)), '\n')) {
    const std::vector<std::string> row = split(line, ',');
    if (row.size() != 5) continue;
    points.push_back({.shape = row[0],
                      .variant = row[1],
                      .fitted = row[2] == "fit",
                      .measured_us = number(row[3]),
                      .modelled_us = number(row[4])});
  }
  if (points.empty()) return Error{path + " holds no results"};
  fmt::print("timing model {}\n{}", timing_model_version(), agreement_report(points));
  TRY(write_file_atomically(folder + "/timing-model-scatter.svg", scatter_svg(points)));
  return write_file_atomically(folder + "/timing-model-errors.svg", error_svg(points));
}

int main_with(std::span<const std::string> args) {
  Result<void> done =
      Error{"usage: validate_timing variants POINTS | run POINTS CODE [NAME=VALUE...] | report RESULTS FOLDER"};
  if (args.size() == 2 && args[0] == "variants") done = print_variants(args[1]);
  if (args.size() >= 3 && args[0] == "run") done = run(args[1], args[2], args.subspan(3));
  if (args.size() == 3 && args[0] == "report") done = report(args[1], args[2]);
  if (!done) fmt::print(stderr, "validate_timing: {}\n", done.error().message);
  return done ? 0 : 1;
}

}  // namespace
}  // namespace hipbench::emulator

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  return hipbench::emulator::main_with(args);
}
