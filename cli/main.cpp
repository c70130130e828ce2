// hipbench: the command line. Each verb lives in a file of its own.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "cli/doctor.hpp"
#include "cli/emulate.hpp"
#include "cli/hipcc.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"

namespace {

using namespace hipbench;

// Verbs whose arguments are not ours to read: they are handed on as they are, unknown options and `--` included.
struct Passthrough {
  const char* name;
  const char* help;
  int (*run)(std::span<const std::string> args);
};
constexpr Passthrough kPassthroughs[] = {
    {"hipcc", "Compile any HIP program for gfx942; the arguments are clang's", hipcc_main},
    {"emulate", "Run any HIP program on the emulated MI300X: hipbench emulate -- PROGRAM ARGS", emulate_main},
    {"doctor", "What works on this machine, what is missing and the command that mends it", doctor_main},
};

int check_output(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  return cli::fail(cli::kEnvironmentFailed, "standard output could not be written; is its disk full?");
}

// What is wrong, what may have been meant, and where the verb says what it takes.
int wrong_usage(const CLI::App& app, const std::string& verb, const CLI::ParseError& error) {
  std::string message = error.what();
  while (!message.empty() && message.back() == '\n') message.pop_back();
  const bool known = !verb.empty() && verb[0] != '-';  // others were refused before
  if (known && dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    std::vector<std::string> options;
    for (const CLI::Option* option : app.get_subcommand(verb)->get_options())
      for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
    if (const size_t at = message.rfind(" --"); at != std::string::npos)
      message += cli::suggestion(message.substr(at + 1), options);
  }
  return cli::fail(cli::kWrongUsage,
                   fmt::format("{}\n`hipbench {}--help` shows what is allowed", message, known ? verb + " " : ""));
}

int parse_and_run(int argc, char** argv) {
  CLI::App app("hipbench: evaluate HIP kernels for AMD Instinct MI300X, on any machine");
  app.name("hipbench");
  app.set_version_flag("--version", "hipbench " HIPBENCH_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n  hipbench init fp8_gemm gemm.hip\n  hipbench eval gemm.hip --problem fp8_gemm\n"
      "  hipbench VERB --help tells more about a verb.\n\n"
      "Exit status: 0 all candidates passed, 1 one did not, 2 wrong usage, 3 the environment failed.");
  cli::Action action;
  cli::add_problem_verbs(app, action);
  cli::add_evaluate_verbs(app, action);
  cli::add_tensor_verbs(app, action);
  cli::add_profile_verb(app, action);
  cli::add_generate_verb(app, action);
  cli::add_mcp_verb(app, action);
  cli::add_report_verbs(app, action);
  cli::add_transfer_verbs(app, action);
  cli::add_result_verbs(app, action);
  cli::add_serve_verb(app, action);
  for (const Passthrough& verb : kPassthroughs) app.add_subcommand(verb.name, verb.help)->prefix_command();

  std::vector<std::string> verbs;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    verbs.push_back(verb->get_name());
  const std::string first = argc > 1 ? argv[1] : "";
  if (!first.empty() && first[0] != '-' && std::find(verbs.begin(), verbs.end(), first) == verbs.end()) {
    return cli::fail(cli::kWrongUsage, fmt::format("there is no verb \"{}\"{}", first, cli::suggestion(first, verbs)) +
                                           "\n`hipbench --help` shows what is allowed");
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // prints help or the version
    return wrong_usage(app, first, error);
  }
  return action();
}

}  // namespace

int main(int argc, char** argv) {
  // build/hipcc is a link to this program, for build systems that want one word: make HIPCC=build/hipcc.
  if (argc > 0 && std::filesystem::path(argv[0]).filename() == "hipcc")
    return hipcc_main(std::vector<std::string>(argv + 1, argv + argc));
  for (const Passthrough& verb : kPassthroughs) {
    if (argc > 1 && std::string_view(argv[1]) == verb.name)
      return verb.run(std::vector<std::string>(argv + 2, argv + argc));
  }
  try {
    return check_output(parse_and_run(argc, argv));
  } catch (const std::system_error& error) {  // fmt says so of what it cannot write
    return cli::fail(cli::kEnvironmentFailed, fmt::format("standard output could not be written: {}", error.what()));
  }
}
