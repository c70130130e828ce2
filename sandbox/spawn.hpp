#pragma once
#include <sys/types.h>

#include <string>

#include "common/result.hpp"
#include "sandbox/prepare.hpp"

namespace hipbench::sandbox {

// Forks; the child becomes bubblewrap (or init, without isolation) with the descriptors and the user of the
// preparation. It dies with the calling thread.
Result<pid_t> spawn(const Preparation& preparation);

// What the child wrote to Preparation::spawn_error before it gave up, in words; "" if it got as far as its exec.
std::string read_spawn_error(const Preparation& preparation);

}  // namespace hipbench::sandbox
