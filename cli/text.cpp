#include "cli/text.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace hipbench::cli {

namespace {

Painter painter_for(int fd) {
  const char* no_color = std::getenv("NO_COLOR");  // https://no-color.org: any value but the empty one
  return Painter(is_terminal(fd) && (no_color == nullptr || *no_color == '\0'));
}

// Length of the valid UTF-8 sequence at the start of `text`, or 0. Overlong forms and surrogates are not valid.
size_t sequence_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xc2 && first <= 0xdf   ? 2
                        : (first & 0xf0) == 0xe0         ? 3
                        : first >= 0xf0 && first <= 0xf4 ? 4
                                                         : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool outside = (first == 0xed && byte(1) >= 0xa0) || (first == 0xf4 && byte(1) >= 0x90);
  return overlong || outside ? 0 : length;
}

std::string made_safe(std::string_view text, bool one_line) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const size_t length = sequence_length(text);
    const auto first = static_cast<unsigned char>(text[0]);
    const bool is_c1 = length == 2 && first == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0;  // U+0080 to U+009F
    if (length == 0) {
      result += "\ufffd";
    } else if (first == '\n' || first == '\t') {
      result += one_line ? ' ' : text[0];
    } else if (first < 0x20 || first == 0x7f) {
      if (first != '\r') result += fmt::format("\\x{:02x}", first);
    } else if (is_c1) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[1]));
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return result;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({replaced, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row[b.size()];
}

}  // namespace

Painter Painter::for_stdout() { return painter_for(STDOUT_FILENO); }
Painter Painter::for_stderr() { return painter_for(STDERR_FILENO); }

std::string Painter::operator()(Color color, std::string_view text) const {
  constexpr std::string_view kCodes[] = {"", "32", "31", "33", "2", "1"};
  if (!enabled_ || color == Color::Plain || text.empty()) return std::string(text);
  return fmt::format("\033[{}m{}\033[0m", kCodes[static_cast<size_t>(color)], text);
}

bool is_terminal(int fd) { return ::isatty(fd) == 1; }

size_t terminal_width() {
  winsize size{};
  return is_terminal(STDOUT_FILENO) && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::string printable(std::string_view text) { return made_safe(text, false); }
std::string printable_line(std::string_view text) { return made_safe(text, true); }

size_t columns(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string shortened(std::string_view text, size_t width) {
  if (columns(text) <= width) return std::string(text);
  std::string result;
  size_t taken = 0;
  for (const char c : text) {
    if ((c & 0xc0) != 0x80 && ++taken >= width) break;
    result += c;
  }
  return result + "…";
}

std::string indented(std::string_view text, size_t spaces, size_t most_lines) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  if (text.empty()) return "";
  std::string result;
  for (size_t line = 0;; ++line) {
    if (line == most_lines) {
      return result + fmt::format("{:{}}… {} more lines; --json has them all\n", "", spaces,
                                  std::count(text.begin(), text.end(), '\n') + 1);
    }
    const size_t end = text.find('\n');
    const std::string_view content = text.substr(0, end);
    if (!content.empty()) result.append(spaces, ' ');
    result.append(content).append("\n");
    if (end == std::string_view::npos) return result;
    text.remove_prefix(end + 1);
  }
}

std::string quantity(double number) {
  constexpr std::string_view kUnits[] = {"", " k", " M", " G", " T", " P"};
  size_t unit = 0;
  while (number >= 999.5 && unit + 1 < std::size(kUnits)) {
    number /= 1000;
    ++unit;
  }
  if (unit == 0) return fmt::format("{:.0f}", number);
  const int decimals = number < 9.995 ? 2 : number < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}{}", number, decimals, kUnits[unit]);
}

std::string duration(double seconds) {
  if (seconds < 9.995) return fmt::format("{:.2f} s", seconds);
  if (seconds < 99.5) return fmt::format("{:.0f} s", seconds);
  if (seconds < 99.5 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string table(std::span<const std::string> header, std::span<const std::vector<Cell>> rows, std::string_view right,
                  const Painter& paint) {
  std::vector<size_t> widths;
  for (const std::string& title : header) widths.push_back(columns(title));
  for (const std::vector<Cell>& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i].text));
  }
  // `right` has one letter a column: r aligns right.
  const auto line_of = [&](const auto& cell_at) {
    std::string line;
    size_t owed = 0;  // spaces that are only written when something follows
    for (size_t i = 0; i < widths.size(); ++i) {
      const Cell cell = cell_at(i);
      const size_t padding = widths[i] - columns(cell.text);
      const bool to_the_right = i < right.size() && right[i] == 'r';
      if (cell.text.empty()) {
        owed += widths[i] + 2;
        continue;
      }
      line.append(owed + (to_the_right ? padding : 0), ' ');
      line += paint(cell.color, cell.text);
      owed = (to_the_right ? 0 : padding) + 2;
    }
    return line + "\n";
  };
  std::string result = line_of([&](size_t i) { return Cell{header[i], Color::Bold}; });
  for (const std::vector<Cell>& row : rows) {
    result += line_of([&](size_t i) { return i < row.size() ? row[i] : Cell{}; });
  }
  return result;
}

int fail(ExitStatus status, std::string_view message) {
  std::fflush(stdout);
  fmt::print(stderr, "{} {}\n", Painter::for_stderr()(Color::Red, "error:"), printable(message));
  return status;
}

std::string suggestion(std::string_view word, std::span<const std::string> known) {
  const std::string* nearest = nullptr;
  size_t least = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const bool starts = word.size() >= 2 && candidate.starts_with(word);
    const size_t distance = starts ? 0 : edit_distance(word.substr(0, 64), candidate);
    if (distance < least) {
      least = distance;
      nearest = &candidate;
    }
  }
  return nearest == nullptr ? "" : fmt::format("; did you mean \"{}\"?", *nearest);
}

}  // namespace hipbench::cli
