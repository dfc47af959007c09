#include "worker/node/work_directory.h"

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <set>

#include "protocol/offer.h"
#include "worker/node/config.h"

namespace espalier::node {
namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder() {
    char name[] = "/tmp/espalier-work-XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr);
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  fs::path path;
};

}  // namespace

TEST_CASE("what is recorded of a run is found again until it is forgotten") {
  Folder folder;
  WorkDirectory directory = WorkDirectory::Open(folder.path / "work").value();
  const RunKey run{LeadershipId{77}, RunId{7}};
  directory.RecordRun(run, {{PlanNodeId{1}, Step{0}, Step{3}}, {PlanNodeId{2}, Step{3}, Step{5}}});
  std::ofstream(directory.steps() / "no run") << "path 1 0 3\n";
  const auto begun = static_cast<std::int64_t>(directory.ReadStepLog(run, 0).size());
  std::ofstream(directory.steps() / "77-7.log", std::ios::app) << "7 1 0.5\n7 2 0.5\n";
  REQUIRE(directory.LeftOverRuns().size() == 1);
  CHECK(directory.LeftOverRuns()[0].run == run);
  REQUIRE(directory.LeftOverRuns()[0].path.size() == 2);
  CHECK(directory.LeftOverRuns()[0].path[1].to == Step{5});
  CHECK(directory.ReadStepLog(run, begun + 8) == "7 2 0.5\n");
  directory.ForgetRun(run);
  CHECK(directory.LeftOverRuns().empty());
  CHECK(directory.ReadStepLog(run, 0).empty());
}

TEST_CASE("a run's step log holds nothing of the run whose file it was") {
  Folder folder;
  WorkDirectory directory = WorkDirectory::Open(folder.path / "work").value();
  const RunKey first{LeadershipId{77}, RunId{7}};
  directory.RecordRun(first, {{PlanNodeId{1}, Step{0}, Step{3}}, {PlanNodeId{2}, Step{3}, Step{5}}});
  directory.ForgetRun(first);
  const RunKey second{LeadershipId{77}, RunId{8}};
  directory.RecordRun(second, {{PlanNodeId{4}, Step{0}, Step{9}}});
  CHECK(directory.ReadStepLog(second, 0) == "path 4 0 9\n");
  REQUIRE(directory.LeftOverRuns().size() == 1);
  CHECK(directory.LeftOverRuns()[0].run == second);
  REQUIRE(directory.LeftOverRuns()[0].path.size() == 1);
  CHECK(directory.LeftOverRuns()[0].path[0].node == PlanNodeId{4});
}

TEST_CASE("incarnations of one work directory have its id in common, and no other's") {
  Folder folder;
  std::set<std::string> incarnations;
  std::set<std::string_view> ids;
  for (const char* name : {"one", "one", "two"}) {
    const auto directory = WorkDirectory::Open(folder.path / name);
    REQUIRE(directory.has_value());
    ids.insert(WorkDirectoryIdOf(*incarnations.insert(directory->NewIncarnation()).first));
  }
  CHECK(incarnations.size() == 3);
  CHECK(ids.size() == 2);
  std::ofstream(folder.path / "one" / "id") << "damaged";
  const auto again = WorkDirectory::Open(folder.path / "one");
  REQUIRE(again.has_value());
  CHECK(WorkDirectoryIdOf(again->NewIncarnation()).size() == 16);
}

TEST_CASE("a work directory is set up once a node manager has used it") {
  Folder folder;
  CHECK_FALSE(WorkDirectory::IsSetUp(folder.path / "work"));
  REQUIRE(WorkDirectory::Open(folder.path / "work").has_value());
  CHECK(WorkDirectory::IsSetUp(folder.path / "work"));
}

TEST_CASE("copies of checkpoints that an earlier node manager has left are removed, once nobody uses the folder") {
  Folder folder;
  {
    const WorkDirectory directory = WorkDirectory::Open(folder.path / "work").value();
    std::ofstream(directory.fetched() / "copy") << "content";
    CHECK_FALSE(WorkDirectory::Open(folder.path / "work").has_value());
    CHECK(fs::exists(directory.fetched() / "copy"));
  }
  CHECK(fs::is_empty(WorkDirectory::Open(folder.path / "work").value().fetched()));
}

TEST_CASE("a configuration that lacks something or is no configuration is refused with the field or the line") {
  Folder folder;
  const fs::path file = folder.path / "node.textproto";
  const auto read = [&](const std::string& text) {
    std::ofstream(file) << text;
    return ReadConfig(file);
  };
  const std::string whole =
      "master_address: 'm' server: 's' checkpoint_directory: 'c' work_directory: 'w' runtimes { name: 'toy' command: "
      "'worker' }";
  CHECK(SlotCountOf(CapacitiesOf(read(whole).value().devices)) >= 1);
  CHECK(read(whole).value().work_directory.is_absolute());
  CHECK(SlotCountOf(CapacitiesOf(read(whole + " slot_count: 3 stop_seconds: 2").value().devices)) == 3);
  CHECK(std::get<fs::path>(read(whole).value().checkpoints).is_absolute());
  const auto stored_in = [&](const std::string& place) {
    return read("master_address: 'm' server: 's' checkpoint_directory: '" + place +
                "' work_directory: 'w' runtimes { name: 'toy' command: 'worker' }");
  };
  CHECK(std::get<GlusterLocation>(stored_in("gfapi://h/v/p").value().checkpoints).volume == "v");
  CHECK(stored_in("gfapi://h/v").error().field == "checkpoint_directory");
  CHECK(read(whole + " slot_count: -1").error().field == "slot_count");
  CHECK(read("master_address: 'm'").error().field == "server");
  CHECK(read("\nnonsense: 1").error().message.find("line 2") != std::string::npos);
  CHECK(ReadConfig(folder.path / "none").error().code == ErrorCode::kNotFound);
}

}  // namespace espalier::node
