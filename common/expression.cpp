#include "common/expression.hpp"

#include <array>
#include <limits>
#include <utility>

namespace hipbench {

enum class Operator {
  Constant, Name, Negate, Not,
  Multiply, Divide, Remainder, Add, Subtract,
  Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual,
  And, Or, Conditional,
  CeilDiv, AlignUp, Min, Max,
};

struct Expression::Node {
  Operator op;
  size_t offset;  // of the operator, constant or name in the text
  int64_t constant = 0;
  std::string name;
  std::vector<std::shared_ptr<const Node>> operands;
};

namespace {

using Node = Expression::Node;
using NodePointer = std::shared_ptr<const Node>;

// Bounds the recursion on hostile input; both far beyond what anybody writes.
constexpr size_t kMaxLength = 4096;
constexpr int kMaxDepth = 100;

struct BinaryOperator {
  std::string_view text;
  Operator op;
  int precedence;  // C's order; larger binds tighter
};
// Longer spellings first, so that "<=" is not read as "<".
constexpr std::array<BinaryOperator, 13> kBinaryOperators = {{
    {"||", Operator::Or, 1}, {"&&", Operator::And, 2}, {"==", Operator::Equal, 3}, {"!=", Operator::NotEqual, 3},
    {"<=", Operator::LessEqual, 4}, {">=", Operator::GreaterEqual, 4}, {"<", Operator::Less, 4},
    {">", Operator::Greater, 4}, {"+", Operator::Add, 5}, {"-", Operator::Subtract, 5}, {"*", Operator::Multiply, 6},
    {"/", Operator::Divide, 6}, {"%", Operator::Remainder, 6},
}};

struct Function {
  std::string_view name;
  Operator op;
};
constexpr std::array<Function, 4> kFunctions = {{{"ceil_div", Operator::CeilDiv},
                                                 {"align_up", Operator::AlignUp},
                                                 {"min", Operator::Min},
                                                 {"max", Operator::Max}}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {
    if (text.size() > kMaxLength) fail(0, "the expression is longer than 4096 characters");
  }

  NodePointer parse() {
    NodePointer result = conditional();
    if (skip_blanks() < text_.size()) fail(at_, "unexpected " + quoted_rest() + " after the expression");
    return result;
  }

 private:
  [[noreturn]] static void fail(size_t offset, std::string message) {
    throw ExpressionError{offset, std::move(message)};
  }

  size_t skip_blanks() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) {
      ++at_;
    }
    return at_;
  }
  std::string quoted_rest() const {
    if (at_ >= text_.size()) return "end";
    const auto byte = static_cast<unsigned char>(text_[at_]);
    return byte < 32 || byte > 126 ? "character" : "'" + std::string(1, text_[at_]) + "'";
  }
  bool accept(std::string_view token) {
    skip_blanks();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token, std::string_view context) {
    if (!accept(token))
      fail(at_, "expected '" + std::string(token) + "' " + std::string(context) + ", got " + quoted_rest());
  }

  static NodePointer make(Operator op, size_t offset, std::vector<NodePointer> operands) {
    return std::make_shared<const Node>(Node{op, offset, 0, "", std::move(operands)});
  }

  // The tree's depth bounds the recursion of everything that walks it, the destructor included. Left-leaning chains
  // like 1+1+1+… are as deep as they are long; kMaxLength bounds those.
  NodePointer conditional() {
    if (++depth_ > kMaxDepth) fail(skip_blanks(), "the expression is nested too deeply");
    NodePointer condition = binary(1);
    const size_t offset = skip_blanks();
    if (accept("?")) {
      NodePointer yes = conditional();
      expect(":", "in a conditional expression");
      NodePointer no = conditional();
      condition = make(Operator::Conditional, offset, {std::move(condition), std::move(yes), std::move(no)});
    }
    --depth_;
    return condition;
  }

  const BinaryOperator* accept_binary(int least_precedence) {
    skip_blanks();
    for (const BinaryOperator& candidate : kBinaryOperators) {
      if (text_.substr(at_, candidate.text.size()) != candidate.text) continue;
      if (candidate.precedence < least_precedence) return nullptr;
      at_ += candidate.text.size();
      return &candidate;
    }
    return nullptr;
  }

  NodePointer binary(int least_precedence) {
    NodePointer left = unary();
    for (size_t offset = skip_blanks(); const BinaryOperator* found = accept_binary(least_precedence);
         offset = skip_blanks()) {
      NodePointer right = binary(found->precedence + 1);
      left = make(found->op, offset, {std::move(left), std::move(right)});
    }
    return left;
  }

  NodePointer unary() {
    if (++depth_ > kMaxDepth) fail(skip_blanks(), "the expression is nested too deeply");
    const size_t offset = skip_blanks();
    NodePointer result;
    if (accept("-")) {
      result = make(Operator::Negate, offset, {unary()});
    } else if (text_.substr(at_, 2) != "!=" && accept("!")) {
      result = make(Operator::Not, offset, {unary()});
    } else {
      result = primary();
    }
    --depth_;
    return result;
  }

  NodePointer primary() {
    const size_t offset = skip_blanks();
    if (accept("(")) {
      NodePointer inner = conditional();
      expect(")", "to close the parenthesis");
      return inner;
    }
    if (at_ < text_.size() && is_digit(text_[at_])) return constant(offset);
    if (at_ < text_.size() && is_name_start(text_[at_])) return name_or_call(offset);
    fail(offset, at_ >= text_.size() ? "the expression ends where a value is expected"
                                     : "expected a number, a name or '(', got " + quoted_rest());
  }

  NodePointer constant(size_t offset) {
    int64_t value = 0;
    for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
      if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, text_[at_] - '0', &value)) {
        fail(offset, "the number does not fit in 64 bits");
      }
    }
    if (at_ < text_.size() && (is_name_start(text_[at_]) || text_[at_] == '.')) {
      fail(at_, "numbers are decimal integers, got " + quoted_rest() + " in one");
    }
    return std::make_shared<const Node>(Node{Operator::Constant, offset, value, "", {}});
  }

  NodePointer name_or_call(size_t offset) {
    while (at_ < text_.size() && (is_name_start(text_[at_]) || is_digit(text_[at_]))) ++at_;
    std::string name(text_.substr(offset, at_ - offset));
    const bool called = skip_blanks() < text_.size() && text_[at_] == '(';
    for (const Function& function : kFunctions) {
      if (function.name != name) continue;
      expect("(", "after " + name);
      NodePointer first = conditional();
      expect(",", "between the two arguments of " + name);
      NodePointer second = conditional();
      expect(")", "after the two arguments of " + name);
      return make(function.op, offset, {std::move(first), std::move(second)});
    }
    if (called) fail(offset, "there is no function " + name + "; there are ceil_div, align_up, min and max");
    return std::make_shared<const Node>(Node{Operator::Name, offset, 0, std::move(name), {}});
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

[[noreturn]] void overflow(const Node& node) {
  throw ExpressionError{node.offset, "the value does not fit in 64 bits"};
}

int64_t divide(const Node& node, int64_t left, int64_t right) {
  if (right == 0) throw ExpressionError{node.offset, "division by zero"};
  if (right == -1 && left == std::numeric_limits<int64_t>::min()) overflow(node);
  return left / right;
}

int64_t ceil_div(const Node& node, int64_t left, int64_t right) {
  const int64_t quotient = divide(node, left, right);
  const bool rounded_down = right != -1 && left % right != 0 && (left < 0) == (right < 0);
  return quotient + (rounded_down ? 1 : 0);
}

int64_t apply(const Node& node, int64_t left, int64_t right) {
  int64_t result = 0;
  switch (node.op) {
    case Operator::Multiply:
      if (__builtin_mul_overflow(left, right, &result)) overflow(node);
      return result;
    case Operator::Add:
      if (__builtin_add_overflow(left, right, &result)) overflow(node);
      return result;
    case Operator::Subtract:
      if (__builtin_sub_overflow(left, right, &result)) overflow(node);
      return result;
    case Operator::Divide: return divide(node, left, right);
    case Operator::Remainder:
      if (right == 0) throw ExpressionError{node.offset, "division by zero"};
      return right == -1 ? 0 : left % right;
    case Operator::Less: return left < right;
    case Operator::LessEqual: return left <= right;
    case Operator::Greater: return left > right;
    case Operator::GreaterEqual: return left >= right;
    case Operator::Equal: return left == right;
    case Operator::NotEqual: return left != right;
    case Operator::CeilDiv: return ceil_div(node, left, right);
    case Operator::AlignUp:
      if (right <= 0) throw ExpressionError{node.offset, "align_up needs a positive alignment"};
      if (__builtin_mul_overflow(ceil_div(node, left, right), right, &result)) overflow(node);
      return result;
    case Operator::Min: return left < right ? left : right;
    default: return left > right ? left : right;  // Max
  }
}

int64_t evaluate_node(const Node& node, const Expression::Lookup& lookup) {
  const auto operand = [&](size_t index) { return evaluate_node(*node.operands[index], lookup); };
  switch (node.op) {
    case Operator::Constant: return node.constant;
    case Operator::Name: return lookup(node.name, node.offset);
    case Operator::Negate: {
      int64_t result = 0;
      if (__builtin_sub_overflow(int64_t{0}, operand(0), &result)) overflow(node);
      return result;
    }
    case Operator::Not: return operand(0) == 0;
    case Operator::And: return operand(0) != 0 && operand(1) != 0;
    case Operator::Or: return operand(0) != 0 || operand(1) != 0;
    case Operator::Conditional: return operand(0) != 0 ? operand(1) : operand(2);
    default: {
      const int64_t left = operand(0);
      return apply(node, left, operand(1));
    }
  }
}

void collect_names(const Node& node, std::vector<Expression::NameUse>& names) {
  if (node.op == Operator::Name) names.push_back({node.name, node.offset});
  for (const NodePointer& operand : node.operands) collect_names(*operand, names);
}

}  // namespace

Expression Expression::parse(std::string_view text) { return Expression(Parser(text).parse()); }

Expression Expression::constant(int64_t value) {
  return Expression(std::make_shared<const Node>(Node{Operator::Constant, 0, value, "", {}}));
}

int64_t Expression::evaluate(const Lookup& lookup) const { return evaluate_node(*root_, lookup); }

std::vector<Expression::NameUse> Expression::names() const {
  std::vector<NameUse> result;
  collect_names(*root_, result);
  return result;
}

}  // namespace hipbench
