#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/unit/trainer/schedules.h"
#include "tests/unit/trainer/worker_process.h"
#include "worker/checkpoint/checkpoint_format.h"

namespace espalier::trainer {
namespace {

namespace fs = std::filesystem;
using test::ChangesAt;
using test::kInitialValues;
using test::Scenario;
using test::WorkerProcess;

// A folder that goes away with the test.
struct Folder {
  Folder() : path(mkdtemp(std::string("/tmp/espalier-trainer-XXXXXX").data())) {}
  ~Folder() { fs::remove_all(path); }
  std::string operator/(const std::string& name) const { return (path / name).string(); }
  const fs::path path;
};

void Fill(const HyperParameterValues& values, google::protobuf::Map<std::string, v1::Value>& map) {
  for (const auto& [name, value] : values) {
    v1::Value& proto = map[name];
    if (const auto* integer = std::get_if<std::int64_t>(&value)) proto.set_integer(*integer);
    if (const auto* floating = std::get_if<double>(&value)) proto.set_floating(*floating);
    if (const auto* text = std::get_if<std::string>(&value)) proto.set_text(*text);
  }
}

v1::TrainerRequest Init(StepMeaning step, const std::string& step_log = "", std::int64_t run_id = 1) {
  v1::TrainerRequest request;
  v1::InitRequest& init = *request.mutable_init();
  init.set_trainer("mlp");
  init.set_data("digits");
  if (step.updates == 0) init.mutable_step()->set_epoch(true);
  if (step.updates > 0) init.mutable_step()->set_updates(step.updates);
  Fill(kInitialValues, *init.mutable_values());
  init.set_run_id(run_id);
  init.set_step_log(step_log);
  return request;
}

v1::TrainerRequest Setup(const HyperParameterValues& values) {
  v1::TrainerRequest request;
  Fill(values, *request.mutable_setup()->mutable_values());
  return request;
}

v1::TrainerRequest Train(std::int64_t step) {
  v1::TrainerRequest request;
  request.mutable_train()->set_step(step);
  return request;
}

v1::TrainerRequest Evaluate() {
  v1::TrainerRequest request;
  request.mutable_evaluate();
  return request;
}

v1::TrainerRequest Save(const std::string& path, std::int64_t step) {
  v1::TrainerRequest request;
  request.mutable_save()->set_path(path);
  v1::CheckpointIdentity& identity = *request.mutable_save()->mutable_identity();
  identity.set_step(step);
  identity.set_run_id(5);
  identity.set_leadership_id(9);
  identity.set_lineage_digest("0123");
  return request;
}

v1::TrainerRequest Load(const std::string& path) {
  v1::TrainerRequest request;
  request.mutable_load()->set_path(path);
  return request;
}

v1::TrainerRequest Stop() {
  v1::TrainerRequest request;
  request.mutable_stop();
  return request;
}

bool ExitedWith(int status, int code) { return WIFEXITED(status) && WEXITSTATUS(status) == code; }

std::map<std::string, double> ToMap(const google::protobuf::Map<std::string, double>& map) {
  return {map.begin(), map.end()};
}

struct Trained {
  std::vector<std::map<std::string, double>> metrics;
  std::string state_sha256;
  friend bool operator==(const Trained&, const Trained&) = default;
};

void Begin(WorkerProcess& worker, const Scenario& scenario, const HyperParameterValues& values) {
  REQUIRE(worker.Call(Init(scenario.step)).has_done());
  REQUIRE(worker.Call(Setup(values)).has_done());
}

void TrainStep(WorkerProcess& worker, const Scenario& scenario, std::int64_t step, Trained& result) {
  if (step > 0) REQUIRE(worker.Call(Setup(ChangesAt(scenario.schedule, step))).has_done());
  const v1::TrainerReply reply = worker.Call(Train(step + 1));
  REQUIRE(reply.has_train());
  result.metrics.push_back(ToMap(reply.train().metrics()));
}

Trained TrainStraight(WorkerProcess& worker, const Scenario& scenario, const std::string& path) {
  Trained result;
  Begin(worker, scenario, scenario.schedule(0));
  for (std::int64_t step = 0; step < scenario.step_count; ++step) TrainStep(worker, scenario, step, result);
  result.state_sha256 = worker.Call(Save(path, scenario.step_count)).save().state_sha256();
  return result;
}

// A new process at every third step; evaluations at each; further saves beside the training.
Trained TrainInProcesses(const Scenario& scenario, const Folder& folder) {
  Trained result;
  std::string path;
  for (std::int64_t from = 0; from < scenario.step_count; from += 3) {
    WorkerProcess worker;
    Begin(worker, scenario, scenario.schedule(std::max<std::int64_t>(from - 1, 0)));
    if (from > 0) REQUIRE(worker.Call(Load(path)).has_done());
    const std::int64_t to = std::min(from + 3, scenario.step_count);
    for (std::int64_t step = from; step < to; ++step) {
      TrainStep(worker, scenario, step, result);
      const v1::TrainerReply evaluated = worker.Call(Evaluate());
      CHECK(ToMap(worker.Call(Evaluate()).evaluate().metrics()) == ToMap(evaluated.evaluate().metrics()));
      if (step + 1 < to) worker.Send(Save(folder / "beside", step + 1));
    }
    path = folder / std::to_string(to);
    const v1::TrainerReply saved = worker.Call(Save(path, to));
    REQUIRE(saved.has_save());
    result.state_sha256 = saved.save().state_sha256();
    worker.Send(Stop());
    CHECK(ExitedWith(worker.WaitForExit(), 0));
  }
  return result;
}

v1::FailureKind FailureKindOf(const v1::TrainerReply& reply) {
  REQUIRE(reply.has_failure());
  CHECK_FALSE(reply.failure().message().empty());
  return reply.failure().kind();
}

std::string Content(const std::string& path) {
  std::ostringstream content;
  content << std::ifstream(path).rdbuf();
  return content.str();
}

const Scenario kSmall{"small", {3}, test::ChangingSchedule("sgd"), 2};

}  // namespace

TEST_CASE("a training across processes is the same, bit for bit, as in one", "[torch]") {
  for (const Scenario& scenario : test::Scenarios()) {
    if (!scenario.name.starts_with("a changing optimizer") && !scenario.name.ends_with("by updates")) continue;
    INFO(scenario.name);
    const Folder folder;
    WorkerProcess worker;
    const Trained straight = TrainStraight(worker, scenario, folder / "straight");
    CHECK(TrainInProcesses(scenario, folder) == straight);
    // The worker has trained before; a new training knows nothing of that.
    CHECK(TrainStraight(worker, scenario, folder / "again") == straight);
  }
}

TEST_CASE("a worker describes itself and its trainers", "[torch]") {
  WorkerProcess worker;
  v1::TrainerRequest request;
  request.mutable_describe();
  const v1::DescribeReply describe = worker.Call(request).describe();
  CHECK(describe.protocol_version() == 1);
  CHECK_THAT(describe.device_kind(),
             Catch::StartsWith("cpu ") && Catch::Contains(" libtorch-") && Catch::EndsWith(" threads-1"));
  REQUIRE(describe.trainers_size() == 2);
  CHECK_FALSE(describe.trainers(0).takes_any());
  CHECK(describe.trainers(1).name() == "synthetic");
  CHECK(describe.trainers(1).takes_any());
  const v1::TrainerDescription& mlp = describe.trainers(0);
  CHECK(mlp.name() == "mlp");
  CHECK(mlp.data() == "digits");
  std::vector<std::string> names;
  for (const v1::HyperParameter& hyper_parameter : mlp.hyper_parameters()) {
    names.push_back(hyper_parameter.name());
    CHECK(hyper_parameter.type() != v1::VALUE_TYPE_UNSPECIFIED);
    CHECK(hyper_parameter.initial() == (names.back() == "hidden" || names.back() == "seed"));
  }
  CHECK(names ==
        std::vector<std::string>{"bs", "dropout", "hidden", "lr", "momentum", "optimizer", "seed", "weight_decay"});
}

TEST_CASE("only a trainer that takes any hyper-parameter is given one that it does not declare", "[torch]") {
  WorkerProcess worker;
  v1::TrainerRequest init = Init({});
  init.mutable_init()->set_trainer("synthetic");
  init.mutable_init()->clear_data();
  init.mutable_init()->clear_values();
  Fill({{"state_bytes", std::int64_t{10}}}, *init.mutable_init()->mutable_values());
  HyperParameterValues values = {
      {"curve_limit", 1.0}, {"curve_noise", 0.0}, {"curve_rate", 0.1}, {"step_seconds", 0.0}};
  values["warp"] = 9.5;
  REQUIRE(worker.Call(init).has_done());
  CHECK(worker.Call(Setup(values)).has_done());
  CHECK(worker.Call(Train(1)).has_train());
  CHECK(worker.Call(Setup({{"curve_rate", std::int64_t{1}}})).failure().kind() == v1::FAILURE_KIND_REQUEST);
  (*init.mutable_init()->mutable_values())["warp"].set_floating(9.5);
  CHECK(worker.Call(init).failure().kind() == v1::FAILURE_KIND_REQUEST);  // never at step 0 only
  REQUIRE(worker.Call(Init({})).has_done());
  HyperParameterValues of_mlp = ChangesAt(kSmall.schedule, 0);
  of_mlp["warp"] = 9.5;
  CHECK(worker.Call(Setup(of_mlp)).failure().kind() == v1::FAILURE_KIND_REQUEST);
}

TEST_CASE("a checkpoint file's head says which point it holds, and no temporary is left", "[torch]") {
  const Folder folder;
  WorkerProcess worker;
  TrainStraight(worker, kSmall, folder / "a");
  const v1::TrainerReply saved = worker.Call(Save(folder / "b", 2));
  v1::CheckpointHead head;
  REQUIRE(head.ParseFromString(ReadCheckpointHead(folder / "b").value()));
  CHECK(head.state_sha256() == saved.save().state_sha256());
  CHECK(head.identity().SerializeAsString() == Save("", 2).save().identity().SerializeAsString());
  CHECK(saved.save().bytes() == static_cast<std::int64_t>(fs::file_size(folder / "b")));
  CHECK(saved.save().blocking_seconds() <= saved.save().seconds());
  CHECK_FALSE(fs::exists(folder / "b.tmp"));
}

TEST_CASE("each step leaves a line in the step log, of every run", "[torch]") {
  const Folder folder;
  WorkerProcess worker;
  for (const std::int64_t run_id : {7, 8}) {
    REQUIRE(worker.Call(Init({1}, folder / "steps", run_id)).has_done());
    REQUIRE(worker.Call(Setup(kSmall.schedule(0))).has_done());
    for (std::int64_t step = 1; step <= 3; ++step) REQUIRE(worker.Call(Train(step)).has_train());
  }
  std::istringstream lines(Content(folder / "steps"));
  for (const std::int64_t run_id : {7, 8}) {
    for (std::int64_t step = 1; step <= 3; ++step) {
      std::int64_t logged_run_id = 0;
      std::int64_t logged_step = 0;
      double seconds = -1;
      lines >> logged_run_id >> logged_step >> seconds;
      CHECK(logged_run_id == run_id);
      CHECK(logged_step == step);
      CHECK(seconds >= 0);
    }
  }
  CHECK((lines >> std::ws).eof());
}

TEST_CASE("a checkpoint that is damaged, missing or of another training is refused as such", "[torch]") {
  const Folder folder;
  WorkerProcess worker;
  TrainStraight(worker, kSmall, folder / "a");
  const auto load = [&](const std::string& path, StepMeaning step) {
    REQUIRE(worker.Call(Init(step)).has_done());
    REQUIRE(worker.Call(Setup(kSmall.schedule(1))).has_done());
    return worker.Call(Load(path));
  };
  CHECK(load(folder / "a", kSmall.step).has_done());
  CHECK(FailureKindOf(load(folder / "a", {4})) == v1::FAILURE_KIND_CHECKPOINT);
  CHECK(FailureKindOf(load(folder / "none", kSmall.step)) == v1::FAILURE_KIND_CHECKPOINT);

  REQUIRE(WriteCheckpointFile(folder / "foreign", "head", "payload").has_value());
  CHECK(FailureKindOf(load(folder / "foreign", kSmall.step)) == v1::FAILURE_KIND_CHECKPOINT);

  std::string bytes = Content(folder / "a");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  std::ofstream(folder / "a") << bytes;
  CHECK(FailureKindOf(load(folder / "a", kSmall.step)) == v1::FAILURE_KIND_CHECKPOINT);
}

TEST_CASE("requests out of order, or of what the trainer has not, are refused as such", "[torch]") {
  WorkerProcess worker;
  const auto refused = [&](const v1::TrainerRequest& request) {
    return FailureKindOf(worker.Call(request)) == v1::FAILURE_KIND_REQUEST;
  };
  CHECK(refused(Train(1)));
  CHECK(refused(v1::TrainerRequest()));
  for (const v1::TrainerRequest& request : {Train(1), Evaluate(), Save("/tmp/x", 0), Load("/tmp/x")}) {
    REQUIRE(worker.Call(Init({1})).has_done());
    CHECK(refused(request));                    // before Setup
    CHECK(refused(Setup(kSmall.schedule(0))));  // after a failure, Init comes first
  }
  Begin(worker, kSmall, kSmall.schedule(0));
  CHECK(refused(Train(2)));
  Begin(worker, kSmall, kSmall.schedule(0));
  CHECK(refused(Save("/tmp/x", 1)));
  Begin(worker, kSmall, kSmall.schedule(0));
  REQUIRE(worker.Call(Train(1)).has_train());
  CHECK(refused(Load("/tmp/x")));

  const HyperParameterValues one_missing{{"lr", 0.1}};
  HyperParameterValues unknown = kSmall.schedule(0);
  unknown["depth"] = 1.0;
  HyperParameterValues initial = kSmall.schedule(0);
  initial["seed"] = std::int64_t{1};
  HyperParameterValues of_other_type = kSmall.schedule(0);
  of_other_type["bs"] = 12.5;
  for (const HyperParameterValues& values : {one_missing, unknown, initial, of_other_type}) {
    REQUIRE(worker.Call(Init({1})).has_done());
    CHECK(refused(Setup(values)));
  }
  v1::TrainerRequest init = Init({1});
  init.mutable_init()->set_data("letters");
  CHECK(refused(init));
  init = Init({1}, "", 0);
  CHECK(refused(init));
  init = Init({1});
  init.mutable_init()->clear_step();
  CHECK(refused(init));
  CHECK(refused(Init({1}, "/no/such/folder/steps")));
}

TEST_CASE("what the trainer refuses is its failure, and what does not fit into memory is told apart", "[torch]") {
  WorkerProcess worker;
  REQUIRE(worker.Call(Init({1})).has_done());
  HyperParameterValues values = kSmall.schedule(0);
  values["bs"] = std::int64_t{0};
  const v1::TrainerReply reply = worker.Call(Setup(values));
  CHECK(FailureKindOf(reply) == v1::FAILURE_KIND_TRAINER);
  CHECK_THAT(reply.failure().message(), Catch::StartsWith("bs: expected"));

  v1::TrainerRequest init = Init({1});
  (*init.mutable_init()->mutable_values())["hidden"].set_integer(1'000'000'000'000);
  CHECK(FailureKindOf(worker.Call(init)) == v1::FAILURE_KIND_OUT_OF_MEMORY);
}

TEST_CASE("a save that cannot be written fails alone: the training goes on", "[torch]") {
  const Folder folder;
  WorkerProcess worker;
  Begin(worker, kSmall, kSmall.schedule(0));
  REQUIRE(worker.Call(Train(1)).has_train());
  const v1::TrainerReply failed = worker.Call(Save(folder / "missing/a", 1));
  CHECK(FailureKindOf(failed) == v1::FAILURE_KIND_CHECKPOINT);
  CHECK(failed.failure().state_intact());
  CHECK(worker.Call(Train(2)).has_train());
  CHECK(worker.Call(Save(folder / "a", 2)).has_save());
}

TEST_CASE("a worker exits when its socket closes, and when it is asked to once its saves are written", "[torch]") {
  const Folder folder;
  {
    WorkerProcess worker;
    Begin(worker, kSmall, kSmall.schedule(0));
    worker.CloseSocket();
    CHECK(ExitedWith(worker.WaitForExit(), 0));
  }
  {
    WorkerProcess worker;
    Begin(worker, kSmall, kSmall.schedule(0));
    for (int i = 0; i < 5; ++i) worker.Send(Save(folder / std::to_string(i), 0));
    worker.Send(Stop());
    CHECK(ExitedWith(worker.WaitForExit(), 0));
    for (int i = 0; i < 5; ++i) CHECK(ReadCheckpointHead(folder / std::to_string(i)).has_value());
  }
  {
    WorkerProcess worker;
    worker.SendBytes("\xff\xff\xff");
    CHECK(ExitedWith(worker.WaitForExit(), 1));
  }
}

TEST_CASE("a worker dies with its parent, even while another process holds its socket", "[torch]") {
  // The worker inherits the writing end of `alive`, so that its end is the end of that pipe.
  int alive[2];
  int release[2];
  REQUIRE(pipe(alive) == 0);
  REQUIRE(pipe(release) == 0);
  const pid_t parent = fork();
  if (parent == 0) {
    WorkerProcess worker;
    worker.Call(Init({1}));
    if (fork() == 0) {  // holds the socket until the test releases it
      close(alive[1]);
      close(release[1]);
      char byte = 0;
      _exit(static_cast<int>(read(release[0], &byte, 1)));
    }
    kill(getpid(), SIGKILL);
  }
  close(alive[1]);
  REQUIRE(waitpid(parent, nullptr, 0) == parent);
  char byte = 0;
  CHECK(read(alive[0], &byte, 1) == 0);
  for (const int fd : {alive[0], release[0], release[1]}) close(fd);
}

#ifdef ESPALIER_FAILPOINTS
TEST_CASE("a worker killed before the rename leaves no file under the checkpoint's name", "[torch]") {
  const Folder folder;
  WorkerProcess worker("worker.save.before_rename=1");
  Begin(worker, kSmall, kSmall.schedule(0));
  CHECK(worker.Call(Save(folder / "a", 0)).kind_case() == v1::TrainerReply::KIND_NOT_SET);
  const int status = worker.WaitForExit();
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
  CHECK_FALSE(fs::exists(folder / "a"));
}

TEST_CASE("a worker killed after a step has logged it", "[torch]") {
  const Folder folder;
  WorkerProcess worker("worker.train.after=2");
  REQUIRE(worker.Call(Init({1}, folder / "steps")).has_done());
  REQUIRE(worker.Call(Setup(kSmall.schedule(0))).has_done());
  REQUIRE(worker.Call(Train(1)).has_train());
  CHECK(worker.Call(Train(2)).kind_case() == v1::TrainerReply::KIND_NOT_SET);
  worker.WaitForExit();
  const std::string log = Content(folder / "steps");
  CHECK(std::count(log.begin(), log.end(), '\n') == 2);
}
#endif

}  // namespace espalier::trainer
