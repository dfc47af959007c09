// What every implementation of StateStore must do.
#include <catch2/catch.hpp>

#include "base/digest.h"
#include "tests/conformance/state_store/backend.h"
#include "tests/support/edit_generator.h"
#include "tests/support/random_seed.h"

namespace espalier::master {
namespace {

// What a newly opened store loads; stops the test if it cannot.
MasterState Recovered(Backend& backend) {
  const auto store = backend.Open();
  Result<MasterState> state = store->Load();
  INFO((state ? std::string() : state.error().message));
  REQUIRE(state.has_value());
  return StoredPart(*std::move(state));
}

void MustCommit(StateStore& store, const StateEdit& edit) {
  const Result<void> committed = store.Commit(edit);
  INFO((committed ? std::string() : committed.error().message));
  REQUIRE(committed.has_value());
}

// A store that has loaded and stored something of every kind, and the generator that made it.
struct Filled {
  explicit Filled(std::uint64_t seed = 8, int commits = 20, int steps_max = 12) : generator(seed) {
    REQUIRE(store->Load().has_value());
    for (int i = 0; i < commits; ++i) MustCommit(*store, generator.Next(steps_max));
  }
  std::unique_ptr<Backend> backend = NewBackend();
  std::unique_ptr<StateStore> store = backend->Open();
  EditGenerator generator;
};

// What runs have made of the states that stand, retired runs too.
std::map<Point, std::tuple<std::int64_t, std::int64_t, Time>> UsesOf(const MasterState& state) {
  std::map<Point, std::tuple<std::int64_t, std::int64_t, Time>> uses;
  for (const auto& [id, plan] : state.plans) {
    for (const auto& [node, content] : plan.nodes) {
      for (const auto& [step, checkpoint] : content.results->checkpoints) {
        const auto use = state.index.state_uses.find({node, step});
        if (use == state.index.state_uses.end()) continue;
        uses[{node, step}] = {use->second.runs, use->second.runs_under_way, use->second.last};
      }
    }
  }
  return uses;
}

// What is counted of running studies as their rows come is what was counted as it happened. Not what was needless when
// it was ordered: in edits drawn at random no time tells that.
void CheckCounted(const MasterState& recovered, const MasterState& memory) {
  for (const auto& [study, content] : memory.studies) {
    if (IsRetired(memory, study)) continue;
    INFO("study " << study.value);
    StepTotals again = recovered.index.steps.Of(recovered, study);
    StepTotals before = memory.index.steps.Of(memory, study);
    again.wasted = before.wasted = 0;
    CHECK((again == before));
  }
}

// Says where two states differ, roughly: Catch cannot print them.
void CheckSame(MasterState recovered, const MasterState& memory) {
  recovered.leadership = memory.leadership;  // whose it is
  CHECK(recovered.offers == memory.offers);
  CHECK(recovered.studies == memory.studies);
  CHECK(recovered.events == memory.events);
  CHECK(recovered.trials == memory.trials);
  CHECK(recovered.plans == memory.plans);
  CHECK(recovered.runs == memory.runs);
  CHECK(recovered.requests == memory.requests);
  CHECK(recovered.retired == memory.retired);
  CHECK(recovered.trial_index == memory.trial_index);
  CHECK(recovered.usage == memory.usage);
  CHECK(recovered.users == memory.users);
  CHECK(recovered.drains == memory.drains);
  CHECK(recovered.policy == memory.policy);
  CHECK(recovered.team_weights == memory.team_weights);
  CHECK(recovered.shared_time == memory.shared_time);
  CHECK(recovered.next == memory.next);
  CHECK(recovered.plan_by_identity == memory.plan_by_identity);
  CHECK(recovered.trials_by_study == memory.trials_by_study);
  CHECK(recovered.plan_by_claim == memory.plan_by_claim);
  CHECK(recovered.active_runs == memory.active_runs);
  CHECK(recovered.running_studies == memory.running_studies);
  CHECK(recovered.open_trials == memory.open_trials);
  CHECK(recovered.open_states == memory.open_states);
  CHECK(recovered.states_awaited == memory.states_awaited);
  CHECK(recovered.pauses == memory.pauses);
  CHECK((recovered.costs == memory.costs));
  CHECK(recovered.device_time == memory.device_time);
  CHECK((UsesOf(recovered) == UsesOf(memory)));
  for (const auto& [study, retired] : memory.retired) {
    CHECK(recovered.index.steps.Of(recovered, study) == retired.steps);
    for (const KeptState& kept : retired.kept) CHECK(recovered.index.kept.contains(kept.point));
  }
  CheckCounted(recovered, memory);
  CHECK((recovered == memory));
}

TEST_CASE("an empty database is an empty state") {
  const auto backend = NewBackend();
  CheckSame(Recovered(*backend), MasterState{});
}

TEST_CASE("what is recovered equals what was in memory, after any sequence of edits") {
  const std::uint64_t first_seed = RandomSeed("any sequence of edits");
  for (std::uint64_t seed = first_seed; seed < first_seed + 8; ++seed) {
    INFO("seed " << seed);
    const auto backend = NewBackend();
    EditGenerator generator(seed);
    for (int master = 0; master < 4; ++master) {
      const auto store = backend->Open();
      REQUIRE(store->Load().has_value());
      for (int i = 0; i < 12; ++i) MustCommit(*store, generator.Next(master == 2 ? 60 : 8));
      CheckSame(Recovered(*backend), StoredPart(generator.state()));
    }
  }
}

TEST_CASE("what leaves memory with a retired study is read as it was") {
  int retired_count = 0;
  const std::uint64_t first_seed = RandomSeed("retired studies");
  for (std::uint64_t seed = first_seed; seed < first_seed + 6; ++seed) {
    INFO("seed " << seed);
    Filled filled(seed, 60, 20);
    EditGenerator& generator = filled.generator;
    const auto histories = filled.backend->OpenHistory();
    for (const auto& [study, retired] : generator.state().retired) {
      ++retired_count;
      const Result<StudyHistory> history = histories->Read(study);
      REQUIRE(history.has_value());
      const StudyHistory& was = generator.histories().at(study);
      CHECK(history->trials == was.trials);
      CHECK(history->claims == was.claims);
      CHECK(StoredPart(*history).events == was.events);
      CHECK(history->event_times == was.event_times);
      CHECK(history->runs == was.runs);
      for (const Trial& trial : was.trials) CHECK(histories->StudyOf(trial.id).value() == study);
      for (const auto& [id, answer] : generator.requests(study)) {
        CHECK(histories->FindRequest({study, id}).value() == answer);
      }
    }
    CHECK_FALSE(histories->StudyOf(generator.state().next.trial).value().has_value());
    CHECK_FALSE(histories->FindRequest({StudyId{0}, "no such request"}).value().has_value());
  }
  CHECK(retired_count > 0);
}

TEST_CASE("when everything has left memory ids go on where they were") {
  const std::uint64_t first_seed = RandomSeed("all retired");
  for (std::uint64_t seed = first_seed; seed < first_seed + 4; ++seed) {
    INFO("seed " << seed);
    Filled filled(seed, 30, 20);
    MustCommit(*filled.store, filled.generator.RetireAll());
    const MasterState memory = StoredPart(filled.generator.state());
    CheckSame(Recovered(*filled.backend), memory);
    REQUIRE(filled.store->Load().has_value());
    MustCommit(*filled.store, filled.generator.Next(60));
    CheckSame(Recovered(*filled.backend), StoredPart(filled.generator.state()));
  }
}

TEST_CASE("requests are forgotten that were answered long ago, to retired studies and to none") {
  int kept_count = 0;
  const std::uint64_t first_seed = RandomSeed("requests forgotten");
  for (std::uint64_t seed = first_seed; seed < first_seed + 3 || kept_count == 0; ++seed) {
    INFO("seed " << seed);
    Filled filled(seed, 60, 20);
    EditGenerator& generator = filled.generator;
    const MasterState& state = generator.state();
    const auto histories = filled.backend->OpenHistory();
    REQUIRE_FALSE(state.index.own_requests.empty());
    const Time before = std::next(state.index.own_requests.begin(), std::ssize(state.index.own_requests) / 2)->first;
    REQUIRE(histories->ForgetRequests(before).value() > 0);
    CHECK(histories->ForgetRequests(before).value() == 0);
    for (const auto& [key, answer] : state.requests) {
      const bool is_kept = answer.at >= before || key.first != StudyId{0};
      CHECK(histories->FindRequest(key).value().has_value() == is_kept);
    }
    for (const auto& [study, retired] : state.retired) {
      for (const auto& [id, answer] : generator.requests(study)) {
        const bool is_kept = answer.at >= before || retired.at >= before;
        CHECK(histories->FindRequest({study, id}).value().has_value() == is_kept);
        kept_count += is_kept ? 1 : 0;
      }
    }
  }
}

TEST_CASE("how edits are split into commits makes no difference") {
  const auto one_by_one = NewBackend();
  const auto at_once = NewBackend();
  EditGenerator generator(11);
  const StateEdit edit = generator.Next(200);
  const auto first = one_by_one->Open();
  const auto second = at_once->Open();
  REQUIRE(first->Load().has_value());
  REQUIRE(second->Load().has_value());
  for (const StateChange& change : edit) MustCommit(*first, {change});
  MustCommit(*second, edit);
  const MasterState expected = StoredPart(generator.state());
  CheckSame(Recovered(*one_by_one), expected);
  CheckSame(Recovered(*at_once), expected);
}

TEST_CASE("an edit with a change that does not fit stores nothing at all") {
  Filled filled(8, 40);
  const MasterState before = StoredPart(filled.generator.state());
  REQUIRE_FALSE(before.runs.empty());
  REQUIRE_FALSE(before.requests.empty());
  const StudyId study = before.studies.begin()->first;
  const auto closed =
      std::find_if(before.trials.begin(), before.trials.end(), [](const auto& each) { return each.second.closed; });
  REQUIRE(closed != before.trials.end());
  const StateChange bad[] = {
      AddTrial{before.trials.begin()->second},
      CloseTrial{closed->first},
      AddStudyEvent{study, 1, StudyFinished{}},
      AddStudy{before.studies.begin()->second},
      AddRequest{before.requests.begin()->first, {}},
      AddRun{before.runs.begin()->second},
      SetRunState{RunId{1'000'000}, Ended{}},
      SettlePromise{before.runs.begin()->first, PromiseId{1'000'000}},
      ChangePlan{before.plans.begin()->first, SettleClaim{ClaimId{1'000'000}}},
      FinishStudy{StudyId{1'000'000}},
  };
  for (const StateChange& change : bad) {
    INFO(Print(change));
    StateEdit edit = EditGenerator(filled.generator).Next();
    edit.push_back(change);
    const Result<void> refused = filled.store->Commit(edit);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == ErrorCode::kAborted);
    CheckSame(Recovered(*filled.backend), before);
    REQUIRE(filled.store->Load().has_value());
  }
}

TEST_CASE("a token is of one user") {
  Filled filled;
  const User ann{.name = "ann", .team = "vision", .token_sha256 = Sha256Hex("a token")};
  MustCommit(*filled.store, {SetUser{ann}});
  User bob = ann;
  bob.name = "bob";
  const Result<void> refused = filled.store->Commit({SetUser{bob}});
  REQUIRE_FALSE(refused.has_value());
  CHECK(Recovered(*filled.backend).users.at("ann") == ann);
  CHECK_FALSE(Recovered(*filled.backend).users.contains("bob"));
}

TEST_CASE("after a failure nothing is written until the state has been loaded again") {
  Filled filled;
  const MasterState before = StoredPart(filled.generator.state());
  REQUIRE_FALSE(filled.store->Commit({CloseTrial{before.next.trial}}).has_value());
  const StateEdit next = filled.generator.Next();
  const Result<void> refused = filled.store->Commit(next);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::kUnavailable);
  const Result<MasterState> loaded = filled.store->Load();
  REQUIRE(loaded.has_value());
  CheckSame(StoredPart(*loaded), before);
  MustCommit(*filled.store, next);
  CheckSame(Recovered(*filled.backend), StoredPart(filled.generator.state()));
}

TEST_CASE("a master that another has taken over from can write and read nothing") {
  Filled filled;
  const MasterState before = StoredPart(filled.generator.state());
  filled.backend->TakeOver();
  CHECK_FALSE(filled.store->Commit(filled.generator.Next()).has_value());
  const Result<MasterState> loaded = filled.store->Load();
  REQUIRE_FALSE(loaded.has_value());
  CHECK(loaded.error().code == ErrorCode::kFailedPrecondition);
  CheckSame(Recovered(*filled.backend), before);
}

TEST_CASE("an edit of changes that are not stored needs no database") {
  const auto backend = NewBackend();
  const auto store = backend->Open();
  CHECK(store->Commit({SetServer{{.name = "s"}}, RemoveServer{"s"}, SetPosition{}}).has_value());
  CHECK(store->Commit({}).has_value());
}

TEST_CASE("text with a zero byte is refused") {
  Filled filled;
  const MasterState before = StoredPart(filled.generator.state());
  Study study = before.studies.begin()->second;
  study.id = before.next.study;
  study.specification.definition = std::string("a\0b", 3);
  CHECK_FALSE(filled.store->Commit({AddStudy{study}}).has_value());
  CheckSame(Recovered(*filled.backend), before);
}

TEST_CASE("the first metrics of a point and an evaluation stay") {
  Filled filled;
  const auto& plans = filled.generator.state().plans;
  const auto plan =
      std::find_if(plans.begin(), plans.end(), [](const auto& each) { return !each.second.nodes.empty(); });
  REQUIRE(plan != plans.end());
  const Point point{plan->second.nodes.begin()->first, plan->second.nodes.begin()->second.start + 77};
  const auto add = [&](Metrics metrics) { return ChangePlan{plan->first, AddMetrics{point, "e", std::move(metrics)}}; };
  MustCommit(*filled.store, {add({{"loss", 1.0}}), add({{"loss", 2.0}, {"more", 3.0}})});
  MustCommit(*filled.store, {add({{"loss", 4.0}, {"most", 5.0}})});
  const MasterState recovered = Recovered(*filled.backend);
  const Metrics* stored = recovered.plans.at(plan->first).FindMetrics(point, "e");
  REQUIRE(stored != nullptr);
  CHECK((*stored == Metrics{{"loss", 1.0}}));
}

TEST_CASE("an evaluation that was first named in an edit that failed is stored with the next that names it") {
  Filled filled;
  const auto& plans = filled.generator.state().plans;
  const auto plan =
      std::find_if(plans.begin(), plans.end(), [](const auto& each) { return !each.second.nodes.empty(); });
  REQUIRE(plan != plans.end());
  const Point point{plan->second.nodes.begin()->first, plan->second.nodes.begin()->second.start + 77};
  const ChangePlan measured{plan->first, AddMetrics{point, "new", {{"loss", 1.0}}}};
  REQUIRE_FALSE(filled.store->Commit({measured, FinishStudy{StudyId{1'000'000}}}).has_value());
  REQUIRE(filled.store->Load().has_value());
  MustCommit(*filled.store, {measured});
  MustCommit(*filled.store,
             {ChangePlan{plan->first, AddMetrics{{point.node, point.step + 1}, "new", {{"loss", 2.0}}}}});
  const MasterState recovered = Recovered(*filled.backend);
  const SearchPlan& stored = recovered.plans.at(plan->first);
  CHECK(stored.FindMetrics(point, "new") != nullptr);
  CHECK(stored.FindMetrics({point.node, point.step + 1}, "new") != nullptr);
}

}  // namespace
}  // namespace espalier::master
