#include "cli/batch_request.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "cli/candidate_file.hpp"
#include "cli/choices.hpp"
#include "cli/text.hpp"
#include "common/files.hpp"

namespace hipbench::cli {

namespace {


constexpr size_t kLongestId = 256;
constexpr double kLongestCompileSeconds = 600, kLongestHostSeconds = 600;
// Where a line gives a source without a name. One name for all, since it is part of what compiled code is cached by.
constexpr const char* kUnnamed = "candidate.hip";

std::string quoted(const Json& value) {
  return shortened(printable_line(json_text(value)), 60);
}

Error wrong_type(std::string_view key, std::string_view wanted, const Json& got) {
  return Error{fmt::format("\"{}\" is {}, not {}", key, wanted, quoted(got))};
}

Result<std::string> read_id(const Json& value) {
  if (value.is_number_integer()) return json_text(value);
  if (!value.is_string()) return wrong_type("id", "a string or an integer", value);
  std::string id = value.get<std::string>();
  if (id.empty() || id.size() > kLongestId)
    return Error{fmt::format("\"id\" has {} bytes; 1 to {} are allowed", id.size(), kLongestId)};
  return id;
}

// An object's keys, each taken once; what is left over nobody knows.
class Fields {
 public:
  explicit Fields(const Json& object) : object_(object) {}

  const Json* take(const char* key) {
    known_.emplace_back(key);
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }

  Result<std::string> text(const char* key, const std::string& otherwise) {
    const Json* value = take(key);
    if (value == nullptr) return otherwise;
    if (!value->is_string()) return wrong_type(key, "a string", *value);
    return value->get<std::string>();
  }

  // A number above 0 and up to `most`.
  Result<double> number(const char* key, double otherwise, double most) {
    const Json* value = take(key);
    if (value == nullptr) return otherwise;
    if (!value->is_number() || !(value->get<double>() > 0) || value->get<double>() > most)
      return wrong_type(key, fmt::format("a number above 0 and up to {:g}", most), *value);
    return value->get<double>();
  }

  Result<void> expect_no_others() const {
    for (const auto& [key, value] : object_.items())
      if (std::find(known_.begin(), known_.end(), key) == known_.end())
        return Error{fmt::format("there is no key \"{}\"{}; the keys are: {}", printable_line(key),
                                 suggestion(key, known_), fmt::join(known_, ", "))};
    return {};
  }

 private:
  const Json& object_;
  std::vector<std::string> known_;
};

Result<void> read_source(Fields& fields, BatchJob& job) {
  const std::string path = TRY(fields.text("path", ""));
  const Json* source = fields.take("source");
  job.file = TRY(fields.text("file", path.empty() ? kUnnamed : path));
  if ((source != nullptr) == !path.empty())
    return Error{"a candidate has either \"source\", its text, or \"path\", its file"};
  if (source == nullptr) {
    job.source = TRY(read_candidate(path));
    return {};
  }
  if (!source->is_string()) return wrong_type("source", "a string", *source);
  job.source = source->get<std::string>();
  return check_candidate_text(job.source, "\"source\"");
}

Result<std::vector<std::string>> read_shapes(Fields& fields, const std::vector<std::string>& otherwise) {
  const Json* value = fields.take("shapes");
  if (value == nullptr) return otherwise;
  if (value->is_string()) return std::vector<std::string>{value->get<std::string>()};
  std::vector<std::string> words;
  if (value->is_array())
    for (const Json& word : *value)
      if (word.is_string()) words.push_back(word.get<std::string>());
  if (words.empty() || words.size() != value->size())
    return wrong_type("shapes", "a string or a list of strings that is not empty", *value);
  return words;
}

Result<std::optional<uint64_t>> read_seed(Fields& fields, std::optional<uint64_t> otherwise) {
  const Json* value = fields.take("seed");
  if (value == nullptr) return otherwise;
  if (value->is_number_unsigned()) return std::optional(value->get<uint64_t>());
  uint64_t seed = 0;
  const std::string text = value->is_string() ? value->get<std::string>() : "";
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    return wrong_type("seed", "a number from 0 to 2^64 - 1, or its decimal digits in a string", *value);
  return std::optional(seed);
}

Result<void> read_limits(Fields& fields, EvaluateOptions& options) {
  const Json* value = fields.take("limits");
  if (value == nullptr) return {};
  if (!value->is_object()) return wrong_type("limits", "an object", *value);
  Fields limits(*value);
  const auto compile = static_cast<double>(options.compile_limit.count());
  options.compile_limit = std::chrono::seconds(
      std::llround(std::ceil(TRY(limits.number("compile_seconds", compile, kLongestCompileSeconds)))));
  const double host = std::chrono::duration<double>(options.host_patience).count();
  options.host_patience = std::chrono::milliseconds(
      std::llround(std::ceil(1e3 * TRY(limits.number("host_seconds", host, kLongestHostSeconds)))));
  options.wave_instructions = static_cast<uint64_t>(TRY(limits.number("wave_instructions", 0, 1e18)));
  return limits.expect_no_others();
}

// What an answer depends on, and nothing else.
std::string hash_of(const BatchJob& job) {
  const EvaluateOptions& o = job.options;
  std::string text = fmt::format(
      "{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n", job.problem->id(), o.track ? to_string(*o.track) : "", to_string(o.device),
      o.seed ? std::to_string(*o.seed) : "", o.compile_limit.count(), o.host_patience.count(), o.wave_instructions,
      fmt::format("{} {} {}", o.keep_going, o.check, o.unsafe_no_sandbox));
  for (const Shape& shape : o.shapes) text += shape.label + "\n";
  return sha256_hex(text + job.source);
}

Result<BatchJob> read_job(Fields& fields, const EvaluateArguments& defaults) {
  EvaluateArguments arguments = defaults;
  arguments.problem = TRY(fields.text("problem", defaults.problem));
  if (arguments.problem.empty()) return Error{"\"problem\" is missing, and the command line gives none (--problem)"};
  arguments.track = TRY(fields.text("track", defaults.track));
  arguments.shapes = TRY(read_shapes(fields, defaults.shapes));
  arguments.seed = TRY(read_seed(fields, defaults.seed));
  const JobPattern pattern = TRY(make_pattern(arguments));
  BatchJob job;
  job.problem = pattern.problem;
  job.options = pattern.options;
  TRY(read_source(fields, job));
  TRY(read_limits(fields, job.options));
  TRY(fields.expect_no_others());
  return job;
}

}  // namespace

BatchRequest parse_batch_request(std::string_view line, const EvaluateArguments& defaults) {
  const Result<Json> parsed = parse_json(line);
  if (!parsed) return InvalidRequest{nullptr, fmt::format("not JSON: {}", printable_line(parsed.error().message))};
  const Json& object = *parsed;
  if (!object.is_object())
    return InvalidRequest{
        nullptr, "a line is a JSON object such as {\"id\": \"1\", \"problem\": …, \"source\": …}, or {\"cancel\": ID}"};
  Fields fields(object);
  if (const Json* cancel = fields.take("cancel")) {
    const Result<std::string> id = read_id(*cancel);
    if (!id) return InvalidRequest{nullptr, "\"cancel\" names a candidate: " + id.error().message};
    if (object.size() != 1) return InvalidRequest{nullptr, "a line with \"cancel\" has no other keys"};
    return CancelRequest{*id};
  }
  const Json* given = fields.take("id");
  if (given == nullptr) return InvalidRequest{nullptr, "\"id\" is missing: every candidate needs one of its own"};
  const Result<std::string> id = read_id(*given);
  if (!id) return InvalidRequest{nullptr, id.error().message};
  Result<BatchJob> job = read_job(fields, defaults);
  if (!job) return InvalidRequest{*given, job.error().message};
  job->id = *id;
  std::string sha256 = hash_of(*job);
  return CandidateRequest{*given, std::move(*job), std::move(sha256)};
}

}  // namespace hipbench::cli
