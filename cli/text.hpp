#pragma once
// Text for people: tables, numbers, colours, and bytes of unknown origin made safe to print.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/exit_status.hpp"

namespace hipbench::cli {

enum class Color { Plain, Green, Red, Yellow, Dim, Bold };

// Colours only on a terminal, and not when NO_COLOR is set.
class Painter {
 public:
  explicit Painter(bool enabled) : enabled_(enabled) {}
  static Painter for_stdout();
  static Painter for_stderr();
  std::string operator()(Color color, std::string_view text) const;

 private:
  bool enabled_;
};

bool is_terminal(int fd);
// Columns of the terminal that standard output is, or 0 when it is none.
size_t terminal_width();

// Evidence and file names may hold escape sequences that would drive the terminal: control characters become "\x1b",
// invalid UTF-8 becomes U+FFFD. Tabs and line ends stay.
std::string printable(std::string_view text);
// The same for one cell or sentence: line ends become spaces.
std::string printable_line(std::string_view text);

// Columns that a text takes: its code points.
size_t columns(std::string_view text);
// At most `width` columns, with "…" where something was cut off.
std::string shortened(std::string_view text, size_t width);
// Every line moved right. At most `most_lines` of them; says how many were left out.
std::string indented(std::string_view text, size_t spaces, size_t most_lines = SIZE_MAX);

// 1234567 → "1.23 M".
std::string quantity(double number);
// "0.42 s", "95 s", "12 min".
std::string duration(double seconds);

struct Cell {
  std::string text;
  Color color = Color::Plain;
};

// A table with a header line; columns two spaces apart, aligned right where `right` has an r. Trailing spaces are cut.
std::string table(std::span<const std::string> header, std::span<const std::vector<Cell>> rows, std::string_view right,
                  const Painter& paint);

// "error: …" on standard error; returns `status`. What a user typed wrong ends in this way in every verb.
int fail(ExitStatus status, std::string_view message);

// "; did you mean \"eval\"?" or "" when no known word is near.
std::string suggestion(std::string_view word, std::span<const std::string> known);

}  // namespace hipbench::cli
