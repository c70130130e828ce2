#pragma once
// Integer expressions, as launch plans and problem.toml write them: 64-bit, C's operators and precedence, every
// overflow an error. Names are resolved when an expression is evaluated, so that [let] names may stand in any order.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hipbench {

// Where in the expression's text (0-based) and what is wrong. Thrown by Expression; the functions of plan.hpp turn it
// into a PlanError.
struct ExpressionError {
  size_t offset;
  std::string message;
};

class Expression {
 public:
  // Throws ExpressionError.
  static Expression parse(std::string_view text);
  static Expression constant(int64_t value);

  // `lookup` gives a name's value, or throws ExpressionError with the offset it is handed.
  using Lookup = std::function<int64_t(const std::string& name, size_t offset)>;
  // Only what is needed is evaluated: the other side of ?:, && and || is not. Throws ExpressionError.
  int64_t evaluate(const Lookup& lookup) const;

  struct NameUse {
    std::string name;
    size_t offset;
  };
  std::vector<NameUse> names() const;

  struct Node;  // the syntax tree, in expression.cpp

 private:
  explicit Expression(std::shared_ptr<const Node> root) : root_(std::move(root)) {}
  std::shared_ptr<const Node> root_;
};

}  // namespace hipbench
