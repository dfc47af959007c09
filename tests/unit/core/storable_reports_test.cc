// What node managers say and the database could not hold: none of it may enter an edit.
#include <catch2/catch.hpp>

#include "base/text.h"
#include "tests/support/master_by_hand.h"

namespace espalier::master {
namespace {

const std::string kZeroByte("a\0b", 3);

// One trial of three steps, whose run is ordered and has reported nothing.
struct OneRun {
  OneRun() {
    const StudyId study = master.CreateStudy("one");
    trial = master.Submit(study, {{"lr", "0.1"}}, 3);
    run = *master.state().active_runs.begin();
    end = {master.state().runs.at(run).path.back().node, Step{3}};
  }

  void Tell(ReportKind kind) {
    const std::int64_t number = next_report++;
    const RunKey key{master.state().leadership, run};
    master.Handle(NodeMessage{.session = master.servers[0].session,
                              .registration = {},
                              .runs = {},
                              .reports = {{number, key, std::move(kind)}}});
  }
  MetricsMeasured Measured(Metrics metrics) const {
    return {Plan().id, end, Plan().Node(end.node).lineage, kSimulated.evaluation_digest, std::move(metrics)};
  }
  StateStored Stored() const { return {Plan().id, end, Plan().Node(end.node).lineage, "file", 100, "sha"}; }
  TrainingMetrics Trained() const {
    return {Plan().id, end.node, Plan().Node(end.node).lineage, {{"a", "b"}, {Step{1}, Step{3}}, {1, 2, 3, 4}}};
  }
  std::vector<AddTrainingMetrics> StoredSeries() const {
    std::vector<AddTrainingMetrics> series;
    for (const StateChange& change : master.stored()) {
      if (const auto* added = std::get_if<AddTrainingMetrics>(&change)) series.push_back(*added);
    }
    return series;
  }
  const SearchPlan& Plan() const { return master.state().plans.at(master.state().runs.at(run).plan); }
  bool Owes(Owed owed) const { return master.state().runs.at(run).FindOpen(Step{3}, owed) != nullptr; }
  ClaimSettled Answer() const {
    for (const StudyEvent& event : master.state().events.at(master.state().trials.at(trial).study)) {
      if (const auto* settled = std::get_if<ClaimSettled>(&event)) return *settled;
    }
    FAIL("no claim is settled");
    return {};
  }
  bool Logged(const std::string& text) const {
    return std::any_of(master.log.begin(), master.log.end(),
                       [&](const std::string& line) { return line.find(text) != std::string::npos; });
  }

  MasterByHand master;
  TrialId trial;
  RunId run;
  Point end;
  std::int64_t next_report = 1;
};

Registration Another() {
  return {.server = "another",
          .incarnation = "1",
          .devices = {{.name = "cores-0", .slots = 1}},
          .offers = {{{.trainer = "t",
                       .code_digest = "code",
                       .data = "",
                       .data_digest = "data",
                       .evaluation_digest = "evaluation",
                       .schema = {{{"optimizer", ValueType::kText, Value{std::string("sgd")}, false}}},
                       .metrics = {"score"}},
                      "simulated"}}};
}

}  // namespace

TEST_CASE("a failure's message is stored as clean text of at most 16 KiB") {
  OneRun one;
  one.Tell(RunFailed{RunFailed::Kind::kTrainer, one.end, "first\xff" + kZeroByte + std::string(100'000, 'x') + "last"});
  const std::string message = one.Plan().FindFailure(one.end)->message;
  CHECK(IsValidText(message));
  CHECK(message.size() == 16 * 1024);
  CHECK(message.starts_with("first?a?bx"));
  CHECK(message.ends_with("xlast"));
  CHECK(one.Answer().message == message);
}

TEST_CASE("an evaluation whose metrics cannot be stored has failed for good, and the state is still owed") {
  OneRun one;
  SECTION("there are none") { one.Tell(one.Measured({})); }
  SECTION("a name has a zero byte") { one.Tell(one.Measured({{kZeroByte, 1.0}, {"score", 1.0}})); }
  SECTION("a name is too long for an index") { one.Tell(one.Measured({{std::string(201, 'n'), 1.0}})); }
  CHECK(one.Plan().FindMetrics(one.end, kSimulated.evaluation_digest) == nullptr);
  CHECK(one.Answer().state == ClaimState::kFailed);
  CHECK(one.Answer().message.starts_with("the evaluation returned"));
  CHECK(one.Logged("an evaluation was refused"));
  CHECK_FALSE(one.Owes(Owed::kMetrics));
}

TEST_CASE("training metrics that cannot be stored, or are none, are refused, and nothing else comes of them") {
  OneRun one;
  std::string why;
  TrainingMetrics trained = one.Trained();
  SECTION("a name has a zero byte") { why = "names", trained.series.names[1] = "b" + kZeroByte; }
  SECTION("a name is too long for an index") { why = "names", trained.series.names[1] = std::string(201, 'n'); }
  SECTION("a name is said twice") { why = "names", trained.series.names[1] = "a"; }
  SECTION("there are too many names") {
    why = "names", trained.series.names.clear();
    for (int i = 100; i < 165; ++i) trained.series.names.push_back(std::to_string(i));
    trained.series.values.resize(130);
  }
  SECTION("there is no step") { why = "steps", trained.series.steps.clear(), trained.series.values.clear(); }
  SECTION("a step goes back") { why = "steps", trained.series.steps[1] = Step{1}; }
  SECTION("a step is none") { why = "steps", trained.series.steps[0] = Step{0}; }
  SECTION("a step is not one of those that are kept") { why = "steps", trained.series.steps[1] = Step{1025}; }
  SECTION("a value is missing") { why = "values", trained.series.values.pop_back(); }
  one.Tell(trained);
  CHECK(one.Logged("a report was refused"));
  CHECK(one.Logged(why + ": expected"));
  CHECK(one.StoredSeries().empty());
  CHECK(one.Owes(Owed::kMetrics));
}

TEST_CASE("training metrics are stored as they came") {
  OneRun one;
  one.Tell(one.Trained());
  REQUIRE(one.StoredSeries().size() == 1);
  CHECK(one.StoredSeries()[0].node == one.end.node);
  CHECK(one.StoredSeries()[0].series == one.Trained().series);
}

TEST_CASE("a checkpoint whose name or size cannot be stored is none, and its promise is lost") {
  OneRun one;
  StateStored stored = one.Stored();
  SECTION("its name has a zero byte") { stored.file = kZeroByte; }
  SECTION("its digest is no text") { stored.state_sha256 = "\xff"; }
  SECTION("its size is negative") { stored.bytes = -1; }
  one.Tell(one.Measured({{"score", 1.0}}));
  one.Tell(RunEnded{.step = Step{3}, .slot_time = Seconds(1), .saves_under_way = {Step{3}}, .refused = {}});
  REQUIRE(one.Owes(Owed::kState));
  one.Tell(stored);
  CHECK(one.Plan().FindCheckpoint(one.end) == nullptr);
  CHECK(one.Answer().state == ClaimState::kDone);
  CHECK(one.Logged("a checkpoint was refused"));
  CHECK_FALSE(one.Owes(Owed::kState));
}

TEST_CASE("a registration that cannot be stored ends its stream and changes nothing") {
  MasterByHand master(0);
  Registration registration = Another();
  Offer& offer = registration.offers[0].offer;
  HyperParameter& parameter = offer.schema.hyper_parameters[0];
  SECTION("the server's name") { registration.server = kZeroByte; }
  SECTION("no incarnation") { registration.incarnation = ""; }
  SECTION("the device kind") { registration.offers[0].device_kind = "\xff"; }
  SECTION("a trainer's name") { offer.trainer = std::string(201, 't'); }
  SECTION("a trainer's data") { offer.data = kZeroByte; }
  SECTION("no evaluation digest") { offer.evaluation_digest = ""; }
  SECTION("what claims to states alone are known by") { offer.evaluation_digest = kStateAlone; }
  SECTION("a metric's name") { offer.metrics = {"score", kZeroByte}; }
  SECTION("a hyper-parameter's name") { parameter.name = kZeroByte; }
  SECTION("a default") { parameter.default_value = Value{kZeroByte}; }
  SECTION("two hyper-parameters of one name") { offer.schema.hyper_parameters.push_back(parameter); }
  const MasterState before = master.state();
  master.Handle(NodeMessage{.session = SessionId{77}, .registration = registration});
  CHECK(master.state() == before);
}

TEST_CASE("a registration that can be stored is taken") {
  MasterByHand master(0);
  master.Handle(NodeMessage{.session = SessionId{77}, .registration = Another()});
  CHECK(master.state().servers.contains("another"));
  CHECK(master.state().offers.size() == 1);
}

}  // namespace espalier::master
