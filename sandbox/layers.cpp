// What `hipbench doctor` says about the sandbox.

#include <errno.h>
#include <fmt/format.h>
#include <unistd.h>

#include "common/subprocess.hpp"
#include "sandbox/bubblewrap.hpp"
#include "sandbox/cgroup.hpp"
#include "sandbox/launch.hpp"
#include "sandbox/seccomp_filter.hpp"
#include "sandbox/uid_slot.hpp"

namespace hipbench::sandbox {
namespace {

Layer bubblewrap_layer() {
  Layer layer{.name = "bubblewrap"};
  const auto path = find_bubblewrap();
  if (!path) {
    layer.detail = "not installed";
    layer.remedy = path.error().message;
    return layer;
  }
  const auto version = run_process({*path, "--version"});
  layer.present = version && version->exit_code == 0;
  layer.detail = layer.present ? version->output.substr(0, version->output.find('\n')) : "does not run";
  return layer;
}

Layer seccomp_layer() {
  Layer layer{.name = "seccomp filter"};
  for (Profile profile : {Profile::Compiler, Profile::Worker}) {
    const auto program = seccomp_program(profile);
    layer.present = program.has_value();
    layer.detail = program ? "compiles" : program.error().message;
    if (!program) break;
  }
  if (!layer.present) layer.remedy = "apt-get install libseccomp2 (2.5 or newer)";
  return layer;
}

Layer user_layer() {
  Layer layer{.name = "unprivileged user", .present = true};
  if (geteuid() != 0) {
    layer.detail = "the sandbox runs as you do; the namespaces separate it from your files and processes";
    return layer;
  }
  const auto slot = take_uid_slot();
  layer.present = slot.has_value();
  layer.detail = slot ? fmt::format("started by root, each job gets a user id of its own, such as {}", slot->uid)
                      : slot.error().message;
  if (!slot) layer.remedy = "make /run writable for root";
  return layer;
}

Layer cgroup_layer() {
  Layer layer{.name = "control groups", .required = false};
  layer.present = JobCgroup::create(Limits()).exists();
  layer.detail = layer.present ? "the kernel enforces memory and process limits"
                               : "not writable here; memory and processes are limited by watching them instead";
  if (!layer.present) layer.remedy = "optional: run in a delegated group (systemd-run --user --scope -p Delegate=yes)";
  return layer;
}

Layer whole_sandbox() {
  Layer layer{.name = "sandbox"};
  Policy policy;
  policy.argv = {"/usr/bin/true"};
  policy.profile = Profile::Worker;
  policy.limits.wall = std::chrono::seconds(10);
  const Outcome outcome = run(policy);
  layer.present = outcome.ok();
  layer.detail = layer.present ? "a program ran in it" : outcome.reason;
  if (!layer.present)
    layer.remedy = "see the reason above; --unsafe-no-sandbox runs without isolation and is never ranked";
  return layer;
}

}  // namespace

std::vector<Layer> inspect_layers() {
  return {bubblewrap_layer(), seccomp_layer(), user_layer(), cgroup_layer(), whole_sandbox()};
}

}  // namespace hipbench::sandbox
