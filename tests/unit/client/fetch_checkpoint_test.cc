// A trial's state, brought to this machine: which one, and what is said where it cannot be.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/scratch_folder.h"
#include "client/local_service.h"
#include "tests/unit/client/learning_master.h"

namespace espalier {
namespace {

// A study with one trial whose states at the steps 3 and 5 are stored, and a folder for files.
struct StoredTrial {
  StoredTrial() {
    trial = study.Submit({{{"lr", "0.1"}}}, {.steps = Step{3}, .horizon = Step{9}}).value()[0].Get()->trial;
    CHECK(study.Continue(trial, Step{5}).value().Get().has_value());
  }
  Error MistakeOf(const std::string& file, const FetchOptions& options) {
    const Result<CheckpointView> fetched = client.FetchCheckpoint(trial, file, options);
    REQUIRE_FALSE(fetched.has_value());
    return fetched.error();
  }
  std::string Path(const std::string& name) const { return (folder.path() / name).string(); }

  ScratchFolder folder = ScratchFolder::Create().value();
  FakeMaster master{Options()};
  Client client = Connect(master);
  Study study = Create(client);
  TrialId trial;
};

}  // namespace

TEST_CASE("a state that is not stored is not found, and those that are are named") {
  StoredTrial world;
  const Error error = world.MistakeOf(world.Path("state"), {.step = Step{4}, .store = world.Path("store")});
  CHECK(error.code == ErrorCode::kNotFound);
  CHECK_THAT(error.message, Catch::StartsWith("stored are the states at steps 3, 5; with --train (in C++ `train`)"));
  CHECK(world.master.continuations().empty());
}

TEST_CASE("a file that is there is not written over, and nothing is trained for it") {
  StoredTrial world;
  std::ofstream(world.Path("state")) << "mine";
  const Error error = world.MistakeOf(world.Path("state"), {.step = Step{4}, .train = true, .store = world.Path("s")});
  CHECK(error.code == ErrorCode::kInvalidArgument);
  CHECK(error.field == "file");
  CHECK(world.master.continuations().empty());
}

TEST_CASE("a state that is not stored is trained to once more for who wants it, who is told") {
  StoredTrial world;
  std::vector<std::string> said;
  const Error error = world.MistakeOf(
      world.Path("state"),
      {.step = Step{7}, .train = true, .store = world.Path("store"), .say = [&](const std::string& training) {
         said.push_back(training);
       }});
  CHECK(error.code == ErrorCode::kNotFound);  // evicted at once: what the fake master trains is another trial
  REQUIRE(world.master.continuations().size() == 1);
  const v1::ContinueTrialRequest asked = world.master.continuations()[0];
  CHECK(asked.state_wanted());
  CHECK(asked.continuations(0).steps() == 7);
  const std::string trial = std::to_string(world.trial.value);
  REQUIRE(said.size() == 1);
  CHECK_THAT(said[0], Catch::EndsWith(", trial-" + trial + "-state-7, trains trial " + trial + " to step 7 once more"));
}

TEST_CASE("where no service runs here, it has to be said where the store is") {
  StoredTrial world;
  const Error error = world.MistakeOf(world.Path("state"), {});
  CHECK(error.code == ErrorCode::kFailedPrecondition);
  CHECK_THAT(error.message, Catch::Contains("say with `store` where the checkpoints are"));
}

TEST_CASE(
    "a service on this machine is known by the link to its token beside its socket, and says where its store is") {
  const ScratchFolder data = ScratchFolder::Create().value();
  const ScratchFolder sockets = ScratchFolder::Create().value();
  std::filesystem::create_directory(data.path() / "config");
  std::ofstream(NodeManagerConfigFile(data.path())) << "checkpoint_directory: \"/far/away\"\n";
  std::filesystem::create_symlink(data.path() / "token", sockets.path() / "token");
  const std::string found = DataDirectoryOf("unix:" + (sockets.path() / "master.sock").string());
  CHECK(found == data.path());
  CHECK(StorePlaceOf(found, "`store`").value() == "/far/away");
  CHECK(DataDirectoryOf("localhost:7000").empty());
  CHECK(DataDirectoryOf("unix:" + (data.path() / "master.sock").string()).empty());
}

}  // namespace espalier
