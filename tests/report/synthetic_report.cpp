// synthetic_report FOLDER COUNT: FOLDER/report.db with so many made-up evaluations, and FOLDER/report.html of it.
#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "cli/json.hpp"
#include "common/files.hpp"
#include "report/page.hpp"
#include "tests/report/synthetic_database.hpp"

namespace hipbench::report {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Result<void> make(const std::filesystem::path& folder, size_t count) {
  auto start = std::chrono::steady_clock::now();
  TRY(make_synthetic_database(folder / "report.db", count));
  fmt::print("database: {:.2f} s\n", seconds_since(start));
  start = std::chrono::steady_clock::now();
  DocumentOptions options;
  options.generated_at = "2026-01-02T03:04:05Z";
  options.references = synthetic_references;
  options.evaluation_json = [](const Evaluation& evaluation, int64_t id) {
    return json_text(cli::evaluation_json(evaluation, id));
  };
  const Document document = TRY(make_document(folder / "report.db", options));
  const Page page = make_page(document, false);
  TRY(write_file_atomically(folder / "report.html", page.html));
  fmt::print("page: {:.2f} s, {:.2f} MB, of it the document {:.2f} MB, charts: {}\n", seconds_since(start),
             static_cast<double>(page.html.size()) * 1e-6, static_cast<double>(document.json.size()) * 1e-6,
             has_charts() ? "yes" : "no");
  return {};
}

}  // namespace
}  // namespace hipbench::report

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const hipbench::Result<void> made = hipbench::report::make(argv[1], std::stoul(argv[2]));
  if (made) return 0;
  fmt::print(stderr, "{}\n", made.error().message);
  return 3;
}
