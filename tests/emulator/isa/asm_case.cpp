#include "tests/emulator/isa/asm_case.hpp"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "emulator/isa/float_formats.hpp"

namespace hipbench::emulator {

namespace {

std::string trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return std::string(text);
}

void add_assignments(std::string_view line, std::vector<AsmAssignment>& to) {
  while (!line.empty()) {
    const size_t end = line.find(';');
    const std::string part = trim(line.substr(0, end));
    line = end == std::string_view::npos ? std::string_view{} : line.substr(end + 1);
    if (part.empty()) continue;
    const size_t formula = part.find(" := "), list = part.find(" = ");
    const bool is_formula = formula != std::string::npos && formula < list;
    const size_t at = is_formula ? formula : list;
    if (at == std::string::npos) throw std::runtime_error("not an assignment: " + part);
    to.push_back({trim(part.substr(0, at)), trim(part.substr(at + (is_formula ? 4 : 3))), is_formula});
  }
}

// ---- Values ----

AsmValue parse_float(std::string text, char format) {
  AsmValue value;
  const bool negative = text.starts_with('-');
  if (text.ends_with("nan")) {
    value.nan = format;
    value.bits = format == 'f' ? 0x7fc00000 : format == 'h' ? 0x7e00 : 0x7ff8000000000000;
    if (negative) value.bits |= format == 'f' ? 0x80000000 : format == 'h' ? 0x8000 : u64{1} << 63;
    return value;
  }
  char* end = nullptr;
  const f64 number = std::strtod(text.c_str(), &end);
  if (*end != 0) throw std::runtime_error("not a number: " + text);
  // strtof rounds once; through f64 it would be twice.
  if (format == 'f') value.bits = std::bit_cast<u32>(std::strtof(text.c_str(), nullptr));
  if (format == 'h') value.bits = f64_to_f16(number);
  if (format == 'd') value.bits = std::bit_cast<u64>(number);
  return value;
}

u64 mask_of(u32 width) { return width == 64 ? ~u64{0} : (u64{1} << width) - 1; }

AsmValue parse_value(std::string_view text, u32 width) {
  if (text == "?") {
    AsmValue value;
    value.any = true;
    return value;
  }
  if (const size_t colon = text.find(':'); colon != std::string_view::npos) {
    AsmValue value;
    value.parts = {parse_value(text.substr(0, colon), 16), parse_value(text.substr(colon + 1), 16)};
    value.bits = value.parts[0].bits | value.parts[1].bits << 16;
    return value;
  }
  if (const size_t tilde = text.find('~'); tilde != std::string_view::npos) {
    AsmValue value = parse_value(text.substr(0, tilde), width);
    value.ulp = static_cast<u32>(std::strtoul(std::string(text.substr(tilde + 1)).c_str(), nullptr, 10));
    return value;
  }
  const char last = text.back();
  const bool hex = text.find("0x") != std::string_view::npos;
  const bool is_float =
      hex ? text.find_first_of("p.") != std::string_view::npos : last == 'f' || last == 'h' || last == 'd';
  if (is_float) return parse_float(std::string(text.substr(0, text.size() - 1)), last);
  AsmValue value;
  const bool negative = text.front() == '-';
  const u64 magnitude = std::strtoull(std::string(text.substr(negative ? 1 : 0)).c_str(), nullptr, 0);
  value.bits = (negative ? 0 - magnitude : magnitude) & mask_of(width);
  return value;
}

bool is_nan_of(u64 bits, char format) {
  if (format == 'f') return (bits & 0x7fffffff) > 0x7f800000;
  if (format == 'h') return (bits & 0x7fff) > 0x7c00;
  return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000;
}

// ---- Formulas: precedence climbing ----

class Formula {
 public:
  Formula(std::string_view text, i64 variable) : text_(text), variable_(variable) {}
  i64 evaluate() {
    const i64 value = conditional();
    skip();
    if (at_ != text_.size()) throw std::runtime_error("formula: unexpected '" + std::string(text_.substr(at_)) + "'");
    return value;
  }

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(std::string_view token) {
    skip();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  i64 conditional() {
    const i64 condition = binary(0);
    if (!take("?")) return condition;
    const i64 yes = conditional();
    if (!take(":")) throw std::runtime_error("formula: ':' missing");
    const i64 no = conditional();
    return condition != 0 ? yes : no;
  }
  struct Operator {
    std::string_view token;
    int precedence;
  };
  const Operator* next_operator() {
    static constexpr Operator kOperators[] = {{"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<<", 8}, {">>", 8},
                                              {"<=", 7}, {">=", 7}, {"|", 3},  {"^", 4},  {"&", 5},  {"<", 7},
                                              {">", 7},  {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}};
    skip();
    for (const Operator& candidate : kOperators)
      if (text_.substr(at_).starts_with(candidate.token)) return &candidate;
    return nullptr;
  }
  static i64 apply(std::string_view token, i64 a, i64 b) {
    const u64 x = static_cast<u64>(a), y = static_cast<u64>(b);
    if (token == "||") return a != 0 || b != 0;
    if (token == "&&") return a != 0 && b != 0;
    if (token == "==") return a == b;
    if (token == "!=") return a != b;
    if (token == "<=") return a <= b;
    if (token == ">=") return a >= b;
    if (token == "<") return a < b;
    if (token == ">") return a > b;
    if (token == "<<") return static_cast<i64>(x << (y & 63));
    if (token == ">>") return a >> (y & 63);
    if (token == "|") return a | b;
    if (token == "^") return a ^ b;
    if (token == "&") return a & b;
    if (token == "+") return static_cast<i64>(x + y);
    if (token == "-") return static_cast<i64>(x - y);
    if (token == "*") return static_cast<i64>(x * y);
    if (b == 0) throw std::runtime_error("formula: division by zero");
    return token == "/" ? a / b : a % b;
  }
  i64 binary(int lowest) {
    i64 left = unary();
    for (const Operator* next = next_operator(); next != nullptr && next->precedence > lowest; next = next_operator()) {
      at_ += next->token.size();
      left = apply(next->token, left, binary(next->precedence));
    }
    return left;
  }
  i64 unary() {
    if (take("-")) return static_cast<i64>(0 - static_cast<u64>(unary()));
    if (take("~")) return ~unary();
    if (take("!")) return unary() == 0;
    if (take("(")) {
      const i64 value = conditional();
      if (!take(")")) throw std::runtime_error("formula: ')' missing");
      return value;
    }
    if (take("lane") || take("i")) return variable_;
    skip();
    const std::string rest(text_.substr(at_));
    char* end = nullptr;
    const u64 value = std::strtoull(rest.c_str(), &end, 0);
    if (end == rest.c_str()) throw std::runtime_error("formula: unexpected '" + rest + "'");
    at_ += static_cast<size_t>(end - rest.c_str());
    return static_cast<i64>(value);
  }

  std::string_view text_;
  size_t at_ = 0;
  i64 variable_;
};

}  // namespace

namespace {

// ---- Families: "@ NAME = values" lines; those that begin with "@@" start another axis ----

struct Variable {
  std::string name;
  std::vector<std::string> values;
};
struct CaseText {
  std::string name;
  std::vector<std::string> lines;
  std::vector<std::vector<Variable>> axes;
};

// Words, or what lies between " | ".
std::vector<std::string> split_values(std::string_view text) {
  const bool bars = text.find(" | ") != std::string_view::npos;
  const std::string_view separator = bars ? " | " : " ";
  std::vector<std::string> values;
  while (!text.empty()) {
    const size_t end = text.find(separator);
    if (std::string value = trim(text.substr(0, end)); !value.empty()) values.push_back(std::move(value));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + separator.size());
  }
  return values;
}

void add_variable(std::string_view line, CaseText& text) {
  const bool new_axis = line.starts_with("@@");
  line.remove_prefix(new_axis ? 2 : 1);
  const size_t equals = line.find(" = ");
  if (equals == std::string_view::npos)
    throw std::runtime_error(text.name + ": not a list of a family: " + std::string(line));
  if (new_axis || text.axes.empty()) text.axes.emplace_back();
  Variable variable{trim(line.substr(0, equals)), split_values(line.substr(equals + 3))};
  std::vector<Variable>& axis = text.axes.back();
  if (!axis.empty() && axis.front().values.size() != variable.values.size())
    throw std::runtime_error(text.name + ": the lists of an axis have different lengths: " + variable.name);
  axis.push_back(std::move(variable));
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

AsmCase parse_case(const std::string& name, const std::vector<std::string>& lines) {
  AsmCase result{name, "", {}, {}, ""};
  for (const std::string& line : lines) {
    if (line.starts_with("> ")) result.snippet += line.substr(2) + "\n";
    else if (line.starts_with("fault ")) result.fault = trim(line.substr(6));
    else add_assignments(line, result.snippet.empty() ? result.before : result.after);
  }
  return result;
}

// One case for each choice on every axis; later lists may name earlier ones.
void expand(const CaseText& text, std::vector<AsmCase>& cases) {
  size_t members = 1;
  for (const std::vector<Variable>& axis : text.axes) members *= axis.front().values.size();
  for (size_t member = 0; member < members; ++member) {
    std::vector<std::pair<std::string, std::string>> chosen;
    size_t rest = member;
    for (const std::vector<Variable>& axis : text.axes) {
      const size_t choice = rest % axis.front().values.size();
      rest /= axis.front().values.size();
      for (const Variable& variable : axis) chosen.emplace_back("{" + variable.name + "}", variable.values[choice]);
    }
    const auto substitute = [&](std::string line) {
      for (auto variable = chosen.rbegin(); variable != chosen.rend(); ++variable)
        replace_all(line, variable->first, variable->second);
      return line;
    };
    std::vector<std::string> lines;
    for (const std::string& line : text.lines) lines.push_back(substitute(line));
    cases.push_back(parse_case(substitute(text.name), lines));
  }
}

}  // namespace

std::vector<AsmCase> read_asm_cases(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  const std::string stem = std::filesystem::path(path).filename().string();
  std::vector<CaseText> texts;
  u32 number = 0;
  for (std::string raw; std::getline(file, raw);) {
    ++number;
    const bool code = raw.starts_with("> ");
    const std::string line = code ? raw : trim(std::string_view(raw).substr(0, raw.find('#')));
    if (line.starts_with("=="))
      texts.push_back({stem + ":" + std::to_string(number) + ": " + trim(std::string_view(line).substr(2)), {}, {}});
    else if (line.starts_with("@")) add_variable(line, texts.back());
    else if (!line.empty()) texts.back().lines.push_back(line);
  }
  std::vector<AsmCase> cases;
  for (const CaseText& text : texts) expand(text, cases);
  return cases;
}

bool AsmValue::accepts(u64 actual, u32 width) const {
  if (any) return true;
  if (!parts.empty()) return parts[0].accepts(actual & 0xffff, 16) && parts[1].accepts(actual >> 16 & 0xffff, 16);
  if (nan != 0) return is_nan_of(actual, nan);
  if (ulp != 0) {
    const i64 distance = static_cast<i64>(actual) - static_cast<i64>(bits);
    return distance <= static_cast<i64>(ulp) && -distance <= static_cast<i64>(ulp);
  }
  return ((actual ^ bits) & mask_of(width)) == 0;
}

std::vector<AsmValue> parse_asm_list(std::string_view list, u32 width) {
  std::vector<AsmValue> values;
  while (!list.empty()) {
    const size_t end = list.find(' ');
    const std::string_view word = list.substr(0, end);
    if (!word.empty()) values.push_back(parse_value(word, width));
    list = end == std::string_view::npos ? std::string_view{} : list.substr(end + 1);
  }
  return values;
}

i64 evaluate_asm_formula(std::string_view formula, i64 variable) { return Formula(formula, variable).evaluate(); }

}  // namespace hipbench::emulator
