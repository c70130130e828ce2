#include "cli/line_reader.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace hipbench::cli {

Result<bool> LineReader::fill() {
  for (;;) {
    pollfd polled[] = {{fd_, POLLIN, 0}, {stop_fd_, POLLIN, 0}};
    if (::poll(polled, 2, -1) < 0) {
      if (errno == EINTR) continue;
      return Error{fmt::format("cannot wait for input: {}", std::strerror(errno))};
    }
    if (polled[1].revents != 0) return false;
    std::array<char, 1 << 16> bytes;
    const ssize_t got = ::read(fd_, bytes.data(), bytes.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return Error{fmt::format("cannot read the input: {}", std::strerror(errno))};
    buffer_.append(bytes.data(), static_cast<size_t>(got));
    return got > 0;
  }
}

Result<std::optional<LineReader::Line>> LineReader::next() {
  for (;;) {
    const size_t end = buffer_.find('\n', scanned_);
    if (end != std::string::npos || (ended_ && (skipping_ || !buffer_.empty()))) {
      Line line{buffer_.substr(0, end), ++number_, skipping_ || std::min(end, buffer_.size()) > longest_line_};
      if (line.too_long) line.text.clear();
      buffer_.erase(0, end == std::string::npos ? end : end + 1);
      scanned_ = 0;
      skipping_ = false;
      return std::optional(std::move(line));
    }
    if (ended_) return std::optional<Line>();
    scanned_ = buffer_.size();
    if (scanned_ > longest_line_) {
      // Its end is all that is still looked for.
      skipping_ = true;
      buffer_.clear();
      scanned_ = 0;
    }
    ended_ = !TRY(fill());
  }
}

}  // namespace hipbench::cli
