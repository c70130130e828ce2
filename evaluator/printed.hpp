#pragma once
// What a candidate printed while one shape was checked: device printf and assert, and on the host track what its process wrote.
// Kept to show it to the author, never to judge by it.

#include <string>
#include <string_view>

#include "evaluator/verdict.hpp"

namespace hipbench {

class Printed {
 public:
  // Standard output, device printf and assert included.
  void add_output(std::string_view text) { add(output_, text); }
  // Standard error of the host track's process, where the HIP runtime says why it refused something.
  void add_errors(std::string_view text) { add(errors_, text); }
  void clear() { *this = {}; }
  bool has_output() const { return !output_.kept.empty(); }

  // Under headings of their own and indented, so that nobody takes these lines for the judge's.
  void append_to(Verdict& verdict) const;
  // The note for a candidate that passed all the same.
  std::string warning() const;

 private:
  // The beginning of a text.
  struct Text {
    std::string kept;
    bool cut = false;
  };
  static void add(Text& to, std::string_view text);
  static std::string section(std::string_view heading, const Text& text);

  Text output_, errors_;
};

}  // namespace hipbench
