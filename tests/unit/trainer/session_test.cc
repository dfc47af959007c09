#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/processor.h"
#include "tests/unit/trainer/schedules.h"
#include "tests/unit/trainer/worker_process.h"
#include "worker/checkpoint/checkpoint_format.h"
#include "worker/trainer/failure.h"

namespace espalier::trainer {
namespace {

namespace fs = std::filesystem;
using test::As;
using test::ChangesAt;
using test::Is;
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

const Scenario kSmall{"small", {3}, test::ChangingSchedule("sgd"), 2};

worker::Init Init(StepMeaning step, const std::string& step_log = "", std::int64_t run_id = 1) {
  HyperParameterValues values = kSmall.schedule(0);
  values.insert(kInitialValues.begin(), kInitialValues.end());
  return {{LeadershipId{9}, RunId{run_id}}, "mlp", "digits", step, std::move(values), step_log};
}

worker::Train Train(std::int64_t step) { return {Step{step}}; }

worker::Save Save(const std::string& path, std::int64_t step) {
  return {path, {{LeadershipId{9}, RunId{5}}, PlanId{1}, {PlanNodeId{2}, Step{step}}, DigestOf("lineage")}};
}

bool ExitedWith(int status, int code) { return WIFEXITED(status) && WEXITSTATUS(status) == code; }

struct Trained {
  std::vector<Metrics> metrics;
  std::string state_sha256;
  friend bool operator==(const Trained&, const Trained&) = default;
};

void Begin(WorkerProcess& worker, const Scenario& scenario, const HyperParameterValues& values) {
  REQUIRE(Is<worker::Done>(worker.Call(Init(scenario.step))));
  REQUIRE(Is<worker::Done>(worker.Call(worker::Setup{values})));
}

void TrainStep(WorkerProcess& worker, const Scenario& scenario, std::int64_t step, Trained& result) {
  if (step > 0) REQUIRE(Is<worker::Done>(worker.Call(worker::Setup{ChangesAt(scenario.schedule, step)})));
  const test::Reply reply = worker.Call(Train(step + 1));
  REQUIRE(Is<worker::Trained>(reply));
  result.metrics.push_back(As<worker::Trained>(reply).metrics);
}

Trained TrainStraight(WorkerProcess& worker, const Scenario& scenario, const std::string& path) {
  Trained result;
  Begin(worker, scenario, scenario.schedule(0));
  for (std::int64_t step = 0; step < scenario.step_count; ++step) TrainStep(worker, scenario, step, result);
  result.state_sha256 = As<worker::Saved>(worker.Call(Save(path, scenario.step_count))).state_sha256;
  return result;
}

// A new process at every third step; evaluations at each; further saves beside the training.
Trained TrainInProcesses(const Scenario& scenario, const Folder& folder) {
  Trained result;
  std::string path;
  for (std::int64_t from = 0; from < scenario.step_count; from += 3) {
    WorkerProcess worker;
    Begin(worker, scenario, scenario.schedule(std::max<std::int64_t>(from - 1, 0)));
    if (from > 0) REQUIRE(Is<worker::Done>(worker.Call(worker::Load{path})));
    const std::int64_t to = std::min(from + 3, scenario.step_count);
    for (std::int64_t step = from; step < to; ++step) {
      TrainStep(worker, scenario, step, result);
      const auto evaluated = As<worker::Evaluated>(worker.Call(worker::Evaluate{}));
      CHECK(As<worker::Evaluated>(worker.Call(worker::Evaluate{})).metrics == evaluated.metrics);
      if (step + 1 < to) worker.Send(Save(folder / "beside", step + 1));
    }
    path = folder / std::to_string(to);
    const test::Reply saved = worker.Call(Save(path, to));
    REQUIRE(Is<worker::Saved>(saved));
    result.state_sha256 = As<worker::Saved>(saved).state_sha256;
    worker.CloseSocket();
    CHECK(ExitedWith(worker.WaitForExit(), 0));
  }
  return result;
}

FailureKind FailureKindOf(const test::Reply& reply) {
  const auto failure = As<worker::Failure>(reply);
  CHECK_FALSE(failure.message.empty());
  return failure.kind;
}

std::size_t ThreadCountOf(const WorkerProcess& worker) {
  const fs::directory_iterator threads("/proc/" + std::to_string(worker.pid()) + "/task");
  return static_cast<std::size_t>(std::distance(begin(threads), end(threads)));
}

std::string Content(const std::string& path) {
  std::ostringstream content;
  content << std::ifstream(path).rdbuf();
  return content.str();
}

}  // namespace

TEST_CASE("a training across processes is the same, bit for bit, as in one", "[torch]") {
  for (const Scenario& scenario : test::Scenarios()) {
    if (!scenario.name.starts_with("a changing optimizer") && !scenario.name.starts_with("SGD")) continue;
    INFO(scenario.name);
    const Folder folder;
    WorkerProcess worker;
    const Trained straight = TrainStraight(worker, scenario, folder / "straight");
    CHECK(TrainInProcesses(scenario, folder) == straight);
    // The worker has trained before; a new training knows nothing of that.
    CHECK(TrainStraight(worker, scenario, folder / "again") == straight);
  }
}

TEST_CASE("a worker fetches ahead if it is told to, by a thread that ends with the training, and trains the same",
          "[torch]") {
  const Folder folder;
  const Scenario scenario{"", {5}, test::ChangingSchedule(""), 12};
  std::vector<Trained> all;
  for (const std::string prefetch : {"0", "3"}) {
    INFO(prefetch);
    WorkerProcess worker("", prefetch);
    Begin(worker, scenario, scenario.schedule(0));
    const std::size_t threads = ThreadCountOf(worker);
    all.push_back(TrainStraight(worker, scenario, folder / prefetch));
    CHECK(ThreadCountOf(worker) == threads + (prefetch == "0" ? 0 : 1));
    Begin(worker, scenario, scenario.schedule(0));
    while (ThreadCountOf(worker) != threads) std::this_thread::yield();  // the system counts it for a moment
    REQUIRE(Is<worker::Trained>(worker.Call(Train(1))));
    worker.CloseSocket();
    CHECK(ExitedWith(worker.WaitForExit(), 0));
  }
  CHECK(all.front() == all.back());
}

TEST_CASE("a worker that is to fetch no number of batches ahead does not begin", "[torch]") {
  for (const char* prefetch : {"many", "-1"}) {
    WorkerProcess worker("", prefetch);
    CHECK(ExitedWith(worker.WaitForExit(), 2));
  }
}

TEST_CASE("a worker describes itself and its trainers", "[torch]") {
  WorkerProcess worker;
  const auto described = As<worker::Description>(worker.Call(worker::Describe{}));
  CHECK(described.protocol_version == 1);
  CHECK_THAT(described.device_kind, Catch::StartsWith("cpu " + Processor() + " ") && Catch::Contains(" libtorch-") &&
                                        Catch::EndsWith(" threads-1"));
  REQUIRE(described.offers.size() == 4);
  CHECK_FALSE(described.offers[0].schema.takes_any);
  CHECK(described.offers[1].trainer == "mobilenet_v2");
  CHECK(described.offers[2].trainer == "resnet");
  CHECK(described.offers[3].trainer == "synthetic");
  CHECK(described.offers[3].schema.takes_any);
  const Offer& mlp = described.offers[0];
  CHECK(mlp.trainer == "mlp");
  CHECK(mlp.data == "digits");
  std::vector<std::string> names;
  for (const HyperParameter& hyper_parameter : mlp.schema.hyper_parameters) {
    names.push_back(hyper_parameter.name);
    CHECK(hyper_parameter.initial ==
          (names.back() == "hidden" || names.back() == "precision" || names.back() == "seed"));
  }
  CHECK(names == std::vector<std::string>{"alpha", "beta1", "beta2", "bs", "crop", "cutout", "dropout", "eps", "flip",
                                          "hidden", "lr", "momentum", "nesterov", "optimizer", "precision", "seed",
                                          "weight_decay"});
}

TEST_CASE("only a trainer that takes any hyper-parameter is given one that it does not declare", "[torch]") {
  WorkerProcess worker;
  HyperParameterValues values = {
      {"curve_limit", 1.0}, {"curve_noise", 0.0}, {"curve_rate", 0.1}, {"step_seconds", 0.0}, {"warp", 9.5}};
  worker::Init init = Init({});
  init.trainer = "synthetic";
  init.data.clear();
  init.values = values;
  init.values["state_bytes"] = std::int64_t{10};
  REQUIRE(Is<worker::Done>(worker.Call(init)));
  CHECK(Is<worker::Done>(worker.Call(worker::Setup{values})));
  CHECK(Is<worker::Trained>(worker.Call(Train(1))));
  CHECK(FailureKindOf(worker.Call(worker::Setup{{{"curve_rate", std::int64_t{1}}}})) == FailureKind::kRequest);
  REQUIRE(Is<worker::Done>(worker.Call(Init({}))));
  HyperParameterValues of_mlp = ChangesAt(kSmall.schedule, 0);
  of_mlp["warp"] = 9.5;
  CHECK(FailureKindOf(worker.Call(worker::Setup{of_mlp})) == FailureKind::kRequest);
}

TEST_CASE("a checkpoint file says which point it holds, and no temporary is left", "[torch]") {
  const Folder folder;
  WorkerProcess worker;
  TrainStraight(worker, kSmall, folder / "a");
  const auto saved = As<worker::Saved>(worker.Call(Save(folder / "b", 2)));
  const CheckpointHead head = CheckCheckpointFile(folder / "b").value();
  CHECK(head.state_sha256 == saved.state_sha256);
  CHECK(head.identity == Save("", 2).identity);
  CHECK(saved.bytes == static_cast<std::int64_t>(fs::file_size(folder / "b")));
  CHECK(saved.blocking_time <= saved.time);
  CHECK_FALSE(fs::exists(folder / "b.tmp"));
}

TEST_CASE("each step leaves a line in the step log, of every run", "[torch]") {
  const Folder folder;
  WorkerProcess worker;
  for (const std::int64_t run_id : {7, 8}) {
    REQUIRE(Is<worker::Done>(worker.Call(Init({1}, folder / "steps", run_id))));
    REQUIRE(Is<worker::Done>(worker.Call(worker::Setup{kSmall.schedule(0)})));
    for (std::int64_t step = 1; step <= 3; ++step) REQUIRE(Is<worker::Trained>(worker.Call(Train(step))));
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

TEST_CASE("a training that goes on for another run, from where it stands or from before, is the same", "[torch]") {
  const Folder folder;
  WorkerProcess worker;
  const auto state_at = [&](std::int64_t step, const std::string& name) {
    return As<worker::Saved>(worker.Call(Save(folder / name, step))).state_sha256;
  };
  Begin(worker, kSmall, kSmall.schedule(0));
  REQUIRE(Is<worker::Trained>(worker.Call(Train(1))));
  state_at(1, "one");
  REQUIRE(Is<worker::Trained>(worker.Call(Train(2))));
  const std::string straight = state_at(2, "two");
  const auto proceed = [&](std::int64_t run) {
    REQUIRE(Is<worker::Done>(worker.Call(worker::Proceed{{LeadershipId{9}, RunId{run}}, folder / "steps"})));
  };
  proceed(7);
  REQUIRE(Is<worker::Trained>(worker.Call(Train(3))));
  const std::string third = state_at(3, "three");
  proceed(8);
  REQUIRE(Is<worker::Done>(worker.Call(worker::Setup{kSmall.schedule(0)})));
  REQUIRE(Is<worker::Done>(worker.Call(worker::Load{folder / "one"})));
  for (const std::int64_t step : {2, 3}) REQUIRE(Is<worker::Trained>(worker.Call(Train(step))));
  CHECK(state_at(3, "again") == third);
  CHECK(third != straight);
  std::istringstream steps(Content(folder / "steps"));
  std::string logged;
  for (std::string line; std::getline(steps, line);) logged += line.substr(0, line.rfind(' ')) + ";";
  CHECK(logged == "7 3;8 2;8 3;");
}

TEST_CASE("a checkpoint that is damaged, missing or of another training is refused as such", "[torch]") {
  const Folder folder;
  WorkerProcess worker;
  TrainStraight(worker, kSmall, folder / "a");
  const auto load = [&](const std::string& path, StepMeaning step, bool of_other_code = false) {
    REQUIRE(Is<worker::Done>(worker.Call(Init(step))));
    REQUIRE(Is<worker::Done>(worker.Call(worker::Setup{kSmall.schedule(1)})));
    return worker.Call(worker::Load{path, of_other_code});
  };
  CHECK(Is<worker::Done>(load(folder / "a", kSmall.step)));
  CHECK(FailureKindOf(load(folder / "a", {4})) == FailureKind::kCheckpoint);
  CHECK(Is<worker::Done>(load(folder / "a", {4}, true)));  // as it is wanted
  CHECK(FailureKindOf(load(folder / "none", kSmall.step)) == FailureKind::kCheckpoint);

  REQUIRE(WriteCheckpointFile(folder / "foreign", Save("", 1).identity, {{"step", WholeNumber(1)}}).has_value());
  CHECK(FailureKindOf(load(folder / "foreign", kSmall.step)) == FailureKind::kCheckpoint);

  std::string bytes = Content(folder / "a");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  std::ofstream(folder / "a") << bytes;
  CHECK(FailureKindOf(load(folder / "a", kSmall.step)) == FailureKind::kCheckpoint);
}

TEST_CASE("requests out of order, or of what the trainer has not, are refused as such", "[torch]") {
  WorkerProcess worker;
  const auto refused = [&](const worker::RequestKind& request) {
    return FailureKindOf(worker.Call(request)) == FailureKind::kRequest;
  };
  CHECK(refused(Train(1)));
  worker.SendText(R"({"id": 77, "dance": {}})");
  CHECK(FailureKindOf(worker.Await(77)) == FailureKind::kRequest);
  for (const worker::RequestKind& request :
       std::vector<worker::RequestKind>{Train(1), worker::Evaluate{}, Save("/tmp/x", 0), worker::Load{"/tmp/x"}}) {
    REQUIRE(Is<worker::Done>(worker.Call(Init({1}))));
    CHECK(refused(request));                            // before Setup
    CHECK(refused(worker::Setup{kSmall.schedule(0)}));  // after a failure, Init comes first
  }
  Begin(worker, kSmall, kSmall.schedule(0));
  CHECK(refused(Train(2)));
  Begin(worker, kSmall, kSmall.schedule(0));
  CHECK(refused(Save("/tmp/x", 1)));
  Begin(worker, kSmall, kSmall.schedule(0));
  CHECK(refused(worker::Proceed{{}, ""}));
  CHECK(refused(worker::Proceed{{LeadershipId{9}, RunId{2}}, ""}));

  const HyperParameterValues one_missing{{"lr", 0.1}};
  HyperParameterValues unknown = kSmall.schedule(0);
  unknown["depth"] = 1.0;
  HyperParameterValues initial = kSmall.schedule(0);
  initial["seed"] = std::int64_t{1};
  HyperParameterValues of_other_type = kSmall.schedule(0);
  of_other_type["bs"] = 12.5;
  for (const HyperParameterValues& values : {one_missing, unknown, initial, of_other_type}) {
    REQUIRE(Is<worker::Done>(worker.Call(Init({1}))));
    CHECK(refused(worker::Setup{values}));
  }
  worker::Init init = Init({1});
  init.data = "letters";
  CHECK(refused(init));
  CHECK(refused(Init({1}, "", 0)));
  for (const char* name : {"lr", "seed"}) {
    init = Init({1});
    init.values.erase(name);
    CHECK(refused(init));
  }
  worker.SendText(R"({"id": 78, "init": {"trainer": "mlp", "data": "digits", "runId": 1}})");  // without a step
  CHECK(FailureKindOf(worker.Await(78)) == FailureKind::kRequest);
  CHECK(refused(Init({1}, "/no/such/folder/steps")));
}

TEST_CASE("what the trainer refuses is its failure, and what does not fit into memory is told apart", "[torch]") {
  WorkerProcess worker;
  REQUIRE(Is<worker::Done>(worker.Call(Init({1}))));
  HyperParameterValues values = kSmall.schedule(0);
  values["bs"] = std::int64_t{0};
  const test::Reply reply = worker.Call(worker::Setup{values});
  CHECK(FailureKindOf(reply) == FailureKind::kTrainer);
  CHECK_THAT(As<worker::Failure>(reply).message, Catch::StartsWith("bs: expected"));

  worker::Init init = Init({1});
  init.values["hidden"] = std::int64_t{1'000'000'000'000};
  CHECK(FailureKindOf(worker.Call(init)) == FailureKind::kOutOfMemory);
}

TEST_CASE("a save that cannot be written fails alone: the training goes on", "[torch]") {
  const Folder folder;
  WorkerProcess worker;
  Begin(worker, kSmall, kSmall.schedule(0));
  REQUIRE(Is<worker::Trained>(worker.Call(Train(1))));
  const test::Reply failed = worker.Call(Save(folder / "missing/a", 1));
  CHECK(FailureKindOf(failed) == FailureKind::kCheckpoint);
  CHECK(As<worker::Failure>(failed).state_intact);
  CHECK(Is<worker::Trained>(worker.Call(Train(2))));
  CHECK(Is<worker::Saved>(worker.Call(Save(folder / "a", 2))));
}

TEST_CASE("a worker exits when its socket closes, once its saves are written", "[torch]") {
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
    worker.CloseSocket();
    CHECK(ExitedWith(worker.WaitForExit(), 0));
    for (int i = 0; i < 5; ++i) CHECK(CheckCheckpointFile(folder / std::to_string(i)).has_value());
  }
  {
    WorkerProcess worker;
    worker.SendText("no JSON");
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
  CHECK_FALSE(worker.Call(Save(folder / "a", 0)).has_value());
  const int status = worker.WaitForExit();
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
  CHECK_FALSE(fs::exists(folder / "a"));
}

TEST_CASE("a worker killed after a step has logged it", "[torch]") {
  const Folder folder;
  WorkerProcess worker("worker.train.after=2");
  REQUIRE(Is<worker::Done>(worker.Call(Init({1}, folder / "steps"))));
  REQUIRE(Is<worker::Done>(worker.Call(worker::Setup{kSmall.schedule(0)})));
  REQUIRE(Is<worker::Trained>(worker.Call(Train(1))));
  CHECK_FALSE(worker.Call(Train(2)).has_value());
  worker.WaitForExit();
  const std::string log = Content(folder / "steps");
  CHECK(std::count(log.begin(), log.end(), '\n') == 2);
}
#endif

}  // namespace espalier::trainer
