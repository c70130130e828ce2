#pragma once
// Runs a program that may be hostile. See docs/threat-model.md for what is guaranteed and which test shows it.
//
// Safe to call from many threads at once. Each sandbox has one thread of ours that watches it; when our process dies,
// however it dies, the kernel kills the sandbox with it.

#include <sys/types.h>

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "common/result.hpp"
#include "sandbox/outcome.hpp"
#include "sandbox/policy.hpp"

namespace hipbench::sandbox {

class Watch;

// Runs to the end. Asked to stop, it kills every process inside, as Child::kill() does.
Outcome run(const Policy& policy, std::stop_token stop = {});

// A program that runs beside us, such as a worker that talks over an inherited socket. Destroying it kills it.
class Child {
 public:
  // Returns once the program has been started. The Error is what run() reports as SetupError.
  static Result<Child> start(const Policy& policy);
  Child(Child&&) noexcept;
  Child& operator=(Child&&) noexcept;
  ~Child();

  // The sandbox's first process, parent of the program, as our side numbers it.
  pid_t pid() const;
  // Waits for the end of every process inside. Call it once.
  Outcome wait();
  // Ends every process inside; wait() then reports Signaled with the reason "killed by the judge". Any thread may call
  // it.
  void kill();

 private:
  explicit Child(std::unique_ptr<Watch> watch);
  std::unique_ptr<Watch> watch_;
};

// One layer of the sandbox on this machine, for `hipbench doctor`.
struct Layer {
  std::string name = {};
  bool present = false;
  bool required = true;
  std::string detail = {};
  std::string remedy = {};  // what to do when it is missing
};

// Looks at every layer, the last by starting a real sandbox.
std::vector<Layer> inspect_layers();

}  // namespace hipbench::sandbox
