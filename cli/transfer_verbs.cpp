// hipbench export, import.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <fstream>
#include <memory>

#include "cli/evaluate_files.hpp"
#include "cli/json.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "common/files.hpp"
#include "results/transfer.hpp"

namespace hipbench::cli {

namespace {

using results::ExportValue;

struct ExportOptions {
  std::string database = kDefaultDatabase, table = "evaluations", problem, format, output;
};

// RFC 4180: quotes around what holds a comma, a quote or a line end; quotes are doubled.
std::string csv_cell(const ExportValue& value) {
  if (std::holds_alternative<std::monostate>(value)) return "";
  if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  const std::string& text = std::get<std::string>(value);
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

Json json_value(const ExportValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return *number;
  if (const auto* number = std::get_if<double>(&value)) return std::isfinite(*number) ? Json(*number) : Json(nullptr);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return nullptr;
}

// Writes to standard output, or to a file that is only there once it is whole.
class Output {
 public:
  explicit Output(const std::string& path) : path_(path) {}
  void write(const std::string& text) {
    if (path_.empty()) {
      failed_ = failed_ || std::fwrite(text.data(), 1, text.size(), stdout) != text.size();
    } else {
      content_ += text;
    }
  }
  bool failed() const { return failed_; }
  Result<void> finish() {
    if (failed_) return Error{"standard output could not be written; is its disk full?"};
    return path_.empty() ? Result<void>() : write_file_atomically(path_, content_);
  }

 private:
  std::string path_, content_;
  bool failed_ = false;
};

int export_table(const ExportOptions& options) {
  std::error_code ignored;
  if (!std::filesystem::exists(options.database, ignored))
    return fail(kWrongUsage,
                fmt::format("there is no database {}; `hipbench eval` makes one", printable_line(options.database)));
  const bool is_csv = options.format == "csv" || (options.format.empty() && options.output.ends_with(".csv"));
  Output output(options.output);
  std::vector<std::string> columns;
  size_t count = 0;
  results::ExportSink sink;
  sink.header = [&](const std::vector<std::string>& names) {
    columns = names;
    if (!is_csv) return;
    std::string line;
    for (const std::string& name : names) line += (line.empty() ? "" : ",") + csv_cell(name);
    output.write(line + "\r\n");
  };
  sink.row = [&](const std::vector<ExportValue>& values) {
    ++count;
    std::string line;
    if (is_csv) {
      for (size_t i = 0; i < values.size(); ++i) line += (i == 0 ? "" : ",") + csv_cell(values[i]);
      line += "\r\n";
    } else {
      Json json = Json::object();
      for (size_t i = 0; i < values.size(); ++i) json[columns[i]] = json_value(values[i]);
      line = json_text(json) + "\n";
    }
    output.write(line);
    return !output.failed();
  };
  const Result<void> exported = results::export_rows(options.database, options.table, options.problem, sink);
  if (!exported) return fail(kEnvironmentFailed, exported.error().message);
  if (const Result<void> written = output.finish(); !written) return fail(kEnvironmentFailed, written.error().message);
  if (!options.output.empty()) fmt::print(stderr, "{} rows in {}\n", count, printable_line(options.output));
  return kAllPassed;
}

struct ImportOptions {
  std::string file, database = kDefaultDatabase, note, source;
};

std::vector<std::string> csv_fields(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (quoted && line[i] == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[i++];
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      fields.emplace_back();
    } else if (line[i] != '\r') {
      fields.back() += line[i];
    }
  }
  return fields;
}

// problem,shape,what,device,time_us: times of others, one a line.
Result<std::vector<results::PublishedTime>> read_published(const std::string& file, const std::string& source) {
  constexpr const char* kHeader = "problem,shape,what,device,time_us";
  std::ifstream stream(file);
  if (!stream) return Error{fmt::format("cannot read {}", file)};
  std::vector<results::PublishedTime> times;
  std::string line;
  for (size_t number = 1; std::getline(stream, line); ++number) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (number == 1 && line != kHeader) return Error{fmt::format("{}:1: the first line must be {}", file, kHeader)};
    if (number == 1 || line.empty()) continue;
    const std::vector<std::string> fields = csv_fields(line);
    if (fields.size() != 5) return Error{fmt::format("{}:{}: {} fields instead of 5", file, number, fields.size())};
    results::PublishedTime time{fields[0], fields[1], fields[2], fields[3], source, 0};
    const std::string& text = fields[4];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), time.time_us);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(time.time_us) || !(time.time_us > 0))
      return Error{fmt::format("{}:{}: \"{}\" is no time in microseconds", file, number, text)};
    times.push_back(std::move(time));
  }
  return times;
}

int import_file(const ImportOptions& options) {
  if (!options.source.empty()) {
    const auto times = read_published(options.file, options.source);
    if (!times) return fail(kWrongUsage, times.error().message);
    const Result<int64_t> count = results::import_published(options.database, *times);
    if (!count) return fail(kEnvironmentFailed, count.error().message);
    fmt::print("{} published times are new in {}; they are shown, never ranked\n", *count,
               printable_line(options.database));
    return kAllPassed;
  }
  std::error_code ignored;
  if (!std::filesystem::exists(options.file, ignored))
    return fail(kWrongUsage, fmt::format("there is no database {}", printable_line(options.file)));
  const Result<results::ImportReport> report = results::import_database(options.database, options.file, options.note);
  if (!report) return fail(kEnvironmentFailed, report.error().message);
  fmt::print(
      "{}: {} evaluations, {} runs, {} turns and {} answers of batches are new; {} evaluations were here before\n",
      printable_line(options.database), report->evaluations, report->runs, report->turns, report->answers,
      report->known);
  for (const std::string& name : report->renamed)
    fmt::print("note: another one has that name: {}\n", printable_line(name));
  return kAllPassed;
}

void add_export(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("export", "The database's tables as CSV or JSON Lines");
  auto options = std::make_shared<ExportOptions>();
  verb->add_option(
          "TABLE", options->table,
          "evaluations (default), shapes, samples, launches, runs, turns, answers (of eval --jsonl) or published")
      ->check(CLI::IsMember(results::export_names()));
  verb->add_option("--db", options->database, "The database of results; default: hipbench.db");
  verb->add_option("--problem,-p", options->problem, "Only this problem's");
  verb->add_option("--format", options->format, "csv or jsonl; default: jsonl, or as the file's name ends")
      ->check(CLI::IsMember({"csv", "jsonl"}));
  verb->add_option("--output,-o", options->output, "The file to write; default: standard output");
  verb->footer("Examples:\n  hipbench export shapes --format csv > shapes.csv\n  hipbench export turns -o turns.jsonl");
  verb->callback([&action, options] { action = [options] { return export_table(*options); }; });
}

void add_import(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("import", "Take over the evaluations, runs and batches of another database");
  auto options = std::make_shared<ImportOptions>();
  verb->add_option("FILE", options->file, "The other database; with --published a CSV file")->required();
  verb->add_option("--db", options->database, "The database that gets them; default: hipbench.db");
  verb->add_option("--note", options->note, "Kept with where the rows come from");
  verb->add_option(
      "--published", options->source,
      "FILE holds times that others published: problem,shape,what,device,time_us. The source: an address, a paper");
  verb->footer(
      "What is there already is left as it is, so that a later state of the same database may follow.\n\nExamples:\n"
      "  hipbench import colleague.db --note \"from the cluster\"\n"
      "  hipbench import times.csv --published https://example.org/leaderboard");
  verb->callback([&action, options] { action = [options] { return import_file(*options); }; });
}

}  // namespace

void add_transfer_verbs(CLI::App& app, Action& action) {
  add_export(app, action);
  add_import(app, action);
}

}  // namespace hipbench::cli
