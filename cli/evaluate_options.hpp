#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/evaluate_files.hpp"

namespace CLI {
class App;
}

namespace hipbench::cli {

// The options that eval, check and profile share, as typed.
struct EvaluateArguments {
  std::string problem, reference, track, device = "auto";
  std::vector<std::string> files, shapes;
  std::optional<uint64_t> seed;
  unsigned threads = 0, jobs = 0;  // 0: as the machine allows
  bool keep_going = false, unsafe_no_sandbox = false, json = false, no_database = false, check = false;
  bool with_baseline = false;
  std::string database = kDefaultDatabase;

  OutputOptions output() const;
};

// The options that one candidate and many share. FILE and --problem may be missing: make_jobs says so.
void add_evaluate_options(CLI::App& verb, EvaluateArguments& arguments);
void add_database_options(CLI::App& verb, EvaluateArguments& arguments);

// What the words ask for, but for the candidate. An Error names what is allowed.
struct JobPattern {
  const Problem* problem = nullptr;
  EvaluateOptions options;
};
Result<JobPattern> make_pattern(const EvaluateArguments& arguments);

// The jobs the arguments ask for, one a file. What is wrong was said on standard error when there is a status instead.
struct Jobs {
  std::vector<Job> jobs;
  std::optional<ExitStatus> refused;
};
Jobs make_jobs(const EvaluateArguments& arguments);

}  // namespace hipbench::cli
