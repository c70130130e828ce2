#pragma once
// The system calls that a sandboxed program may make, as a seccomp program. The only file that knows libseccomp.

#include <string>

#include "common/result.hpp"
#include "sandbox/policy.hpp"

namespace hipbench::sandbox {

// The compiled filter (an array of sock_filter). Made once a profile.
Result<std::string> seccomp_program(Profile profile);

// "ptrace" for 101 on x86-64; "system call 999" when nobody knows it.
std::string system_call_name(int number);

}  // namespace hipbench::sandbox
