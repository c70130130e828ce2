#pragma once
// Everything that is decided, opened and allocated before the fork. After it only spawn.cpp's plain system calls run in
// the child, because our process has other threads whose locks a forked child would inherit.

#include <sys/types.h>

#include <string>
#include <vector>

#include "common/files.hpp"
#include "common/result.hpp"
#include "common/unique_fd.hpp"
#include "sandbox/policy.hpp"
#include "sandbox/uid_slot.hpp"

namespace hipbench::sandbox {

// The folder that the child covers with a private tmpfs to bind mount sources into (root only).
constexpr const char* kStaging = "/tmp";

struct Preparation {
  // For the child.
  std::string executable;  // bubblewrap; empty: init itself, without isolation
  std::vector<std::string> argv;
  std::vector<int> fds;             // become the descriptors 0, 1, 2, ...
  std::vector<std::string> staged;  // host path of kStaging/0, kStaging/1, ...
  bool change_user = false;
  UidSlot slot;
  std::vector<gid_t> groups;

  // Our ends.
  UniqueFd output, errors, control, spawn_error, info, block;
  std::vector<UniqueFd> output_files;

  std::vector<UniqueFd> child_ends;            // closed here after the fork
  std::vector<TemporaryDirectory> host_files;  // without isolation: where input files and /tmp are
};

Result<Preparation> prepare(const Policy& policy);

}  // namespace hipbench::sandbox
