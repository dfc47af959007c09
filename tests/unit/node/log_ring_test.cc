// What a worker has printed, when its log has grown too long, and when it is started again.
#include "worker/process/log_ring.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "tests/support/temporary_folder.h"

namespace espalier::worker {
namespace {

std::string Content(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

TEST_CASE("a log that has grown too long is begun afresh, and the last three before it stay") {
  const TemporaryFolder folder;
  const std::filesystem::path log = folder.path() / "slot-0.log";
  CHECK_FALSE(PutOpenLogAside(log, 3));
  for (const char* text : {"first", "second", "third", "fourth", "fifth"}) {
    std::ofstream writer(log, std::ios::app);  // as a worker holds it
    writer << text << std::flush;
    CHECK_FALSE(PutOpenLogAside(log, 9));
    CHECK(PutOpenLogAside(log, 3));
    writer << '!' << std::flush;
    CHECK(Content(log) == "!");
    std::filesystem::resize_file(log, 0);
  }
  CHECK(Content(folder.path() / "slot-0.log.1") == "fifth");
  CHECK(Content(folder.path() / "slot-0.log.3") == "third");
  CHECK_FALSE(std::filesystem::exists(folder.path() / "slot-0.log.4"));
  PutLogAside(log);
  CHECK_FALSE(std::filesystem::exists(log));
  CHECK(Content(folder.path() / "slot-0.log.2") == "fifth");
}

}  // namespace espalier::worker
