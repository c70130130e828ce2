#pragma once
// The single examinations of `hipbench doctor`, one function a part.

#include <filesystem>
#include <vector>

#include "cli/doctor.hpp"

namespace hipbench::doctor {

using Findings = std::vector<Finding>;

void examine_toolchain(Findings& findings);       // clang, headers, bitcode, a real compile
void examine_rocm(Findings& findings);            // another ROCm, a GPU
void examine_sandbox(Findings& findings);         // bubblewrap, user namespaces, seccomp, cgroups
void examine_cpu_and_memory(Findings& findings);  // instruction sets, cores, memory, disk
void examine_own_programs(Findings& findings);    // what the build must have left beside the executable

// The cgroup that this process may make children in, or empty. `proc_cgroup` is /proc/self/cgroup's text.
std::filesystem::path cgroup_folder(std::string_view proc_cgroup, std::string_view controller);

}  // namespace hipbench::doctor
