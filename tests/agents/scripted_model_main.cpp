// The scripted model as a server of its own, for scripts/demo: prints its address and answers until standard input
// ends.
#include <unistd.h>

#include <fmt/format.h>

#include <cstdio>

#include "tests/agents/scripted_model.hpp"

int main() {
  using namespace hipbench::agents;
  HttpServer server([](const ServedRequest& request) { return scripted_answer(Speak::OpenAi, request); });
  fmt::print("{}\n", server.url());
  std::fflush(stdout);
  char ignored[64];
  while (::read(STDIN_FILENO, ignored, sizeof ignored) > 0) {
  }
}
