#include "common/expression.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <random>

namespace hipbench {
namespace {

// The value, or nullopt where evaluating or parsing fails.
std::optional<int64_t> value_of(const std::string& text) {
  try {
    return Expression::parse(text).evaluate([](const std::string& name, size_t offset) -> int64_t {
      if (name == "m") return 64;
      if (name == "n") return 576;
      if (name == "big") return int64_t{1} << 40;
      throw ExpressionError{offset, "unknown"};
    });
  } catch (const ExpressionError&) {
    return std::nullopt;
  }
}

std::string error_of(const std::string& text) {
  try {
    const Expression expression = Expression::parse(text);
    return "value " + std::to_string(expression.evaluate([](const std::string&, size_t) { return int64_t{0}; }));
  } catch (const ExpressionError& error) {
    return std::to_string(error.offset) + ": " + error.message;
  }
}

TEST(Expression, HasTheOperatorsAndPrecedenceOfC) {
  EXPECT_EQ(value_of("1 + 2 * 3"), 7);
  EXPECT_EQ(value_of("(1 + 2) * 3"), 9);
  EXPECT_EQ(value_of("10 - 4 - 3"), 3);
  EXPECT_EQ(value_of("100 / 7 / 2"), 7);
  EXPECT_EQ(value_of("2 * 3 % 4"), 2);
  EXPECT_EQ(value_of("1 + 1 == 2 && 3 < 4 || 0"), 1);
  EXPECT_EQ(value_of("1 || 0 && 0"), 1);
  EXPECT_EQ(value_of("3 > 2 > 1"), 0);
  EXPECT_EQ(value_of("!m == 0"), 1);
  EXPECT_EQ(value_of("!!m"), 1);
  EXPECT_EQ(value_of("m != n"), 1);
  EXPECT_EQ(value_of("1<=1"), 1);
  EXPECT_EQ(value_of("2>=3"), 0);
  EXPECT_EQ(value_of("- -5"), 5);
  EXPECT_EQ(value_of("1--5"), 6);
  EXPECT_EQ(value_of("m >= 1024 ? 256 : m >= 64 ? 128 : 64"), 128);
  EXPECT_EQ(value_of("0 ? 1 : 0 ? 2 : 3"), 3);
}

TEST(Expression, DivisionTruncatesTowardsZero) {
  EXPECT_EQ(value_of("7 / 2"), 3);
  EXPECT_EQ(value_of("-7 / 2"), -3);
  EXPECT_EQ(value_of("-7 % 2"), -1);
  EXPECT_EQ(value_of("7 % -2"), 1);
}

TEST(Expression, HasFourFunctions) {
  EXPECT_EQ(value_of("ceil_div(n, 128)"), 5);
  EXPECT_EQ(value_of("ceil_div(512, 128)"), 4);
  EXPECT_EQ(value_of("ceil_div(-7, 2)"), -3);
  EXPECT_EQ(value_of("align_up(n, 128)"), 640);
  EXPECT_EQ(value_of("align_up(0, 128)"), 0);
  EXPECT_EQ(value_of("min(m, n) + max(m, n)"), 640);
  EXPECT_EQ(value_of("min(-1, 1)"), -1);
  EXPECT_EQ(value_of("align_up(5, 0)"), std::nullopt);
  EXPECT_EQ(value_of("ceil_div(5, 0)"), std::nullopt);
}

TEST(Expression, IsExactBeyondFortyBits) {
  EXPECT_EQ(value_of("big * 8388607"), (int64_t{1} << 40) * 8388607);
  EXPECT_EQ(value_of("6144 * 7168 * 4608 * 7168 / 3"), int64_t{6144} * 7168 * 4608 * 7168 / 3);
  EXPECT_EQ(value_of("9223372036854775807"), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(value_of("-9223372036854775807 - 1"), std::numeric_limits<int64_t>::min());
}

TEST(Expression, OverflowAndDivisionByZeroAreErrors) {
  for (const char* text : {"big * big", "9223372036854775807 + 1", "-9223372036854775807 - 2", "9223372036854775808",
                           "1 / 0", "1 % 0", "(-9223372036854775807 - 1) / -1", "-(-9223372036854775807 - 1)",
                           "align_up(9223372036854775807, 2)"}) {
    EXPECT_EQ(value_of(text), std::nullopt) << text;
  }
  EXPECT_EQ(value_of("(-9223372036854775807 - 1) % -1"), 0);
}

TEST(Expression, EvaluatesOnlyWhatIsNeeded) {
  EXPECT_EQ(value_of("m > 0 ? 1 : 1 / 0"), 1);
  EXPECT_EQ(value_of("0 && 1 / 0"), 0);
  EXPECT_EQ(value_of("5 || 1 / 0"), 1);
  EXPECT_EQ(value_of("1 && 1 / 0"), std::nullopt);
}

TEST(Expression, ErrorsPointAtTheirPlace) {
  EXPECT_EQ(error_of(""), "0: the expression ends where a value is expected");
  EXPECT_EQ(error_of("1 +"), "3: the expression ends where a value is expected");
  EXPECT_EQ(error_of("1 2"), "2: unexpected '2' after the expression");
  EXPECT_EQ(error_of("(1 + 2"), "6: expected ')' to close the parenthesis, got end");
  EXPECT_EQ(error_of("sqrt(4)"), "0: there is no function sqrt; there are ceil_div, align_up, min and max");
  EXPECT_EQ(error_of("min(1)"), "5: expected ',' between the two arguments of min, got ')'");
  EXPECT_EQ(error_of("1 ? 2"), "5: expected ':' in a conditional expression, got end");
  EXPECT_EQ(error_of("1.5"), "1: numbers are decimal integers, got '.' in one");
  EXPECT_EQ(error_of("0x10"), "1: numbers are decimal integers, got 'x' in one");
  EXPECT_EQ(error_of("1 = 2"), "2: unexpected '=' after the expression");
  EXPECT_EQ(error_of("4 / (2 - 2)"), "2: division by zero");
  EXPECT_EQ(error_of("m & 1"), "2: unexpected '&' after the expression");
}

TEST(Expression, RefusesHostileSizes) {
  EXPECT_EQ(value_of(std::string(1000, '(') + "1" + std::string(1000, ')')), std::nullopt);
  EXPECT_EQ(value_of(std::string(2000, '-') + "1"), std::nullopt);
  EXPECT_EQ(value_of(std::string(2000, '!') + "1"), std::nullopt);
  std::string conditionals = "0";
  for (int i = 0; i < 900; ++i) conditionals = "1?" + conditionals + ":0";
  EXPECT_EQ(value_of(conditionals), std::nullopt);
  std::string sum = "1";
  for (int i = 0; i < 2000; ++i) sum += "+1";
  EXPECT_EQ(value_of(sum), 2001);
  EXPECT_EQ(value_of(sum + sum), std::nullopt) << "too long";
}

// Random expressions, written as text and at the same time evaluated in 128 bits by this generator.
class RandomExpression {
 public:
  explicit RandomExpression(uint64_t seed) : random_(seed) {}

  struct Item {
    std::string text;
    std::optional<int64_t> value;  // nullopt: an error
  };

  Item make(int depth) {
    const unsigned kind = depth == 0 ? 0 : pick(8);
    if (kind <= 1) return leaf();
    if (kind == 2) return conditional(depth);
    if (kind == 3) return unary(depth);
    return binary(depth);
  }

 private:
  __extension__ using Wide = __int128;

  unsigned pick(unsigned bound) { return static_cast<unsigned>(random_() % bound); }

  static std::optional<int64_t> narrow(Wide value) {
    if (value > std::numeric_limits<int64_t>::max() || value < std::numeric_limits<int64_t>::min()) return std::nullopt;
    return static_cast<int64_t>(value);
  }

  Item leaf() {
    const int64_t values[] = {0, 1, 2, 3, 127, 128, 7168, int64_t{1} << 31, int64_t{1} << 40,
                              std::numeric_limits<int64_t>::max()};
    const int64_t value = values[pick(10)];
    return {std::to_string(value), value};
  }

  Item conditional(int depth) {
    const Item condition = make(depth - 1), yes = make(depth - 1), no = make(depth - 1);
    Item result{"(" + condition.text + " ? " + yes.text + ":" + no.text + ")", std::nullopt};
    if (condition.value) result.value = *condition.value ? yes.value : no.value;
    return result;
  }

  Item unary(int depth) {
    const Item inner = make(depth - 1);
    if (pick(2) == 0)
      return {"!(" + inner.text + ")", inner.value ? std::optional<int64_t>(!*inner.value) : std::nullopt};
    return {"-(" + inner.text + ")", inner.value ? narrow(-Wide{*inner.value}) : std::nullopt};
  }

  Item binary(int depth) {
    const char* operators[] = {"+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "&&", "||", "min", "max",
                               "ceil_div", "align_up"};
    const std::string op = operators[pick(17)];
    const Item left = make(depth - 1), right = make(depth - 1);
    const bool function = op.size() > 2;
    Item result{function ? op + "(" + left.text + ", " + right.text + ")" : "(" + left.text + op + right.text + ")",
                std::nullopt};
    if (op == "&&" && left.value == 0) return result.value = 0, result;
    if (op == "||" && left.value && *left.value != 0) return result.value = 1, result;
    if (left.value && right.value) result.value = compute(op, *left.value, *right.value);
    return result;
  }

  static std::optional<int64_t> compute(const std::string& op, Wide l, Wide r) {
    const auto ceiling = [](Wide a, Wide b) {
      Wide quotient = a / b;
      if (a % b != 0 && (a < 0) == (b < 0)) ++quotient;
      return quotient;
    };
    if ((op == "/" || op == "%" || op == "ceil_div") && r == 0) return std::nullopt;
    if (op == "+") return narrow(l + r);
    if (op == "-") return narrow(l - r);
    if (op == "*") return narrow(l * r);
    if (op == "/") return narrow(l / r);
    if (op == "%") return narrow(l % r);
    if (op == "<") return l < r;
    if (op == "<=") return l <= r;
    if (op == ">") return l > r;
    if (op == ">=") return l >= r;
    if (op == "==") return l == r;
    if (op == "!=") return l != r;
    if (op == "&&") return l != 0 && r != 0;
    if (op == "||") return l != 0 || r != 0;
    if (op == "min") return narrow(l < r ? l : r);
    if (op == "max") return narrow(l > r ? l : r);
    if (op == "ceil_div") return narrow(ceiling(l, r));
    if (r <= 0) return std::nullopt;
    return narrow(ceiling(l, r) * r);
  }

  std::mt19937_64 random_;
};

TEST(Expression, AgreesWithASecondEvaluationOnRandomExpressions) {
  int errors = 0;
  for (uint64_t seed = 0; seed < 20'000; ++seed) {
    const RandomExpression::Item item = RandomExpression(seed).make(4);
    ASSERT_EQ(value_of(item.text), item.value) << item.text;
    errors += item.value ? 0 : 1;
  }
  EXPECT_GT(errors, 1000);
  EXPECT_LT(errors, 15'000);
}

}  // namespace
}  // namespace hipbench
