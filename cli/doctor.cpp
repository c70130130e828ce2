#include "cli/doctor.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cli/doctor_checks.hpp"
#include "cli/text.hpp"
#include "common/json.hpp"

namespace hipbench {

namespace {

constexpr std::string_view kSchema = "hipbench.doctor/1";

struct Look {
  const char* name;   // in JSON
  const char* sign;   // on a terminal
  const char* color;  // ANSI
};

Look look_of(Finding::State state) {
  switch (state) {
    case Finding::State::Fine:
      return {"fine", "ok", "\033[32m"};
    case Finding::State::Limited:
      return {"limited", "--", "\033[33m"};
    case Finding::State::Broken:
      return {"broken", "!!", "\033[31m"};
  }
  return {"broken", "!!", "\033[31m"};
}

void print_table(const std::vector<Finding>& findings) {
  const bool colors = ::isatty(STDOUT_FILENO) == 1;
  size_t width = 0;
  for (const Finding& finding : findings) width = std::max(width, finding.part.size());
  for (const Finding& finding : findings) {
    const Look look = look_of(finding.state);
    fmt::print("{}{}{}  {:<{}}  {}\n", colors ? look.color : "", look.sign, colors ? "\033[0m" : "", finding.part,
               width, finding.detail);
    if (!finding.remedy.empty()) fmt::print("{:{}}→ {}\n", "", width + 6, finding.remedy);
  }
}

void print_json(const std::vector<Finding>& findings, bool fine) {
  Json parts = Json::array();
  for (const Finding& finding : findings) {
    Json part = {{"part", finding.part}, {"state", look_of(finding.state).name}, {"detail", finding.detail}};
    if (!finding.remedy.empty()) part["remedy"] = finding.remedy;
    parts.push_back(std::move(part));
  }
  const Json document = {{"schema", kSchema}, {"fine", fine}, {"parts", std::move(parts)}};
  // File names may hold any bytes; JSON may not.
  std::puts(json_text(document, 2).c_str());
}

}  // namespace

std::vector<Finding> examine_machine() {
  std::vector<Finding> findings;
  doctor::examine_toolchain(findings);
  doctor::examine_own_programs(findings);
  doctor::examine_sandbox(findings);
  doctor::examine_cpu_and_memory(findings);
  doctor::examine_rocm(findings);
  return findings;
}

int doctor_main(std::span<const std::string> args) {
  bool json = false;
  for (const std::string& argument : args) {
    if (argument == "--json") {
      json = true;
      continue;
    }
    if (argument != "-h" && argument != "--help")
      return cli::fail(
          cli::kWrongUsage,
          fmt::format("doctor takes --json or nothing, not {}\n`hipbench doctor --help` shows what is allowed",
                      argument));
    fmt::print(
        "usage: hipbench doctor [--json]\nWhat works on this machine, what is missing and the command that mends it.\n"
        "Exit status: 0 nothing is broken, 3 something is.\n");
    return 0;
  }
  const std::vector<Finding> findings = examine_machine();
  const auto broken = std::count_if(findings.begin(), findings.end(),
                                    [](const Finding& finding) { return finding.state == Finding::State::Broken; });
  if (json) {
    print_json(findings, broken == 0);
  } else {
    print_table(findings);
    fmt::print("\n{}\n", broken == 0 ? "Everything that hipbench needs is there."
                                     : fmt::format("{} broken: see the arrows above.", broken));
  }
  return broken == 0 ? 0 : cli::kEnvironmentFailed;
}

}  // namespace hipbench
