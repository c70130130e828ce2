#pragma once
// What the judge and the worker say to each other over one SOCK_SEQPACKET socket, one message a packet. The worker is
// not believed: the judge uses the answers to pace itself and to word messages, never as evidence of a result.

#include <cstdint>

namespace hipbench::worker {

inline constexpr int kControlFd = 3;  // the socket, inside the worker
inline constexpr int kDeviceFd = 4;   // its connection to the emulated device
inline constexpr uint32_t kMaxArgs = 256;
inline constexpr uint32_t kMaxText = 1000;

enum class Request : uint32_t {
  Workspace = 1,  // args with null pointers → Answer::value = bytes
  Run = 2,        // args, workspace, workspace_bytes → Answer::value = what hb_ID_run returned
};

struct Ask {
  Request request = Request::Run;
  uint32_t args_size = 0;
  uint64_t workspace = 0, workspace_bytes = 0;  // device address
  unsigned char args[kMaxArgs] = {};
};

enum class Stage : uint32_t {
  Ready = 1,      // the candidate is loaded; value = 1 if it has a workspace function
  Done = 2,       // the request was carried out
  LoadFailed = 3, // the shared object could not be loaded or lacks the entry point
  HipFailed = 4,  // the runtime reported an error after the call; value = hipError_t
  Unordered = 5,  // work on `value` other streams is not ordered before the tail of the given one
};

struct Answer {
  Stage stage = Stage::Done;
  int64_t value = 0;
  char text[kMaxText] = {};  // zero-terminated
};

}  // namespace hipbench::worker
