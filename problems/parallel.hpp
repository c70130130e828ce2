#pragma once
// Loops over independent pieces of work on several threads.

#include <cstdint>
#include <functional>

namespace hipbench {

// body(i) for each i in [0, count), in no particular order, on at most `threads` threads (0 counts as 1); done when it
// returns.
void parallel_for(unsigned threads, int64_t count, const std::function<void(int64_t)>& body);

}  // namespace hipbench
