// What a machine does to files: every case ends in a sentence, and what was stored before is still there.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "results/database.hpp"
#include "results/migrations.hpp"
#include "tests/results/sample_evaluation.hpp"

namespace hipbench::results {
namespace {

using testing::HasSubstr;

class DamagedDatabaseTest : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "results.db"; }
  const std::filesystem::path& folder() const { return folder_.path(); }

  void write(const std::string& content) const { std::ofstream(file(), std::ios::binary) << content; }
  void make_database() const {
    Result<Store> store = Store::open(file());
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(store->record(sample_evaluation(std::string(5000, 'a'))));
  }
  std::string error_of(const std::filesystem::path& path, Access access = Access::ReadWrite) const {
    const Result<Store> store = Store::open(path, {.access = access, .patience = std::chrono::milliseconds(200)});
    return store ? "" : store.error().message;
  }

 private:
  TemporaryDirectory folder_ = TemporaryDirectory::create("damaged_database_test").value();
};

TEST_F(DamagedDatabaseTest, AFileOfAnotherKind) {
  write("#include <hip/hip_runtime.h>\n" + std::string(2000, 'x'));
  EXPECT_THAT(error_of(file()), HasSubstr("is not a database"));
  EXPECT_THAT(error_of(file(), Access::Read), HasSubstr("is not a database"));
}

TEST_F(DamagedDatabaseTest, AnEmptyFileBecomesADatabase) {
  write("");
  EXPECT_EQ(error_of(file()), "");
}

TEST_F(DamagedDatabaseTest, AFolderAndAMissingFolder) {
  EXPECT_THAT(error_of(folder()), HasSubstr("is a folder"));
  EXPECT_THAT(error_of(folder() / "none" / "x.db"), HasSubstr("there is no folder"));
  EXPECT_THAT(error_of("/dev/null"), HasSubstr("is not a regular file"));
}

TEST_F(DamagedDatabaseTest, OverwrittenPages) {
  make_database();
  {
    std::fstream stream(file(), std::ios::in | std::ios::out | std::ios::binary);
    const auto size = std::filesystem::file_size(file());
    for (uint64_t at = 4096; at < size; at += 64) {
      stream.seekp(static_cast<std::streamoff>(at));
      stream << std::string(64, '\xa5');
    }
  }
  Result<Store> store = Store::open(file(), {.access = Access::Read});
  const std::string message = !store ? store.error().message : !store->list() ? store->list().error().message : "";
  EXPECT_THAT(message, HasSubstr("is damaged"));
  EXPECT_THAT(message, HasSubstr(".recover"));
}

TEST_F(DamagedDatabaseTest, AWordThatNoVersionWrote) {
  make_database();
  SQLite::Database(file().string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE evaluations SET verdict = 'great' WHERE id = 3");
  const Result<Store> store = Store::open(file());
  EXPECT_THAT(store->load(3).error().message, HasSubstr("unknown verdict \"great\""));
  EXPECT_TRUE(store->load(4));
}

TEST_F(DamagedDatabaseTest, ALockThatStays) {
  make_database();
  SQLite::Database other(file().string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  Result<Store> store = Store::open(file(), {.patience = std::chrono::milliseconds(200)});
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_THAT(store->record(sample_evaluation()).error().message, HasSubstr("locked by another program"));
  EXPECT_EQ(store->list()->size(), 20U);  // readers do not wait for writers
  other.exec("COMMIT");
  EXPECT_TRUE(store->record(sample_evaluation()));
}

// Permissions bind root only when it acts as somebody else.
class AsNobody {
 public:
  AsNobody() : was_root_(::geteuid() == 0) {
    if (was_root_ && ::seteuid(65534) != 0) std::abort();
  }
  ~AsNobody() {
    if (was_root_ && ::seteuid(0) != 0) std::abort();
  }

 private:
  bool was_root_;
};

TEST_F(DamagedDatabaseTest, AReadOnlyFileAndFolderCanBeRead) {
  make_database();
  ::chmod(file().c_str(), 0444);
  ::chmod(folder().c_str(), 0555);
  {
    const AsNobody nobody;
    const Result<Store> store = Store::open(file(), {.access = Access::Read});
    ASSERT_TRUE(store) << store.error().message;
    EXPECT_EQ(store->list()->size(), 20U);
    EXPECT_THAT(error_of(file()), HasSubstr("cannot be written"));
    EXPECT_THAT(error_of(folder() / "new.db"), HasSubstr("permission"));
  }
  ::chmod(folder().c_str(), 0755);
}

TEST_F(DamagedDatabaseTest, AReadOnlyFileOfAnEarlierVersionCanBeReadToo) {
  ASSERT_TRUE(open_database(file(), {}, migrations().first(3)));
  ::chmod(file().c_str(), 0444);
  ::chmod(folder().c_str(), 0555);
  {
    const AsNobody nobody;
    const Result<Store> store = Store::open(file(), {.access = Access::Read});
    ASSERT_TRUE(store) << store.error().message;
    EXPECT_TRUE(store->list()->empty());
    EXPECT_FALSE(store->load(1));
  }
  ::chmod(folder().c_str(), 0755);
  EXPECT_EQ(SQLite::Database(file().string()).execAndGet("PRAGMA user_version").getInt(), 3);
}

TEST_F(DamagedDatabaseTest, AFullDisk) {
  // In a child with a disk of its own. Exit status: 0 as it should be, 1 not, 2 no such disk can be made here.
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(::geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0) ::_exit(2);
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) ::_exit(2);
    if (::mount("tmpfs", folder().c_str(), "tmpfs", 0, "size=400k") != 0) ::_exit(2);
    Result<Store> store = Store::open(file());
    if (!store) ::_exit(1);
    size_t stored = 0;
    std::string message;
    while (message.empty() && stored < 1000) {
      const Result<int64_t> id = store->record(sample_evaluation(std::string(3000, 'a') + std::to_string(stored)));
      if (id) {
        ++stored;
      } else {
        message = id.error().message;
      }
    }
    const bool clear = message.find("is full") != std::string::npos;
    const bool whole = store->list()->size() == stored && store->load(static_cast<int64_t>(stored)).has_value();
    if (!clear || !whole || stored == 0) fprintf(stderr, "%zu stored, then: %s\n", stored, message.c_str());
    ::_exit(clear && whole && stored > 0 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 2) GTEST_SKIP() << "mounting a small disk is not permitted here";
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace hipbench::results
