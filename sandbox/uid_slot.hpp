#pragma once
// Dedicated unprivileged user ids, one a job, for sandboxes started by root. A process limit and file permissions mean
// something only for a uid that nobody else uses at the same time.

#include <sys/types.h>

#include "common/result.hpp"
#include "common/unique_fd.hpp"

namespace hipbench::sandbox {

// Held by its lock: whoever holds a copy of the descriptor (the sandbox's own first process does) keeps the uid taken,
// so a job that outlives a killed judge for a moment is not joined by the next one.
struct UidSlot {
  uid_t uid = 0;
  UniqueFd lock;
};

Result<UidSlot> take_uid_slot();

}  // namespace hipbench::sandbox
