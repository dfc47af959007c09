#include "client/cli/up/data_directory.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "client/cli/up/config_files.h"
#include "client/cli/up/up.h"
#include "tests/unit/up/processes.h"

namespace espalier {
namespace {

TEST_CASE("a data directory has one holder, and the other is told who") {
  TestFolder folder;
  const auto data = DataDirectory::Open(folder.File("data"));
  REQUIRE(data.has_value());
  REQUIRE(data->WriteOwner().has_value());
  const auto second = DataDirectory::Open(folder.File("data"));
  REQUIRE_FALSE(second.has_value());
  CHECK(second.error().code == ErrorCode::kFailedPrecondition);
  CHECK(second.error().message.find("process " + std::to_string(getpid())) != std::string::npos);
  data->Clear();
}

TEST_CASE("sockets have short paths however long that of the data directory is") {
  TestFolder folder;
  const std::string path = folder.File(std::string(150, 'x') + " with spaces/" + std::string(100, 'y'));
  const auto data = DataDirectory::Open(path);
  REQUIRE(data.has_value());
  CHECK(data->Path() == path);
  CHECK(data->RuntimePath().size() < 60);
  struct stat status;
  REQUIRE(stat(data->RuntimePath().c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
  data->Clear();
  CHECK_FALSE(std::filesystem::exists(data->RuntimePath()));
}

TEST_CASE("sockets and address that a killed up left are removed by the next") {
  TestFolder folder;
  std::string left;
  {
    const auto data = DataDirectory::Open(folder.File("data"));
    REQUIRE(data.has_value());
    REQUIRE(data->WriteAddress("unix:/tmp/x").has_value());
    left = data->RuntimePath() + "/left";
    std::ofstream(left) << "socket";
  }
  const auto data = DataDirectory::Open(folder.File("data"));
  REQUIRE(data.has_value());
  CHECK_FALSE(std::filesystem::exists(left));
  CHECK_FALSE(std::filesystem::exists(folder.File("data/address")));
  data->Clear();
}

TEST_CASE("a runtime directory that others may enter is refused") {
  TestFolder folder;
  std::string runtime_path;
  {
    const auto data = DataDirectory::Open(folder.File("data"));
    REQUIRE(data.has_value());
    runtime_path = data->RuntimePath();
  }
  REQUIRE(chmod(runtime_path.c_str(), 0777) == 0);
  const auto data = DataDirectory::Open(folder.File("data"));
  REQUIRE_FALSE(data.has_value());
  CHECK(data.error().message.find(runtime_path) != std::string::npos);
  std::filesystem::remove_all(runtime_path);
}

TEST_CASE("paths with quotes and spaces survive the configuration file") {
  TestFolder folder;
  REQUIRE(WriteNodeManagerConfig(folder.File("config"), {.master_address = "unix:/a",
                                                         .server = "s",
                                                         .slot_count = 2,
                                                         .checkpoint_directory = "/a \"b\"",
                                                         .work_directory = "/w",
                                                         .runtimes = {{"r", {"/x y", "z"}}},
                                                         .stop_time = Seconds(3)})
              .has_value());
  const std::string text = ReadFile(folder.File("config"));
  CHECK(text.find("checkpoint_directory: \"/a \\\"b\\\"\"") != std::string::npos);
  CHECK(text.find("command: \"/x y\"\n  command: \"z\"") != std::string::npos);
}

TEST_CASE("down says when nothing runs") {
  TestFolder folder;
  CHECK(Down(folder.File("none")) == false);
}

}  // namespace
}  // namespace espalier
