#include "tamis/detail/io/file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/bytes.hpp"
#include "tests/support/temporary_directory.hpp"

namespace tamis {

using namespace detail;

namespace {

namespace fs = std::filesystem;
using test::refused;
using test::temporary_directory;

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(file_replacement, new_file) {
  const temporary_directory directory;
  ASSERT_TRUE(replace_file(directory / "a", "content").ok());
  EXPECT_EQ(content_of(directory / "a"), "content");
  EXPECT_EQ(directory.entries(), 1u);
}

TEST(file_replacement, old_content_stays_until_commit) {
  const temporary_directory directory;
  ASSERT_TRUE(replace_file(directory / "a", "old").ok());
  auto file = file_replacement::create(directory / "a").value();
  ASSERT_TRUE(file.write(test::bytes_of("new")).ok());
  EXPECT_EQ(content_of(directory / "a"), "old");
  ASSERT_TRUE(file.commit().ok());
  EXPECT_EQ(content_of(directory / "a"), "new");
  EXPECT_EQ(directory.entries(), 1u);
}

TEST(file_replacement, giving_up_leaves_the_old_content_and_nothing_else) {
  const temporary_directory directory;
  ASSERT_TRUE(replace_file(directory / "a", "old").ok());
  {
    auto file = file_replacement::create(directory / "a").value();
    ASSERT_TRUE(file.write(test::bytes_of("half of the ne")).ok());
    EXPECT_EQ(directory.entries(), 2u);
  }
  EXPECT_EQ(content_of(directory / "a"), "old");
  EXPECT_EQ(directory.entries(), 1u);
}

TEST(file_replacement, moved_one_still_works) {
  const temporary_directory directory;
  auto first = file_replacement::create(directory / "a").value();
  file_replacement second = std::move(first);
  ASSERT_TRUE(second.write(test::bytes_of("moved")).ok());
  ASSERT_TRUE(second.commit().ok());
  EXPECT_EQ(content_of(directory / "a"), "moved");
}

TEST(file_replacement, failed_commit_leaves_the_old_content) {
  const temporary_directory directory;
  auto file = file_replacement::create(directory / "a").value();
  ASSERT_TRUE(file.write(test::bytes_of("new")).ok());
  // A directory that is not empty cannot be replaced by a file.
  fs::create_directory(directory / "a");
  ASSERT_TRUE(replace_file(directory / "a/inside", "old").ok());
  EXPECT_TRUE(refused(file.commit(), "cannot replace"));
  EXPECT_EQ(content_of(directory / "a/inside"), "old");
}

TEST(file_replacement, two_writers_do_not_meet) {
  const temporary_directory directory;
  auto first = file_replacement::create(directory / "a").value();
  auto second = file_replacement::create(directory / "a").value();
  ASSERT_TRUE(first.write(test::bytes_of("first")).ok());
  ASSERT_TRUE(second.write(test::bytes_of("second")).ok());
  ASSERT_TRUE(second.commit().ok());
  ASSERT_TRUE(first.commit().ok());
  EXPECT_EQ(content_of(directory / "a"), "first");
  EXPECT_EQ(directory.entries(), 1u);
}

TEST(file_replacement, symbolic_links_are_kept) {
  const temporary_directory directory;
  fs::create_directory(directory / "real");
  ASSERT_TRUE(replace_file(directory / "real/file", "old").ok());
  fs::create_symlink("real/file", directory / "link");
  ASSERT_TRUE(replace_file(directory / "link", "new").ok());
  EXPECT_TRUE(fs::is_symlink(directory / "link"));
  EXPECT_EQ(content_of(directory / "real/file"), "new");
}

TEST(file_replacement, link_to_a_file_that_is_not_there_yet_is_kept) {
  const temporary_directory directory;
  fs::create_directory(directory / "real");
  fs::create_symlink("real/file", directory / "link");
  ASSERT_TRUE(replace_file(directory / "link", "new").ok());
  EXPECT_TRUE(fs::is_symlink(directory / "link"));
  EXPECT_EQ(content_of(directory / "real/file"), "new");
}

TEST(file_replacement, permissions_are_kept) {
  const temporary_directory directory;
  ASSERT_TRUE(replace_file(directory / "a", "old").ok());
  for (const mode_t mode : {0600, 0644, 0400}) {
    ASSERT_EQ(::chmod((directory / "a").c_str(), mode), 0);
    ASSERT_TRUE(replace_file(directory / "a", "new").ok());
    struct stat info {};
    ASSERT_EQ(::stat((directory / "a").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, mode);
  }
}

TEST(file_replacement, what_cannot_be_written_is_an_error_that_names_the_path) {
  const temporary_directory directory;
  EXPECT_TRUE(refused(replace_file(directory / "missing/a", "x"), directory / "missing/a"));
  EXPECT_TRUE(refused(replace_file(directory.path().string(), "x"), "is a directory"));
  ASSERT_EQ(::mkfifo((directory / "pipe").c_str(), 0600), 0);
  EXPECT_TRUE(refused(replace_file(directory / "pipe", "x"), "not a regular file"));
  EXPECT_EQ(directory.entries(), 1u);
}

TEST(file_replacement, unwritable_directory_is_an_error) {
  EXPECT_TRUE(refused(replace_file("/proc/tamis", "x"), "/proc/tamis"));  // nobody may, not even root
  const temporary_directory directory;
  fs::permissions(directory.path(), fs::perms::owner_read | fs::perms::owner_exec);
  if (::geteuid() != 0) {
    EXPECT_TRUE(refused(replace_file(directory / "a", "x"), directory / "a"));
  }
}

TEST(file_source, reads_what_was_written) {
  const temporary_directory directory;
  ASSERT_TRUE(replace_file(directory / "a", "content").ok());
  auto source = file_source::open(directory / "a").value();
  EXPECT_EQ(source.remaining(), 7u);
  test::byte_vector bytes(3);
  ASSERT_TRUE(source.read(bytes).ok());
  EXPECT_EQ(bytes, test::bytes_of("con"));
  EXPECT_EQ(source.remaining(), 4u);
  bytes.resize(5);
  EXPECT_TRUE(refused(source.read(bytes), "too early"));
}

TEST(file_source, what_cannot_be_read_is_an_error_that_names_the_path) {
  const temporary_directory directory;
  EXPECT_TRUE(refused(file_source::open(directory / "missing"), directory / "missing"));
  EXPECT_TRUE(refused(file_source::open(directory.path().string()), "is a directory"));
}

// A pipe that nobody writes to would make an ordinary open wait for ever.
TEST(file_source, what_is_not_a_regular_file_is_refused_at_once_and_called_by_its_name) {
  const temporary_directory directory;
  ASSERT_EQ(::mkfifo((directory / "pipe").c_str(), 0600), 0);
  EXPECT_TRUE(
      refused(file_source::open(directory / "pipe"), (directory / "pipe") + ": is not a regular file, but a named pipe"));
  EXPECT_TRUE(refused(file_source::open("/dev/null"), "/dev/null: is not a regular file, but a character device"));
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{AF_UNIX, {}};
  const std::string path = directory / "socket";
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_TRUE(refused(file_source::open(path), path + ": is not a regular file, but a socket"));
  EXPECT_TRUE(refused(replace_file(path, "x"), "but a socket"));
  ::close(socket);
  fs::create_symlink("pipe", directory / "link");
  EXPECT_TRUE(refused(file_source::open(directory / "link"), "but a named pipe"));
}

// A file that shrinks while it is read.
TEST(file_source, file_that_was_cut_meanwhile_ends_too_early) {
  const temporary_directory directory;
  ASSERT_TRUE(replace_file(directory / "a", std::string(1000, 'x')).ok());
  auto source = file_source::open(directory / "a").value();
  fs::resize_file(directory / "a", 10);
  test::byte_vector bytes(1000);
  EXPECT_TRUE(refused(source.read(bytes), "too early"));
}

}  // namespace
}  // namespace tamis
