// What a program cannot see or change: the attempt fails as on a machine where the thing does not exist.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "common/files.hpp"
#include "common/unique_fd.hpp"
#include "harness.hpp"

namespace hipbench::sandbox {
namespace {

TEST(Isolation, a_local_socket_is_refused_without_a_verdict) { expect_refused(run_program("network_local")); }

TEST(Isolation, files_that_are_not_mounted_do_not_exist) {
  auto folder = TemporaryDirectory::create("hipbench-secret");
  ASSERT_TRUE(folder) << folder.error().message;
  std::filesystem::permissions(folder->path(), std::filesystem::perms(0755));
  const auto secret = folder->path() / "secret";
  std::ofstream(secret) << "seed";
  for (const std::string& path : {secret.string(), std::string("/etc/passwd"), std::string("/root/.bashrc"),
                                  std::string("/home"), std::string("/var/lib"), std::string(HIPBENCH_SOURCE_DIR)}) {
    const Outcome outcome = run_program("read_file", {path});
    expect_refused(outcome);
    EXPECT_NE(outcome.output.find("No such file"), std::string::npos) << describe(outcome);
  }
}

TEST(Isolation, nothing_can_be_written_but_tmp) {
  for (const char* path : {"/usr/x", "/x", "/dev/x", "/programs/x", "/etc/x", "/proc/x"})
    expect_refused(run_program("write_file", {path}));
  expect_status(run_program("write_file", {"/tmp/x"}), Status::Ok);
}

TEST(Isolation, proc_shows_and_opens_nothing_of_others) { expect_refused(run_program("proc_tricks")); }

TEST(Isolation, a_crash_leaves_no_core_file) { expect_refused(run_program("dump_core", {}, Profile::Compiler)); }

TEST(Isolation, a_sealed_shared_file_cannot_be_truncated) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  UniqueFd ours(ends[0]), theirs(ends[1]);
  const UniqueFd shared(memfd_create("staging", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(shared.get(), 4096), 0);
  ASSERT_EQ(fcntl(shared.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);

  Policy policy = policy_for("truncate_shared");
  policy.fds = {{theirs.get(), 5}};
  auto child = Child::start(policy);
  ASSERT_TRUE(child) << child.error().message;
  theirs.reset();  // start() has made its own copy

  char byte = 'x';
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  cmsghdr* message = CMSG_FIRSTHDR(&header);
  message->cmsg_level = SOL_SOCKET;
  message->cmsg_type = SCM_RIGHTS;
  message->cmsg_len = CMSG_LEN(sizeof(int));
  const int fd = shared.get();
  memcpy(CMSG_DATA(message), &fd, sizeof fd);
  ASSERT_EQ(sendmsg(ours.get(), &header, 0), 1);

  const Outcome outcome = child->wait();
  expect_refused(outcome);
  EXPECT_NE(outcome.output.find("Operation not permitted"), std::string::npos) << describe(outcome);
  struct stat status{};
  ASSERT_EQ(fstat(shared.get(), &status), 0);
  EXPECT_EQ(status.st_size, 4096);
  char first = 0;
  EXPECT_EQ(pread(shared.get(), &first, 1, 0), 1);
  EXPECT_EQ(first, 'w');  // sharing itself works
}

TEST(Isolation, a_product_is_a_regular_file_of_limited_size_or_refused) {
  for (const char* kind : {"link", "directory", "missing", "large"}) {
    Policy policy = policy_for("output_link", {kind});
    policy.output_files = {"/tmp/product"};
    policy.limits.file_bytes = std::string(kind) == "large" ? 1 << 20 : 512 << 10;
    Outcome outcome = run(policy);
    if (std::string(kind) == "large") {
      expect_status(outcome, Status::Ok);
      EXPECT_EQ(outcome.files["/tmp/product"].size(), 900u << 10);
      continue;
    }
    expect_status(outcome, Status::Exited);
    EXPECT_EQ(outcome.evidence.file, "/tmp/product");
    EXPECT_TRUE(outcome.files.empty());
  }
}

}  // namespace
}  // namespace hipbench::sandbox
