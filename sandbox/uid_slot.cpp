#include "sandbox/uid_slot.hpp"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>

namespace hipbench::sandbox {
namespace {

// Debian hands out 60000-64999 on demand only and nobody else uses them; ids below 65536 exist in containers too.
constexpr uid_t kFirstUid = 60000;
constexpr uid_t kUids = 512;
constexpr const char* kLockFolder = "/run/hipbench";

bool belongs_to_somebody(uid_t uid) {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> buffer;
  return getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr;
}

}  // namespace

Result<UidSlot> take_uid_slot() {
  if (mkdir(kLockFolder, 0700) != 0 && errno != EEXIST)
    return Error{fmt::format("cannot create {} for the locks of job user ids: {}", kLockFolder, strerror(errno))};
  for (uid_t uid = kFirstUid; uid < kFirstUid + kUids; ++uid) {
    const std::string path = fmt::format("{}/uid-{}.lock", kLockFolder, uid);
    UniqueFd lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!lock.valid()) return Error{fmt::format("cannot open {}: {}", path, strerror(errno))};
    if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0 || belongs_to_somebody(uid)) continue;
    return UidSlot{uid, std::move(lock)};
  }
  return Error{fmt::format("all {} job user ids from {} are in use: run fewer jobs at once", kUids, kFirstUid)};
}

}  // namespace hipbench::sandbox
