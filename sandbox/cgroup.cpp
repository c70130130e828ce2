#include "sandbox/cgroup.hpp"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <filesystem>
#include <mutex>
#include <sstream>

#include "common/files.hpp"
#include "common/unique_fd.hpp"

namespace hipbench::sandbox {
namespace {

bool write_value(const std::string& path, const std::string& value) {
  const UniqueFd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file.valid() && write(file.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size());
}

struct Own {
  std::string unified;  // our group under version 2, as a folder
  std::string memory;   // our group of the memory controller under version 1
  std::string pids;
};

// /proc/self/cgroup: "0::/path" is version 2, "4:memory:/path" a controller of version 1.
Own find_own_groups() {
  Own own;
  const auto text = read_file("/proc/self/cgroup");
  if (!text) return own;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (controllers == ",,") own.unified = "/sys/fs/cgroup" + path;
    if (controllers.find(",memory,") != std::string::npos) own.memory = "/sys/fs/cgroup/memory" + path;
    if (controllers.find(",pids,") != std::string::npos) own.pids = "/sys/fs/cgroup/pids" + path;
  }
  return own;
}

uint64_t counter(const std::string& path, std::string_view key) {
  const auto text = read_file(path);
  if (!text) return 0;
  const size_t at = text->find(key);
  if (at == std::string::npos) return 0;
  uint64_t value = 0;
  const char* start = text->data() + at + key.size();
  std::from_chars(start, text->data() + text->size(), value);
  return value;
}

// A killed judge cannot remove its groups: the next one does, for judges that are no more.
void remove_abandoned(const std::string& parent) {
  constexpr std::string_view kPrefix = "hipbench-";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(parent, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    const pid_t judge = static_cast<pid_t>(strtol(name.c_str() + kPrefix.size(), nullptr, 10));
    if (judge > 0 && kill(judge, 0) != 0 && errno == ESRCH) rmdir(entry.path().c_str());
  }
}

}  // namespace

JobCgroup JobCgroup::create(const Limits& limits) {
  static std::atomic<unsigned> number = 0;
  const std::string name = fmt::format("/hipbench-{}-{}", getpid(), number++);
  const Own own = find_own_groups();
  // Files in the scratch folder are memory too, and init and bubblewrap themselves need a little.
  const std::string memory = std::to_string(limits.memory_bytes + limits.scratch_bytes + (64u << 20));
  const std::string tasks = std::to_string(limits.processes + 8);
  static std::once_flag once;
  std::call_once(once, [&] {
    for (const std::string* parent : {&own.memory, &own.pids, &own.unified})
      if (!parent->empty()) remove_abandoned(*parent);
  });
  JobCgroup group;
  const auto make = [&](const std::string& parent, auto&& configure) {
    if (parent.empty() || mkdir((parent + name).c_str(), 0755) != 0) return;
    if (configure(parent + name))
      group.folders_.push_back(parent + name);
    else
      rmdir((parent + name).c_str());
  };
  make(own.memory, [&](const std::string& folder) { return write_value(folder + "/memory.limit_in_bytes", memory); });
  make(own.pids, [&](const std::string& folder) { return write_value(folder + "/pids.max", tasks); });
  if (!group.exists())
    make(own.unified, [&](const std::string& folder) {
      return write_value(folder + "/memory.max", memory) && write_value(folder + "/pids.max", tasks);
    });
  return group;
}

JobCgroup::~JobCgroup() {
  for (const std::string& folder : folders_) {
    // The last process may still be on its way out of the group's books.
    for (int attempt = 0; attempt < 50 && rmdir(folder.c_str()) != 0; ++attempt) usleep(1000);
  }
}

void JobCgroup::add(pid_t pid) const {
  for (const std::string& folder : folders_) write_value(folder + "/cgroup.procs", std::to_string(pid));
}

bool JobCgroup::ran_out_of_memory() const {
  for (const std::string& folder : folders_)
    if (counter(folder + "/memory.oom_control", "oom_kill ") > 0 || counter(folder + "/memory.events", "oom_kill ") > 0)
      return true;
  return false;
}

}  // namespace hipbench::sandbox
