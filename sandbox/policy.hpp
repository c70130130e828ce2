#pragma once
// What a sandboxed program may see, use and do. A Policy is plain data: build one, hand it to run() or Child::start().
// Everything that is not named here is absent: environment, files, descriptors, network.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace hipbench::sandbox {

// The defaults suit a large compile (16 s and 1.3 GB measured).
struct Limits {
  std::chrono::milliseconds wall = std::chrono::seconds(120);
  std::chrono::seconds cpu = std::chrono::seconds(120);  // of the whole group
  uint64_t memory_bytes = uint64_t{4} << 30;             // resident memory of the whole group, swap included
  uint64_t output_bytes = uint64_t{1} << 20;             // standard output and standard error, each
  uint64_t file_bytes = uint64_t{512} << 20;             // the largest file
  uint64_t scratch_bytes = uint64_t{1} << 30;            // all files in /tmp together
  unsigned processes = 64;                               // processes and threads of the whole group
  unsigned open_files = 256;
};

enum class Access {
  ReadOnly,
  ReadWrite,  // what the program leaves there is hostile (symbolic links!): prefer Policy::output_files
  Device,     // a device node; as root the job's uid also gets the node's group
};

struct Mount {
  std::filesystem::path host;
  std::filesystem::path inside;
  Access access = Access::ReadOnly;
};

// A descriptor of ours that the program finds under its own number. Duplicated at start, so that the caller may close
// it.
struct InheritedFd {
  int host_fd = -1;
  int inside_fd = -1;
};

// The system calls a program may make (seccomp_filter.cpp has the lists).
enum class Profile {
  Compiler,  // may start programs
  Worker,    // may start threads, but no process and no program
};

struct Policy {
  std::vector<std::string> argv;  // argv[0] is an absolute path inside
  std::map<std::string, std::string> env;
  std::vector<Mount> mounts;
  std::vector<InheritedFd> fds;
  // Small read-only files that come into being inside: path inside -> content. Needs no readable file on the host.
  std::map<std::filesystem::path, std::string> input_files;
  // Files that leave by value, in Outcome::files, when the program ends with exit code 0: regular files of at most
  // Limits::file_bytes. This is how a compiler's product is fetched: no folder of the host is writable, no link
  // followed.
  std::vector<std::filesystem::path> output_files;
  Limits limits;
  Profile profile = Profile::Compiler;
  std::filesystem::path working_directory = "/tmp";
  std::string stdin_data;
  // Runs with limits but WITHOUT isolation: the program can read and write what the caller can. Paths of mounts and
  // input files are rewritten to their places on the host. Callers say so loudly and never rank the result.
  bool unsafe_no_sandbox = false;
};

}  // namespace hipbench::sandbox
