#pragma once
// A model that improves over the turns, behind real HTTP: first it does not compile, then it is wrong, then right, then
// fast. What it says depends on the conversation alone, as with a real model at temperature 0.

#include <string>

#include "tests/agents/http_server.hpp"

namespace hipbench::agents {

// For any problem that has a starter and a baseline or a candidates/vector_kernel.hip.
ServedReply scripted_answer(Speak protocol, const ServedRequest& request);

}  // namespace hipbench::agents
