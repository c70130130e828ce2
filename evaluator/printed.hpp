#pragma once
// What a candidate printed while one shape was checked: device printf and assert, and on the host track what its
// process wrote. Kept to show it to the author, never to judge by it.

#include <string>
#include <string_view>
#include <vector>

#include "evaluator/verdict.hpp"

namespace hipbench {

class Printed {
 public:
  // Standard output, device printf and assert included.
  void add_output(std::string_view text) { add(output_, text); }
  // Standard error of the host track's process, where the HIP runtime says why it refused something.
  void add_errors(std::string_view text) { add(errors_, text); }
  void clear() { *this = {}; }
  bool has_output() const { return !output_.empty(); }

  // Under headings of their own and indented, so that nobody takes these lines for the judge's.
  void append_to(Verdict& verdict) const;
  // The same for a candidate that is only tried out.
  std::string sections() const;
  // The note for a candidate that passed all the same.
  std::string warning() const;

 private:
  // The beginning of a text, line by line. A line that is printed again and again, as by every lane of a failed assert,
  // is kept once.
  struct Line {
    std::string text;
    size_t times = 1;
  };
  struct Text {
    std::vector<Line> lines;
    std::string unfinished;  // the last line, as far as it has come
    size_t bytes = 0;        // of what is kept
    bool cut = false;

    bool empty() const { return lines.empty() && unfinished.empty(); }
    std::string first_line() const { return lines.empty() ? unfinished : lines.front().text; }
    bool has_more_than_a_line() const { return cut || lines.size() + (unfinished.empty() ? 0 : 1) > 1; }
  };
  static void add(Text& to, std::string_view text);
  static void add_piece(Text& to, std::string_view piece, bool ends_line);
  static std::string section(std::string_view heading, const Text& text);

  Text output_, errors_;
};

}  // namespace hipbench
