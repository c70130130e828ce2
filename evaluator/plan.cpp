// Reading a plan: TOML to the parsed form, with every name and key checked. plan_resolve.cpp turns it into numbers.

#include "evaluator/plan.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "evaluator/plan_block.hpp"

namespace hipbench {
namespace {

constexpr size_t kMaxNames = 256;  // [let] or [workspace] entries
constexpr size_t kMaxOptions = 32, kMaxOptionLength = 256;
constexpr size_t kMaxKernelNameLength = 1024;
constexpr size_t kMaxArguments = 64;

constexpr std::array<std::string_view, 4> kFunctionNames = {"ceil_div", "align_up", "min", "max"};
constexpr std::array<std::string_view, 4> kIntegerTypes = {"i32", "u32", "i64", "u64"};
constexpr std::array<std::string_view, 2> kFloatTypes = {"f32", "f64"};

template <typename Range, typename Item>
bool contains(const Range& range, const Item& item) {
  return std::find(range.begin(), range.end(), item) != range.end();
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Length of the name that `text` starts with.
size_t name_length(std::string_view text) {
  size_t length = 0;
  for (; length < text.size(); ++length) {
    const char c = text[length];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && !(length > 0 && c >= '0' && c <= '9')) break;
  }
  return length;
}
bool is_name(std::string_view text) { return !text.empty() && name_length(text) == text.size(); }

bool all_of(std::string_view text, std::string_view allowed_punctuation) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           allowed_punctuation.find(c) != std::string_view::npos;
  });
}

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

// Candidates choose these texts; whoever reads the message must not get their control characters.
std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text.substr(0, 80)) result += c >= ' ' && c <= '~' ? c : '?';
  return result + (text.size() > 80 ? "...\"" : "\"");
}

bool is_allowed_option(std::string_view option) {
  static const std::set<std::string_view> kExact = {
      "-O",    "-O0",   "-O1", "-O2", "-O3", "-Os", "-Oz", "-Og", "-Ofast", "-ffast-math", "-fno-fast-math",
      "-munsafe-fp-atomics", "-mno-unsafe-fp-atomics"};
  if (kExact.contains(option)) return true;
  if (!option.starts_with("-D") || !is_printable(option)) return false;
  const std::string_view definition = option.substr(2);
  return is_name(definition.substr(0, definition.find('=')));
}
bool is_allowed_llvm_option(std::string_view option) {
  return option.starts_with("-amdgpu-") && all_of(option, "-_=.,");
}

}  // namespace

std::string PlanError::where_and_what(std::string_view file) const {
  return fmt::format("{}:{}:{}: {}", file, line, column, message);
}

class PlanReader {
 public:
  PlanReader(std::string_view source, const Problem& problem)
      : source_(source), problem_(problem), block_(find_plan_block(source)) {}

  LaunchPlan read() {
    plan_.problem_ = &problem_;
    const toml::table table = parse_toml();
    check_keys(table, "the plan", {"problem", "options", "let", "workspace", "step"});
    read_problem(table);
    read_options(table);
    read_names(table, "let", plan_.lets_);
    read_names(table, "workspace", plan_.workspaces_);
    read_steps(table);
    check_names_in_expressions();
    sort_lets();
    return std::move(plan_);
  }

 private:
  [[noreturn]] static void fail(SourcePosition at, std::string message) {
    throw PlanError{at.line, at.column, std::move(message)};
  }

  // The TOML begins in the middle of the line that opens the comment.
  SourcePosition map(toml::source_position position) const {
    const auto line = static_cast<int>(position.line), column = static_cast<int>(position.column);
    if (line <= 1) return {block_.start.line, block_.start.column + std::max(column, 1) - 1};
    return {block_.start.line + line - 1, std::max(column, 1)};
  }
  SourcePosition at(const toml::node& node) const { return map(node.source().begin); }
  SourcePosition at(const toml::key& key) const { return map(key.source().begin); }

  toml::table parse_toml() const {
    try {
      return toml::parse(block_.text);
    } catch (const toml::parse_error& error) {
      fail(map(error.source().begin), fmt::format("the launch plan is not TOML: {}", error.description()));
    }
  }

  void check_keys(const toml::table& table, std::string_view what, const std::vector<std::string_view>& known) const {
    for (const auto& [key, node] : table) {
      if (contains(known, key.str())) continue;
      fail(at(key),
           fmt::format("{} has no key {}; the keys are {}", what, in_quotes(key.str()), fmt::join(known, ", ")));
    }
  }

  const std::string& text_of(const toml::node& node, std::string_view what) const {
    const toml::value<std::string>* text = node.as_string();
    if (text == nullptr) fail(at(node), fmt::format("{} must be a string", what));
    return text->get();
  }
  const toml::array& array_of(const toml::node& node, std::string_view what) const {
    const toml::array* array = node.as_array();
    if (array == nullptr) fail(at(node), fmt::format("{} must be an array", what));
    return *array;
  }

  // Whether `text` stands verbatim behind the opening quote at `position`, so that offsets in it are columns.
  bool stands_verbatim(SourcePosition position, std::string_view text) const {
    size_t offset = static_cast<size_t>(block_.text.data() - source_.data());
    offset -= static_cast<size_t>(block_.start.column - 1);
    for (int line = block_.start.line; line < position.line; ++line) {
      offset = source_.find('\n', offset);
      if (offset == std::string_view::npos) return false;
      ++offset;
    }
    offset += static_cast<size_t>(position.column - 1);
    if (offset >= source_.size()) return false;
    const char quote = source_[offset];
    return (quote == '"' || quote == '\'') && source_.substr(offset + 1, text.size()) == text &&
           source_.substr(offset + 1 + text.size(), 1) == std::string_view(&quote, 1);
  }

  // An expression that starts `skip` characters into the string at `position`.
  LaunchPlan::Value parse_value(SourcePosition position, std::string_view whole, size_t skip) const {
    const bool exact = stands_verbatim(position, whole);
    SourcePosition start = position;
    if (exact) start.column += 1 + static_cast<int>(skip);
    try {
      return {Expression::parse(whole.substr(skip)), start, exact};
    } catch (const ExpressionError& error) {
      fail({start.line, start.column + (exact ? static_cast<int>(error.offset) : 0)}, error.message);
    }
  }

  LaunchPlan::Value value_of(const toml::node& node, std::string_view what) const {
    if (const toml::value<int64_t>* number = node.as_integer()) {
      return {Expression::constant(number->get()), at(node), false};
    }
    if (!node.is_string()) fail(at(node), fmt::format("{} must be an expression in quotes or an integer", what));
    return parse_value(at(node), node.as_string()->get(), 0);
  }

  void read_problem(const toml::table& table) {
    const toml::node* node = table.get("problem");
    if (node == nullptr)
      fail(block_.start, fmt::format("the plan has no key \"problem\"; write problem = \"{}\"", problem_.id()));
    if (text_of(*node, "problem") != problem_.id()) {
      fail(at(*node), fmt::format("the plan is for the problem {}, but is evaluated for {}",
                                  in_quotes(node->as_string()->get()), in_quotes(problem_.id())));
    }
  }

  void read_options(const toml::table& table) {
    const toml::node* node = table.get("options");
    if (node == nullptr) return;
    bool after_mllvm = false;
    for (const toml::node& item : array_of(*node, "options")) {
      const std::string& option = text_of(item, "an option");
      const bool bad_size = option.size() > kMaxOptionLength || plan_.options_.size() >= kMaxOptions;
      if (bad_size) fail(at(item), "at most 32 options of at most 256 characters are allowed");
      constexpr std::string_view kPair = "-mllvm ";
      if (!after_mllvm && option.starts_with(kPair) && is_allowed_llvm_option(trim(option.substr(kPair.size())))) {
        plan_.options_.insert(plan_.options_.end(), {"-mllvm", std::string(trim(option.substr(kPair.size())))});
        continue;
      }
      if (after_mllvm ? !is_allowed_llvm_option(option) : option != "-mllvm" && !is_allowed_option(option)) {
        fail(at(item), fmt::format("the option {} is not allowed{}; allowed are -O*, -DNAME[=VALUE], -f[no-]fast-math, "
                                   "-m[no-]unsafe-fp-atomics and -mllvm -amdgpu-*",
                                   in_quotes(option), after_mllvm ? " after -mllvm" : ""));
      }
      after_mllvm = option == "-mllvm";
      plan_.options_.push_back(option);
    }
    if (after_mllvm) fail(at(*node), "-mllvm is the last option; it needs an -amdgpu-* option after it");
  }

  const PointerField* pointer_field(std::string_view name) const {
    for (const PointerField& field : problem_.pointer_fields()) {
      if (field.name == name) return &field;
    }
    return nullptr;
  }
  bool is_integer_field(std::string_view name) const {
    const auto fields = problem_.integer_fields();
    return std::any_of(fields.begin(), fields.end(), [&](const IntegerField& field) { return field.name == name; });
  }
  static bool is_listed(const std::vector<LaunchPlan::Named>& list, std::string_view name) {
    return std::any_of(list.begin(), list.end(), [&](const LaunchPlan::Named& named) { return named.name == name; });
  }

  void read_names(const toml::table& table, std::string_view section, std::vector<LaunchPlan::Named>& into) {
    const toml::node* node = table.get(section);
    if (node == nullptr) return;
    if (!node->is_table()) fail(at(*node), fmt::format("{0} must be a table: [{0}]", section));
    for (const auto& [key, value] : *node->as_table()) {
      const std::string name(key.str());
      if (!is_name(name)) fail(at(key), fmt::format("{} is not a name (letters, digits and _)", in_quotes(name)));
      const bool taken = section == "let" ? is_integer_field(name) || contains(kFunctionNames, name)
                                          : pointer_field(name) != nullptr;
      if (taken) fail(at(key), fmt::format("the name {} is taken by the problem or a function", name));
      if (into.size() >= kMaxNames) fail(at(key), fmt::format("[{}] has more than {} names", section, kMaxNames));
      into.push_back({name, value_of(value, name)});
    }
  }

  void read_steps(const toml::table& table) {
    const toml::node* node = table.get("step");
    if (node == nullptr) fail(block_.start, "the plan has no [[step]]");
    if (!node->is_array_of_tables()) fail(at(*node), "step must be an array of tables: [[step]]");
    for (const toml::node& item : *node->as_array()) {
      if (plan_.steps_.size() >= kMaxSteps) fail(at(item), fmt::format("a plan has at most {} steps", kMaxSteps));
      plan_.steps_.push_back(read_step(*item.as_table()));
    }
  }

  LaunchPlan::Step read_step(const toml::table& table) const {
    LaunchPlan::Step step;
    step.at = at(table);
    const toml::node *kernel = table.get("kernel"), *memset = table.get("memset");
    if ((kernel == nullptr) == (memset == nullptr)) fail(step.at, "a step has either \"kernel\" or \"memset\"");
    if (const toml::node* when = table.get("when")) step.when = value_of(*when, "when");
    if (memset != nullptr) {
      check_keys(table, "a memset step", {"memset", "value", "when"});
      read_memset(table, *memset, step);
      return step;
    }
    check_keys(table, "a kernel step", {"kernel", "grid", "block", "lds", "args", "when", "cooperative"});
    step.at = at(*kernel);
    step.kernel = trim(text_of(*kernel, "kernel"));
    if (step.kernel.empty() || step.kernel.size() > kMaxKernelNameLength || !is_printable(step.kernel)) {
      fail(at(*kernel), "kernel must be a kernel's name or name expression");
    }
    step.grid = read_extent(table, "grid");
    step.block = read_extent(table, "block");
    if (const toml::node* lds = table.get("lds")) step.lds = value_of(*lds, "lds");
    if (const toml::node* cooperative = table.get("cooperative")) {
      if (!cooperative->is_boolean()) fail(at(*cooperative), "cooperative must be true or false");
      step.cooperative = cooperative->as_boolean()->get();
    }
    if (const toml::node* args = table.get("args")) {
      for (const toml::node& item : array_of(*args, "args")) {
        if (step.arguments.size() >= kMaxArguments) fail(at(item), "a kernel has at most 64 arguments in a plan");
        step.arguments.push_back(read_argument(item));
      }
    }
    return step;
  }

  void read_memset(const toml::table& table, const toml::node& memset, LaunchPlan::Step& step) const {
    step.memset = text_of(memset, "memset");
    step.memset_at = at(memset);
    const PointerField* field = pointer_field(step.memset);
    if (field != nullptr && field->access != Access::Out) {
      fail(at(memset), fmt::format("memset: {} is an input; a workspace or an OUT buffer can be set", step.memset));
    }
    if (field == nullptr && !is_listed(plan_.workspaces_, step.memset)) {
      fail(at(memset), fmt::format("memset: {} is no workspace and no OUT buffer", in_quotes(step.memset)));
    }
    if (const toml::node* value = table.get("value")) step.memset_value = value_of(*value, "value");
  }

  std::vector<LaunchPlan::Value> read_extent(const toml::table& table, std::string_view key) const {
    std::vector<LaunchPlan::Value> result;
    const toml::node* node = table.get(key);
    if (node == nullptr) return result;
    const toml::array& array = array_of(*node, key);
    if (array.empty() || array.size() > 3) fail(at(*node), fmt::format("{} has one to three numbers: x, y, z", key));
    for (const toml::node& item : array) result.push_back(value_of(item, key));
    return result;
  }

  LaunchPlan::Argument read_argument(const toml::node& node) const {
    const std::string& text = text_of(node, "an argument");
    LaunchPlan::Argument argument;
    argument.at = at(node);
    if (trim(text) == "@args") return argument;
    const size_t first = text.find_first_not_of(" \t");
    const size_t start = first == std::string::npos ? text.size() : first;
    const size_t length = name_length(std::string_view(text).substr(start));
    const std::string name = text.substr(start, length);
    const std::string_view rest = trim(std::string_view(text).substr(start + length));
    if (rest.starts_with(":") && (contains(kIntegerTypes, name) || contains(kFloatTypes, name))) {
      argument.kind = ResolvedArgument::Kind::Scalar;
      argument.scalar_type = name;
      if (contains(kFloatTypes, name)) {
        argument.literal = read_float(argument.at, trim(rest.substr(1)), name == "f32");
      } else {
        argument.value = parse_value(argument.at, text, text.find(':') + 1);
      }
      return argument;
    }
    if (pointer_field(name) == nullptr && !is_listed(plan_.workspaces_, name)) {
      fail(argument.at, fmt::format("{} is no argument: write @args, a pointer field, a workspace, either of these "
                                    "+ a byte offset, or a number like i32:expression or f32:literal",
                                    in_quotes(text)));
    }
    argument.kind = ResolvedArgument::Kind::Pointer;
    argument.buffer = name;
    if (rest.empty()) return argument;
    if (!rest.starts_with("+")) {
      fail(argument.at,
           fmt::format("after the buffer {} only \"+ byte expression\" can stand, got {}", name, in_quotes(rest)));
    }
    argument.value = parse_value(argument.at, text, text.find('+') + 1);
    return argument;
  }

  static double read_float(SourcePosition position, std::string_view text, bool single) {
    if (text.starts_with("+")) text.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) ||
        (single && std::abs(value) > std::numeric_limits<float>::max())) {
      fail(position, fmt::format("{} is not a finite decimal number of that type", in_quotes(text)));
    }
    return value;
  }

  void check_value(const LaunchPlan::Value& value) const {
    for (const Expression::NameUse& use : value.expression.names()) {
      if (is_integer_field(use.name) || is_listed(plan_.lets_, use.name)) continue;
      std::string known;
      for (const IntegerField& field : problem_.integer_fields()) known += (known.empty() ? "" : ", ") + field.name;
      fail({value.at.line, value.at.column + (value.columns_exact ? static_cast<int>(use.offset) : 0)},
           fmt::format("there is no name {} here; names are the [let] names and {}", in_quotes(use.name), known));
    }
  }

  void check_names_in_expressions() const {
    for (const auto* list : {&plan_.lets_, &plan_.workspaces_}) {
      for (const LaunchPlan::Named& named : *list) check_value(named.value);
    }
    for (const LaunchPlan::Step& step : plan_.steps_) {
      for (const auto* value : {&step.when, &step.memset_value, &step.lds}) {
        if (*value) check_value(**value);
      }
      for (const auto* extent : {&step.grid, &step.block}) {
        for (const LaunchPlan::Value& value : *extent) check_value(value);
      }
      for (const LaunchPlan::Argument& argument : step.arguments) {
        if (argument.value) check_value(*argument.value);
      }
    }
  }

  // Orders the lets so that each stands after the ones it uses; a cycle has no such order.
  void sort_lets() {
    const std::vector<LaunchPlan::Named> lets = std::move(plan_.lets_);
    plan_.lets_.clear();
    std::map<std::string, std::set<std::string>> waiting;  // a name and the lets it still waits for
    for (const LaunchPlan::Named& let : lets) waiting[let.name];
    for (const LaunchPlan::Named& let : lets) {
      for (const Expression::NameUse& use : let.value.expression.names()) {
        if (waiting.contains(use.name)) waiting[let.name].insert(use.name);
      }
    }
    while (!waiting.empty()) {
      const auto ready =
          std::find_if(waiting.begin(), waiting.end(), [](const auto& entry) { return entry.second.empty(); });
      if (ready == waiting.end()) fail_cycle(lets, waiting);
      const std::string name = ready->first;
      plan_.lets_.push_back(*find_let(lets, name));
      waiting.erase(ready);
      for (auto& [other, uses] : waiting) uses.erase(name);
    }
  }

  static std::vector<LaunchPlan::Named>::const_iterator find_let(const std::vector<LaunchPlan::Named>& lets,
                                                                 std::string_view name) {
    return std::find_if(lets.begin(), lets.end(), [&](const LaunchPlan::Named& let) { return let.name == name; });
  }

  // Every waiting name uses another waiting one; following them ends in the cycle.
  [[noreturn]] static void fail_cycle(const std::vector<LaunchPlan::Named>& lets,
                                      const std::map<std::string, std::set<std::string>>& waiting) {
    std::vector<std::string> path = {waiting.begin()->first};
    while (std::find(path.begin(), path.end() - 1, path.back()) == path.end() - 1) {
      path.push_back(*waiting.at(path.back()).begin());
    }
    const auto start = std::find(path.begin(), path.end() - 1, path.back());
    fail(find_let(lets, *start)->value.at, fmt::format("the [let] names depend on each other in a circle: {}",
                                                       fmt::join(std::vector<std::string>(start, path.end()), " -> ")));
  }

  std::string_view source_;
  const Problem& problem_;
  PlanBlock block_;
  LaunchPlan plan_;
};

std::variant<LaunchPlan, PlanError> LaunchPlan::parse(std::string_view source, const Problem& problem) {
  try {
    LaunchPlan plan = PlanReader(source, problem).read();
    for (const ShapeSet set : {ShapeSet::Quick, ShapeSet::Tests, ShapeSet::Benchmarks}) {
      for (const ListedShape& listed : problem.shapes(set)) {
        std::variant<ResolvedPlan, PlanError> resolved = plan.resolve(listed.shape);
        if (PlanError* error = std::get_if<PlanError>(&resolved)) return std::move(*error);
      }
    }
    return plan;
  } catch (PlanError& error) {
    return std::move(error);
  }
}

std::vector<std::string> LaunchPlan::kernel_names() const {
  std::vector<std::string> names;
  for (const Step& step : steps_) {
    if (!step.kernel.empty() && !contains(names, step.kernel)) names.push_back(step.kernel);
  }
  return names;
}

}  // namespace hipbench
