#pragma once
#include <functional>

namespace CLI {
class App;
}

namespace hipbench::cli {

// What the command line asked for; returns the exit status.
using Action = std::function<int()>;

// Each adds its subcommands, which set the action when they are parsed.
void add_problem_verbs(CLI::App& app, Action& action);   // problems, init
void add_evaluate_verbs(CLI::App& app, Action& action);  // eval, check
void add_tensor_verbs(CLI::App& app, Action& action);    // oracle, run
void add_profile_verb(CLI::App& app, Action& action);
void add_generate_verb(CLI::App& app, Action& action);
void add_mcp_verb(CLI::App& app, Action& action);
void add_report_verbs(CLI::App& app, Action& action);    // report, leaderboard, compare
void add_transfer_verbs(CLI::App& app, Action& action);  // export, import
void add_result_verbs(CLI::App& app, Action& action);    // replay, reverify
void add_serve_verb(CLI::App& app, Action& action);

}  // namespace hipbench::cli
