// What node managers say and the database could not hold: none of it may enter an edit.
#include <catch2/catch.hpp>

#include "base/text.h"
#include "tests/support/toy_cluster.h"

namespace espalier::master {
namespace {

constexpr char kEvaluation[] = "toy-evaluation";
const std::string kZeroByte("a\0b", 3);

// One trial of three steps, whose run is ordered and has reported nothing.
struct OneRun {
  OneRun() {
    const StudyId study = cluster.CreateStudy("one");
    trial = cluster.Submit(study, {{"lr", "0.1"}}, 3);
    run = *cluster.state.active_runs.begin();
    end = {cluster.state.runs.at(run).path.back().node, Step{3}};
  }

  void Report(decltype(master::Report::kind) kind) {
    const std::int64_t number = next_report++;
    cluster.Handle(NodeMessage{.session = cluster.nodes[0].session, .reports = {{number, run, std::move(kind)}}});
  }
  PointReached Reached(Metrics metrics) const {
    return {.plan = cluster.state.runs.at(run).plan,
            .point = end,
            .evaluation = kEvaluation,
            .metrics = std::move(metrics),
            .checkpoint = StoredCheckpoint{"file", 100, "sha"}};
  }
  const PointRecord& AtEnd() const { return *cluster.state.plans.at(cluster.state.runs.at(run).plan).FindPoint(end); }
  ClaimSettled Answer() const {
    for (const StudyEvent& event : cluster.state.events.at(cluster.state.trials.at(trial).study)) {
      if (const auto* settled = std::get_if<ClaimSettled>(&event)) return *settled;
    }
    FAIL("no claim is settled");
    return {};
  }
  bool Logged(const std::string& text) const {
    return std::any_of(cluster.log.begin(), cluster.log.end(),
                       [&](const std::string& line) { return line.find(text) != std::string::npos; });
  }

  ToyCluster cluster{1};
  TrialId trial;
  RunId run;
  Point end;
  std::int64_t next_report = 1;
};

Registration Toy() {
  return {.server = "another",
          .incarnation = "1",
          .slot_count = 1,
          .device_kind = "toy",
          .trainers = {{.name = "t",
                        .code_digest = "code",
                        .data_digest = "data",
                        .evaluation_digest = "evaluation",
                        .schema = {{{"optimizer", ValueType::kText, Value{std::string("sgd")}, false}}},
                        .metrics = {"score"}}}};
}

}  // namespace

TEST_CASE("a failure's message is stored as clean text of at most 16 KiB") {
  OneRun one;
  one.Report(
      RunFailed{RunFailed::Kind::kTrainer, one.end, "first\xff" + kZeroByte + std::string(100'000, 'x') + "last"});
  const std::string message = one.AtEnd().failure->message;
  CHECK(IsValidText(message));
  CHECK(message.size() == 16 * 1024);
  CHECK(message.starts_with("first?a?bx"));
  CHECK(message.ends_with("xlast"));
  CHECK(one.Answer().message == message);
}

TEST_CASE("an evaluation whose metrics cannot be stored has failed for good") {
  OneRun one;
  SECTION("there are none") { one.Report(one.Reached({})); }
  SECTION("a name has a zero byte") { one.Report(one.Reached({{kZeroByte, 1.0}, {"score", 1.0}})); }
  SECTION("a name is too long for an index") { one.Report(one.Reached({{std::string(201, 'n'), 1.0}})); }
  CHECK(one.AtEnd().metrics.empty());
  CHECK(one.AtEnd().checkpoint.has_value());
  CHECK(one.Answer().state == ClaimState::kFailed);
  CHECK(one.Answer().message.starts_with("the evaluation returned"));
  CHECK(one.Logged("evaluation refused"));
  CHECK(OpenTargets(one.cluster.state.runs.at(one.run)).empty());
}

TEST_CASE("a checkpoint whose name or size cannot be stored is none, and its promise is lost") {
  OneRun one;
  PointReached reached = one.Reached({{"score", 1.0}});
  SECTION("its name has a zero byte") { reached.checkpoint->file = kZeroByte; }
  SECTION("its digest is no text") { reached.checkpoint->state_sha256 = "\xff"; }
  SECTION("its size is negative") { reached.checkpoint->bytes = -1; }
  one.Report(reached);
  CHECK_FALSE(one.AtEnd().checkpoint.has_value());
  CHECK(one.Answer().state == ClaimState::kDone);
  CHECK(one.Logged("checkpoint refused"));
  CHECK(OpenTargets(one.cluster.state.runs.at(one.run)).empty());
}

TEST_CASE("a registration that cannot be stored ends its stream and changes nothing") {
  ToyCluster cluster(1, 0);
  Registration registration = Toy();
  TrainerRecord& trainer = registration.trainers[0];
  HyperParameter& parameter = trainer.schema.hyper_parameters[0];
  SECTION("the server's name") { registration.server = kZeroByte; }
  SECTION("no incarnation") { registration.incarnation = ""; }
  SECTION("the device kind") { registration.device_kind = "\xff"; }
  SECTION("a trainer's name") { trainer.name = std::string(201, 't'); }
  SECTION("a trainer's data") { trainer.data = kZeroByte; }
  SECTION("no evaluation digest") { trainer.evaluation_digest = ""; }
  SECTION("a metric's name") { trainer.metrics = {"score", kZeroByte}; }
  SECTION("a hyper-parameter's name") { parameter.name = kZeroByte; }
  SECTION("a default") { parameter.default_value = Value{kZeroByte}; }
  SECTION("two hyper-parameters of one name") { trainer.schema.hyper_parameters.push_back(parameter); }
  const MasterState before = cluster.state;
  cluster.Handle(NodeMessage{.session = SessionId{77}, .registration = registration});
  CHECK(cluster.state == before);
}

TEST_CASE("a registration that can be stored is taken") {
  ToyCluster cluster(1, 0);
  cluster.Handle(NodeMessage{.session = SessionId{77}, .registration = Toy()});
  CHECK(cluster.state.servers.contains("another"));
  CHECK(cluster.state.trainers.size() == 1);
}

}  // namespace espalier::master
