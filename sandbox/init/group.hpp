#pragma once
// The processes of the sandbox, seen from its first process: how many, how much memory and CPU time they use.

#include <cstdint>
#include <string>

namespace hipbench::sandbox {

struct GroupUsage {
  uint64_t memory_bytes =
      0;                   // anonymous, shared and swapped-out pages; pages of files do not count, they can be dropped
  uint64_t tasks = 0;      // processes and threads, without init
  double cpu_seconds = 0;  // of living processes and of those that they have waited for
};

// Inside a pid namespace /proc shows the group and nothing else. Without one (isolated = false) only our descendants
// count.
GroupUsage measure_group(bool isolated);

// The name of some process of the group that is still alive, or "".
std::string name_of_survivor(bool isolated);

// Kills every descendant; needed only without a pid namespace.
void kill_descendants();

}  // namespace hipbench::sandbox
