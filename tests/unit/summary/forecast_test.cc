#include "master/core/views/forecast.h"

#include <catch2/catch.hpp>

#include "master/core/views/node_walk.h"
#include "master/core/views/training_costs.h"
#include "tests/unit/summary/state_builder.h"

namespace espalier::master {
namespace {

Result<Forecast> ForecastOf(const MasterState& state, const std::vector<ForecastStudy>& studies,
                            const std::string& team) {
  const StateReader read = [&](const auto& look) {
    look(state);
    return Result<void>();
  };
  return ForecastStudies(read, studies, team);
}

const std::string kBranchAt40 = "MultiStep(0.1, [40], gamma=0.1)";

NewTrial TrialOf(const std::string& lr, const std::string& bs, std::int64_t steps) {
  return {.sequences = {{"lr", lr}, {"bs", bs}}, .steps = Step{steps}};
}

ForecastStudy StudyOf(const std::string& name, Scope scope, std::vector<NewTrial> trials) {
  StudySpecification specification{.name = name, .trainer = "mlp", .data = "digits", .metric = "test_acc"};
  specification.scope = scope;
  return {specification, std::move(trials)};
}

// lr constant or dropping at 40; bs constant or doubling at 60. Without sharing 4 * 80 steps; the root takes 80, the
// drop of lr 40 more, the doubling of bs 20 more under each of the two.
ForecastStudy Grid(const std::string& name, Scope scope) {
  const std::string doubling = "MultiStep(32, [60], gamma=2)";
  return StudyOf(name, scope,
                 {TrialOf("0.1", "32", 80), TrialOf(kBranchAt40, "32", 80), TrialOf("0.1", doubling, 80),
                  TrialOf(kBranchAt40, doubling, 80)});
}

}  // namespace

TEST_CASE("a grid's forecast counts shared steps once") {
  const StateBuilder s;
  const Forecast forecast = ForecastOf(s.state, {Grid("grid", Scope::kStudy)}, "team").value();
  CHECK(forecast.total_steps == 320);
  CHECK(forecast.unique_steps == 160);
  CHECK(forecast.trained_steps == 0);
  CHECK(forecast.slot_time == std::nullopt);  // nothing was measured
  CHECK(forecast.critical_path == std::nullopt);
  CHECK(forecast.checkpoint_bytes == std::nullopt);
  REQUIRE(forecast.studies.size() == 1);
  CHECK(forecast.studies[0].name == "grid");
  CHECK(forecast.studies[0].trials == 4);
  CHECK(forecast.studies[0].total_steps == 320);
  CHECK(forecast.studies[0].unique_steps == 160);
}

TEST_CASE("a forecast has a limit of steps and of joint segments, and names the trial that passes it") {
  const StateBuilder s;
  const auto field_of = [&](std::vector<NewTrial> trials) {
    const auto forecast = ForecastOf(s.state, {StudyOf("large", Scope::kStudy, std::move(trials))}, "team");
    if (forecast.has_value()) return std::string();
    CHECK(forecast.error().code == ErrorCode::kResourceExhausted);
    return forecast.error().field;
  };
  std::vector<NewTrial> endless(512, TrialOf("0.1", "32", kStepMax.value));
  CHECK(field_of(endless).empty());
  endless.push_back(TrialOf("0.1", "32", 1));
  CHECK(field_of(endless) == "studies[0].trials[512].horizon_steps");
  const std::string in_pieces = "Step(0.1, 1, 0.999)";  // each step another value
  CHECK(field_of({TrialOf(in_pieces, "32", 600'000), TrialOf(in_pieces, "64", 600'000)}) == "studies[0].trials[1]");
}

TEST_CASE("a trial is forecast to its horizon") {
  const StateBuilder s;
  NewTrial trial = TrialOf("0.1", "32", 20);
  trial.horizon = Step{80};
  CHECK(ForecastOf(s.state, {StudyOf("a", Scope::kStudy, {trial})}, "team")->total_steps == 80);
}

TEST_CASE("studies forecast together share as far as their scopes let them") {
  const StateBuilder s;
  const auto unique_steps = [&](Scope a, Scope b) {
    const Forecast forecast = ForecastOf(s.state, {Grid("a", a), Grid("b", b)}, "team").value();
    CHECK(forecast.total_steps == 640);
    return forecast.unique_steps;
  };
  CHECK(unique_steps(Scope::kTeam, Scope::kTeam) == 160);
  CHECK(unique_steps(Scope::kTeam, Scope::kEveryone) == 320);
  CHECK(unique_steps(Scope::kStudy, Scope::kStudy) == 320);
  CHECK(unique_steps(Scope::kNobody, Scope::kStudy) == 320 + 160);
}

TEST_CASE("a study whose data is unknown is kept to itself, and its forecast says so where more was asked for") {
  for (const bool is_known : {true, false}) {
    StateBuilder s;
    if (!is_known) {
      s.offer.data_digest = kUnknownData;
      s.Offers();
    }
    for (const Scope scope : {Scope::kNobody, Scope::kStudy, Scope::kTeam, Scope::kEveryone}) {
      const Forecast forecast = ForecastOf(s.state, {Grid("a", scope), Grid("b", scope)}, "team").value();
      const bool is_more = scope == Scope::kTeam || scope == Scope::kEveryone;
      for (const StudyForecast& study : forecast.studies) CHECK(study.is_kept_to_itself == (is_more && !is_known));
      if (is_more) CHECK(forecast.unique_steps == (is_known ? 160 : 320));
    }
  }
}

TEST_CASE("what the team has trained already is not forecast again") {
  StateBuilder s;
  const StudyId before = s.AddStudy(Scope::kTeam);
  const TrialId constant = s.AddTrial(before, "0.1", 200);
  s.Trained({before}, constant, 0, 70, 0, 3);
  s.StoreCheckpoint(constant, 30, 0, 100);
  s.StoreCheckpoint(constant, 70, 0, 300);
  const MasterState unchanged = s.state;
  const Forecast forecast = ForecastOf(s.state, {Grid("grid", Scope::kTeam)}, "team").value();
  CHECK(s.state == unchanged);
  CHECK(forecast.unique_steps == 160);
  CHECK(forecast.trained_steps == 70);
  CHECK(forecast.slot_time->count() == Approx(90 * 3));      // the one node measured, also for the others
  CHECK(forecast.critical_path->count() == Approx(40 * 3));  // behind the branch at 40
  CHECK(forecast.checkpoint_bytes == 200 * (4 + 3));         // four ends; branches at 40, and at 60 on both
  CHECK(ForecastOf(s.state, {Grid("grid", Scope::kTeam)}, "others")->trained_steps == 0);
  CHECK(ForecastOf(s.state, {Grid("grid", Scope::kStudy)}, "team")->slot_time->count() == Approx(160 * 3));
}

TEST_CASE("a forecast adds up what ranking, limits and progress add up") {
  StateBuilder s;
  const StudyId study = s.AddStudy(Scope::kTeam);
  for (const char* lr : {"0.1", "0.2", "MultiStep(0.1, [40], gamma=0.1)"}) {
    const TrialId trial = s.AddTrial(study, lr, 80, lr[2] == '1' ? "32" : "64");
    s.Trained({study}, trial, 10, 70, 0, lr[2]);
    s.Change(trial, SetMeasurement{s.On(trial, 60).node, CostKind::kLoad, {2, lr[2] * 1000}});
  }
  const auto& [key, sums] = *s.state.costs.begin();
  const Study& of = s.state.studies.at(study);
  MeasuredNodes nodes;
  const auto is_wanted = [&](const MasterState& state, const SearchPlan& plan) {
    return IsOfKind(state, plan, {of.training, of.device_kind, "team"});
  };
  const StateReader read = [&](const auto& look) {
    look(s.state);
    return Result<void>();
  };
  REQUIRE(WalkNodes(read, is_wanted, [&](const SearchPlan&, const PlanNode& node) { nodes.Add(node); }));
  CHECK(s.state.costs.size() == 1);
  CHECK(sums.IsMeasured(CostKind::kLoad));
  CHECK(nodes.Sums() == sums);
}

TEST_CASE("outside of what was measured a forecast draws no line out to where work is free") {
  StateBuilder s;
  const StudyId before = s.AddStudy(Scope::kTeam);
  s.Trained({before}, s.AddTrial(before, "0.1", 10, "10"), 0, 10, 0, 1);
  s.Trained({before}, s.AddTrial(before, "0.1", 10, "20"), 0, 10, 0, 10);
  const auto seconds = [&](const std::string& bs) {
    return ForecastOf(s.state, {StudyOf("a", Scope::kTeam, {TrialOf("0.1", bs, 100)})}, "team")->slot_time->count();
  };
  CHECK(seconds("1") == Approx(100 * 1).epsilon(0.001));
  CHECK(seconds("15") == Approx(100 * 5.5).epsilon(0.001));
  CHECK(seconds("4000") == Approx(100 * 10).epsilon(0.001));
}

TEST_CASE("an evaluation that is stored is not forecast again, and one that is missing needs a load, no training") {
  StateBuilder s;
  const StudyId before = s.AddStudy(Scope::kTeam);
  const TrialId trial = s.AddTrial(before, "0.1", 80);
  s.Trained({before}, trial, 0, 80);
  s.Claimed(trial, 80);
  s.Change(trial, SetMeasurement{s.On(trial, 80).node, CostKind::kLoad, {1, 3'000'000}});
  s.Change(trial, SetMeasurement{s.On(trial, 80).node, CostKind::kEvaluate, {1, 5'000'000}});
  const auto seconds = [&](std::int64_t steps, std::int64_t horizon) {
    NewTrial asked = TrialOf("0.1", "32", steps);
    asked.horizon = Step{horizon};
    return ForecastOf(s.state, {StudyOf("a", Scope::kTeam, {asked})}, "team")->slot_time->count();
  };
  CHECK(seconds(80, 80) == 0);
  CHECK(seconds(60, 80) == Approx(3 + 5));
  CHECK(seconds(60, 60) == Approx(3 + 5));
  CHECK(seconds(80, 90) == Approx(3 + 10 + 5));
}

TEST_CASE("a large space is looked up in several turns, to its end") {
  StateBuilder s;
  const StudyId before = s.AddStudy(Scope::kTeam);
  std::vector<NewTrial> trials;
  for (int i = 1; i <= 10'500; ++i) trials.push_back(TrialOf(std::to_string(i), "32", 10));
  for (const std::size_t known : {std::size_t{0}, trials.size() - 1}) {
    s.Trained({before}, s.AddTrial(before, trials[known].sequences.at("lr"), 10), 0, 10);
  }
  int turns = 0;
  const StateReader read = [&](const auto& look) {
    ++turns;
    look(s.state);
    return Result<void>();
  };
  CHECK(ForecastStudies(read, {StudyOf("large", Scope::kTeam, std::move(trials))}, "team")->trained_steps == 20);
  CHECK(turns == 1 + 1 + 3);  // the beginning; two plan nodes that are measured; 10,500 that may be known, by 4,000
}

TEST_CASE("without a server that offers the trainer a forecast does not guess what is trained") {
  StateBuilder s;
  Apply(s.state, RemoveServer{"server"});
  Forecast forecast = ForecastOf(s.state, {Grid("grid", Scope::kTeam)}, "team").value();
  CHECK(forecast.unique_steps == 160);
  CHECK(forecast.trained_steps == 0);  // nobody has trained anything of the kind

  StateBuilder t;
  const StudyId before = t.AddStudy(Scope::kTeam);
  t.Trained({before}, t.AddTrial(before, "0.1", 200), 0, 70);
  Apply(t.state, RemoveServer{"server"});
  forecast = ForecastOf(t.state, {Grid("grid", Scope::kTeam)}, "team").value();
  CHECK(forecast.unique_steps == 160);
  CHECK(forecast.trained_steps == std::nullopt);
  CHECK(forecast.slot_time == std::nullopt);
  CHECK(ForecastOf(t.state, {Grid("grid", Scope::kTeam)}, "others")->trained_steps == 0);  // nothing that it may know
}

TEST_CASE("a trainer that nobody registered is forecast by the types that the study gives") {
  const StateBuilder s;
  ForecastStudy study = Grid("any", Scope::kTeam);
  study.specification.trainer = "synthetic";
  study.specification.data = "";
  study.specification.undeclared = {{"lr", ValueType::kFloating}, {"bs", ValueType::kInteger}};
  const Forecast forecast = ForecastOf(s.state, {study}, "team").value();
  CHECK(forecast.unique_steps == 160);
  CHECK(forecast.trained_steps == 0);
  CHECK(forecast.slot_time == std::nullopt);
  study.specification.undeclared.erase("bs");
  CHECK(ForecastOf(s.state, {study}, "team").error().field == "studies[0].trials[0].bs");
  study.specification.trainer = "mlp";
  study.specification.data = "digits";
  CHECK(ForecastOf(s.state, {study}, "team").error().field == "studies[0].undeclared");
}

TEST_CASE("studies of a trainer that takes any hyper-parameters share where they differ only in what has no effect") {
  const StateBuilder s;
  const auto study = [](const std::string& name, ValueTypes types, std::vector<NewTrial> trials) {
    StudySpecification specification{.name = name, .trainer = "synthetic", .metric = "m"};
    specification.undeclared = std::move(types);
    return ForecastStudy{specification, std::move(trials)};
  };
  const ValueType floating = ValueType::kFloating;
  const NewTrial lr_alone{.sequences = {{"lr", "0.1"}}, .steps = Step{50}};
  const NewTrial late{.sequences = {{"lr", "0.1"}, {"momentum", "Piecewise([0, 0.9], [30])"}}, .steps = Step{50}};
  const NewTrial early{.sequences = {{"lr", "0.1"}, {"dropout", "Piecewise([0.5, 0], [30])"}}, .steps = Step{50}};
  const auto unique = [&](const NewTrial& trial, const std::string& name) {
    return ForecastOf(s.state,
                      {study("a", {{"lr", floating}}, {lr_alone}),
                       study("b", {{"lr", floating}, {name, floating}, {"other", ValueType::kText}}, {trial})},
                      "team")
        ->unique_steps;
  };
  CHECK(unique(late, "momentum") == 70);
  CHECK(unique(early, "dropout") == 100);
}

TEST_CASE("checkpoints of models of another size say nothing about this one") {
  StateBuilder s;
  s.offer.schema.hyper_parameters[0].initial = true;  // bs, for once
  s.Offers();
  const StudyId before = s.AddStudy(Scope::kTeam);
  const TrialId small = s.AddTrial(before, "0.1", 10, "32");
  s.StoreCheckpoint(small, 5, 0, 100);
  const auto bytes = [&](const std::string& bs) {
    return ForecastOf(s.state, {StudyOf("a", Scope::kTeam, {TrialOf("0.2", bs, 80)})}, "team")->checkpoint_bytes;
  };
  CHECK(bytes("32") == 100);
  CHECK(bytes("64") == std::nullopt);
  s.StoreCheckpoint(s.AddTrial(before, "0.1", 10, "64"), 5, 0, 700);
  CHECK(bytes("64") == 700);
}

TEST_CASE("a forecast points out sequences that differ by rounding only") {
  const StateBuilder s;
  ForecastStudy grid = Grid("grid", Scope::kTeam);
  grid.trials.push_back(TrialOf("Piecewise([0.1, 0.01], [40])", "32", 80));
  const ForecastStudy other =
      StudyOf("other", Scope::kTeam, {TrialOf("Piecewise([0.1, 0.010000000000000004], [40])", "32", 200)});
  const Forecast forecast = ForecastOf(s.state, {grid, other}, "team").value();
  REQUIRE(forecast.hints.near_misses.size() == 2);  // of three that nearly meet
  for (const SequencePair& pair : forecast.hints.near_misses) {
    CHECK(pair.hyper_parameter == "lr");
    CHECK(pair.near_miss.from == Step{40});
    CHECK(pair.near_miss.to == pair.horizon);
  }
  CHECK(forecast.hints.near_misses[0].first == kBranchAt40);
  CHECK(ForecastOf(s.state, {Grid("grid", Scope::kTeam)}, "team")->hints.near_misses.empty());
}

TEST_CASE("a forecast names the sequences that part early, of each hyper-parameter") {
  const StateBuilder s;
  const Forecast forecast =
      ForecastOf(s.state,
                 {StudyOf("peaks", Scope::kTeam,
                          {TrialOf("Warmup(0.01, 5, 0.1)", "32", 80), TrialOf("0.1", "32", 80),
                           TrialOf("Warmup(0.01, 5, 0.2)", "32", 80)}),
                  StudyOf("horizons", Scope::kTeam,
                          {TrialOf("Cosine(0.1, 0, 40)", "32", 40), TrialOf("Cosine(0.1, 0, 80)", "32", 80)})},
                 "team")
          .value();
  CHECK(forecast.unique_steps == forecast.total_steps);
  REQUIRE(forecast.hints.early_partings.size() == 2);
  CHECK(forecast.hints.early_partings[0].hyper_parameter == "lr");
  CHECK(forecast.hints.early_partings[0].texts == std::vector<std::string>{"Cosine(0.1, 0, 40)", "Cosine(0.1, 0, 80)"});
  CHECK(forecast.hints.early_partings[1].texts ==
        std::vector<std::string>{"Warmup(0.01, 5, 0.1)", "Warmup(0.01, 5, 0.2)"});
  CHECK(ForecastOf(s.state, {Grid("grid", Scope::kTeam)}, "team")->hints.early_partings.empty());
}

TEST_CASE("what another team does changes no forecast but by what everyone shares") {
  const auto forecasts = [](const StateBuilder& s, Scope scope) {
    const Forecast forecast = ForecastOf(s.state, {Grid("grid", scope)}, "others").value();
    return std::tuple(forecast.unique_steps, forecast.trained_steps, forecast.slot_time, forecast.critical_path,
                      forecast.checkpoint_bytes);
  };
  const auto work = [](StateBuilder& s, Scope scope) {
    const StudyId study = s.AddStudy(scope);
    const TrialId trial = s.AddTrial(study, "0.1", 200);
    s.Trained({study}, trial, 0, 70, 0, 3);
    s.StoreCheckpoint(trial, 70, 0, 300);
  };
  StateBuilder s;
  for (const Scope scope : {Scope::kNobody, Scope::kStudy, Scope::kTeam, Scope::kEveryone}) {
    const auto before = forecasts(s, scope);
    for (const Scope theirs : {Scope::kNobody, Scope::kStudy, Scope::kTeam}) work(s, theirs);
    CHECK(forecasts(s, scope) == before);
  }
  work(s, Scope::kEveryone);
  CHECK(ForecastOf(s.state, {Grid("grid", Scope::kEveryone)}, "others")->trained_steps == 70);
  for (const Scope scope : {Scope::kNobody, Scope::kStudy, Scope::kTeam}) {
    CHECK(ForecastOf(s.state, {Grid("grid", scope)}, "others")->trained_steps == 0);
  }
}

TEST_CASE("a forecast refuses what creating or submitting would refuse, and names the study") {
  const StateBuilder s;
  const auto field_of = [&](ForecastStudy study) {
    const auto forecast = ForecastOf(s.state, {Grid("fine", Scope::kTeam), std::move(study)}, "team");
    REQUIRE_FALSE(forecast.has_value());
    CHECK(forecast.error().code == ErrorCode::kInvalidArgument);
    return forecast.error().field;
  };
  ForecastStudy unknown = Grid("unknown", Scope::kTeam);
  unknown.specification.trainer = "resnet";
  CHECK(field_of(unknown) == "studies[1].trainer");
  CHECK(field_of(StudyOf("a", Scope::kTeam, {TrialOf("0.1", "32", 80), TrialOf("Cosine(", "32", 80)})) ==
        "studies[1].trials[1].lr");
  CHECK(field_of(StudyOf("a", Scope::kTeam, {TrialOf("0.1", "32", 0)})) == "studies[1].trials[0].steps");
}

}  // namespace espalier::master
