#pragma once
// The single examinations of `hipbench doctor`, one function a part.

#include <vector>

#include "cli/doctor.hpp"

namespace hipbench::doctor {

using Findings = std::vector<Finding>;

void examine_toolchain(Findings& findings);       // clang, headers, bitcode, a real compile
void examine_rocm(Findings& findings);            // another ROCm, a GPU
void examine_sandbox(Findings& findings);         // every layer of it, and a real sandbox
void examine_cpu_and_memory(Findings& findings);  // instruction sets, cores, memory, disk
void examine_own_programs(Findings& findings);    // what the build must have left beside the executable

}  // namespace hipbench::doctor
