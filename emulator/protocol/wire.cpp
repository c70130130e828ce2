#include "emulator/protocol/wire.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>

namespace hipbench::emulator::wire {
namespace {

// Room for the one descriptor we expect. More than one is a protocol violation; the kernel closes what does not fit.
union ControlBuffer {
  cmsghdr header;
  char space[CMSG_SPACE(sizeof(int))];
};

// Fills `data` to its end. A descriptor that comes with the first bytes is kept in `attached`.
bool receive_all(int fd, std::span<std::byte> data, UniqueFd* attached) {
  while (!data.empty()) {
    iovec part{data.data(), data.size()};
    ControlBuffer control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    const ssize_t got = ::recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
      if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
      int received = -1;
      std::memcpy(&received, CMSG_DATA(c), sizeof received);
      UniqueFd owned(received);
      if (attached != nullptr) *attached = std::move(owned);
    }
    data = data.subspan(static_cast<size_t>(got));
  }
  return true;
}

}  // namespace

bool send_message(int fd, Opcode opcode, bool failed, std::span<const std::byte> payload,
                  std::span<const std::byte> body, int attached_fd) {
  Header header;
  header.size = static_cast<u32>(payload.size() + body.size());
  header.opcode = static_cast<u16>(opcode);
  header.failed = failed ? 1 : 0;
  std::array<iovec, 3> parts = {iovec{&header, sizeof header},
                                iovec{const_cast<std::byte*>(payload.data()), payload.size()},
                                iovec{const_cast<std::byte*>(body.data()), body.size()}};
  size_t first = 0;
  ControlBuffer control{};
  while (first < parts.size()) {
    if (parts[first].iov_len == 0) {
      ++first;
      continue;
    }
    msghdr message{};
    message.msg_iov = &parts[first];
    message.msg_iovlen = parts.size() - first;
    if (attached_fd >= 0) {
      control.header.cmsg_level = SOL_SOCKET;
      control.header.cmsg_type = SCM_RIGHTS;
      control.header.cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(&control.header), &attached_fd, sizeof attached_fd);
      message.msg_control = &control;
      message.msg_controllen = sizeof control;
    }
    ssize_t sent = ::sendmsg(fd, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    attached_fd = -1;
    for (; sent > 0 && first < parts.size(); ++first) {
      const size_t taken = std::min(static_cast<size_t>(sent), parts[first].iov_len);
      parts[first].iov_base = static_cast<std::byte*>(parts[first].iov_base) + taken;
      parts[first].iov_len -= taken;
      sent -= static_cast<ssize_t>(taken);
      if (parts[first].iov_len > 0) break;
    }
  }
  return true;
}

std::optional<Message> receive_message(int fd, u32 limit, std::span<std::byte> place) {
  Message message;
  if (!receive_all(fd, std::as_writable_bytes(std::span(&message.header, 1)), &message.attached_fd))
    return std::nullopt;
  if (message.header.size > limit) return std::nullopt;
  if (!place.empty() && !message.header.failed && message.header.size == place.size()) {
    if (!receive_all(fd, place, nullptr)) return std::nullopt;
    return message;
  }
  message.payload.resize(message.header.size);
  if (!receive_all(fd, message.payload, nullptr)) return std::nullopt;
  return message;
}

void enlarge_buffers(int fd) {
  const int wanted = 4 << 20;
  ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &wanted, sizeof wanted);
  ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &wanted, sizeof wanted);
}

}  // namespace hipbench::emulator::wire
