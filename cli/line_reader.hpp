#pragma once
#include <optional>
#include <string>

#include "common/result.hpp"

namespace hipbench::cli {

// The lines of a file or a pipe, one at a time, without reading further ahead than one buffer.
class LineReader {
 public:
  // Gives up, as at the end, once `stop_fd` is readable.
  LineReader(int fd, int stop_fd, size_t longest_line) : fd_(fd), stop_fd_(stop_fd), longest_line_(longest_line) {}

  struct Line {
    std::string text;       // without its end
    size_t number = 0;      // from 1
    bool too_long = false;  // then `text` is empty
  };
  // Nothing at the end. The last line needs no line end.
  Result<std::optional<Line>> next();

 private:
  Result<bool> fill();  // false: the end

  int fd_, stop_fd_;
  size_t longest_line_;
  std::string buffer_;
  size_t scanned_ = 0;  // no line end before this place in the buffer
  size_t number_ = 0;
  bool skipping_ = false, ended_ = false;
};

}  // namespace hipbench::cli
