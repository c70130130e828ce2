#pragma once
// A control group of its own for one sandbox, where this process may make one (root, or a delegated subtree). It is the
// hard backstop behind init's watching: the kernel itself refuses memory and processes past the limit.

#include <sys/types.h>

#include <string>
#include <vector>

#include "sandbox/policy.hpp"

namespace hipbench::sandbox {

class JobCgroup {
 public:
  // Never fails: without a writable control group the object is empty and does nothing.
  static JobCgroup create(const Limits& limits);
  JobCgroup(JobCgroup&&) noexcept = default;
  JobCgroup& operator=(JobCgroup&&) = delete;
  // Removes the groups. Their processes must have ended.
  ~JobCgroup();

  bool exists() const { return !folders_.empty(); }
  void add(pid_t pid) const;
  // True if the kernel killed a process of this group because of its memory limit.
  bool ran_out_of_memory() const;

 private:
  JobCgroup() = default;

  std::vector<std::string> folders_;
};

}  // namespace hipbench::sandbox
