#include "sandbox/init/group.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <vector>

namespace hipbench::sandbox {
namespace {

struct Process {
  pid_t parent = 0;
  char state = '?';
  double cpu_seconds = 0;
  uint64_t tasks = 1;
  std::string name;
};

std::string read_proc(pid_t pid, const char* file) {
  const std::string path = "/proc/" + std::to_string(pid) + "/" + file;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};  // it has just ended
  char buffer[4096];
  const ssize_t size = read(fd, buffer, sizeof buffer);
  close(fd);
  return size > 0 ? std::string(buffer, static_cast<size_t>(size)) : std::string();
}

// /proc/PID/stat; the name stands in parentheses and may itself hold any character.
bool read_stat(pid_t pid, Process& process) {
  const std::string stat = read_proc(pid, "stat");
  const size_t open_parenthesis = stat.find('(');
  const size_t close_parenthesis = stat.rfind(')');
  if (open_parenthesis == std::string::npos || close_parenthesis == std::string::npos) return false;
  process.name = stat.substr(open_parenthesis + 1, close_parenthesis - open_parenthesis - 1);
  std::vector<std::string> fields;  // fields[0] is field 3 of proc(5)
  size_t start = close_parenthesis + 2;
  while (start < stat.size()) {
    size_t end = stat.find(' ', start);
    if (end == std::string::npos) end = stat.size();
    fields.push_back(stat.substr(start, end - start));
    start = end + 1;
  }
  if (fields.size() < 18) return false;
  process.state = fields[0][0];
  process.parent = static_cast<pid_t>(atol(fields[1].c_str()));
  double ticks = 0;
  for (size_t i = 11; i <= 14; ++i) ticks += strtod(fields[i].c_str(), nullptr);  // utime stime cutime cstime
  process.cpu_seconds = ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
  process.tasks = strtoull(fields[17].c_str(), nullptr, 10);
  return true;
}

uint64_t kilobytes_after(const std::string& status, const char* key) {
  const size_t at = status.find(key);
  return at == std::string::npos ? 0 : strtoull(status.c_str() + at + strlen(key), nullptr, 10);
}

std::map<pid_t, Process> list_processes() {
  std::map<pid_t, Process> processes;
  DIR* directory = opendir("/proc");
  if (directory == nullptr) return processes;
  while (const dirent* entry = readdir(directory)) {
    const pid_t pid = static_cast<pid_t>(atol(entry->d_name));
    Process process;
    if (pid > 0 && pid != getpid() && read_stat(pid, process)) processes.emplace(pid, std::move(process));
  }
  closedir(directory);
  return processes;
}

std::map<pid_t, Process> list_group(bool isolated) {
  std::map<pid_t, Process> all = list_processes();
  if (isolated) return all;
  std::map<pid_t, Process> group;
  for (const auto& [pid, process] : all) {
    std::set<pid_t> seen;  // a listing is not a snapshot: guard against a cycle
    for (pid_t ancestor = pid; seen.insert(ancestor).second;) {
      const auto found = all.find(ancestor);
      if (found == all.end()) break;
      ancestor = found->second.parent;
      if (ancestor == getpid()) group.emplace(pid, process);
    }
  }
  return group;
}

}  // namespace

GroupUsage measure_group(bool isolated) {
  GroupUsage usage;
  for (const auto& [pid, process] : list_group(isolated)) {
    usage.tasks += process.tasks;
    usage.cpu_seconds += process.cpu_seconds;
    const std::string status = read_proc(pid, "status");
    for (const char* key : {"\nRssAnon:", "\nRssShmem:", "\nVmSwap:"})
      usage.memory_bytes += kilobytes_after(status, key) * 1024;
  }
  return usage;
}

std::string name_of_survivor(bool isolated) {
  for (const auto& [pid, process] : list_group(isolated))
    // A main thread that has ended is a zombie although other threads of the process run on.
    if ((process.state != 'Z' && process.state != 'X') || process.tasks > 1) return process.name;
  return {};
}

void kill_descendants() {
  // A process may fork while we walk: repeat until a walk finds nobody. Stopping first would not help against a fork
  // bomb.
  for (int round = 0; round < 1000; ++round) {
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    const auto group = list_group(false);
    if (group.empty()) return;
    for (const auto& [pid, process] : group) kill(pid, SIGKILL);
  }
}

}  // namespace hipbench::sandbox
