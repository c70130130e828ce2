#include "sandbox/launch.hpp"

#include "sandbox/watch.hpp"

namespace hipbench::sandbox {

Outcome run(const Policy& policy, std::stop_token stop) {
  Watch watch(policy);
  const std::stop_callback kill(stop, [&watch] { watch.kill(); });
  return watch.wait();
}

Child::Child(std::unique_ptr<Watch> watch) : watch_(std::move(watch)) {}
Child::Child(Child&&) noexcept = default;
Child& Child::operator=(Child&&) noexcept = default;
Child::~Child() = default;

Result<Child> Child::start(const Policy& policy) {
  auto watch = std::make_unique<Watch>(policy);
  if (!watch->wait_until_started()) return Error{watch->wait().reason};
  return Child(std::move(watch));
}

pid_t Child::pid() const { return watch_->init_pid(); }
Outcome Child::wait() { return watch_->wait(); }
void Child::kill() { watch_->kill(); }

}  // namespace hipbench::sandbox
