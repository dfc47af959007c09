// What teams and users may use at most: who is refused, who is stopped, and what goes on (master/core/state/quota.h).
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "master/core/state/usage.h"
#include "master/core/views/explain_stage.h"
#include "master/core/views/held_back.h"
#include "master/core/views/quota_list.h"
#include "tests/support/server_by_hand.h"
#include "tests/support/simulated_service.h"

namespace espalier::master {
namespace {

const Caller kBob{.user = "bob", .team = "other"};
const Caller kCarol{.user = "carol", .team = "team"};
const Party kTeam{Party::Kind::kTeam, "team"};
const Party kUserAnn{Party::Kind::kUser, "ann"};

void AddUsers(CalledMaster& master) {
  for (const Caller& each : {kAnn, kBob, kCarol}) {
    master.Call(AddUser{{.name = each.user, .team = each.team, .token_sha256 = Sha256Hex(each.user)}});
    REQUIRE(std::holds_alternative<UserChanged>(master.last_reply.answer));
  }
}

void Limit(CalledMaster& master, const Party& party, const QuotaChange& change) {
  master.Call(LimitParty{party, change});
  REQUIRE(std::holds_alternative<QuotaSet>(master.last_reply.answer));
}

struct Office : ServerByHand {
  Office() { AddUsers(*this); }

  // What the batch of these trials is refused for; nothing: it is not.
  std::optional<Error> Refusal(StudyId of, const std::vector<std::string>& rates, std::vector<TrialId> close = {}) {
    SubmitBatch batch{.study = of, .close = std::move(close)};
    for (const std::string& lr : rates) batch.new_trials.push_back({{{"lr", lr}}, Step{10}, Step{20}});
    Call(batch);
    const auto* error = std::get_if<Error>(&last_reply.answer);
    return error == nullptr ? std::nullopt : std::optional(*error);
  }
  StudyId StudyOf(const Caller& caller) {
    Ask({.call = CallId{1},
         .caller = caller,
         .request_id = "study of " + caller.user,
         .what = master::CreateStudy{{.name = "another", .trainer = "simulated", .metric = "score"}}});
    return std::get<StudyCreated>(last_reply.answer).study;
  }
};

struct Service : SimulatedService {
  explicit Service(const SimulatedSettings& settings = {}) : SimulatedService(settings) { AddUsers(*this); }

  // Bob's, so many trials that nobody else trains.
  StudyId BobSubmits(int trials, std::int64_t steps, Scope scope = Scope::kTeam) {
    Ask({.caller = kBob,
         .request_id = "bob's study",
         .what = master::CreateStudy{{.name = "bob's", .trainer = "simulated", .metric = "score", .scope = scope}}});
    const StudyId study = std::get<StudyCreated>(last_reply.answer).study;
    SubmitBatch batch{.study = study};
    for (int i = 1; i <= trials; ++i) {
      batch.new_trials.push_back({{{"lr", "0." + std::to_string(i)}}, Step{steps}, Step{0}});
    }
    Ask({.caller = kBob, .request_id = "bob's trials", .what = batch});
    return study;
  }
  void AnnSubmits(StudyId study, int trials, std::int64_t steps) {
    for (int i = 1; i <= trials; ++i) Submit(study, {{"lr", "0." + std::to_string(i)}}, steps);
  }
  bool IsTraining(StudyId study) const {
    return std::ranges::any_of(state().active_runs, [&](RunId id) {
      const Run& run = state().runs.at(id);
      return run.training() && std::ranges::find(run.serves, study) != run.serves.end();
    });
  }
  std::int64_t DoneTrials(StudyId study) const { return state().trial_index.at(study).Count(TrialStanding::kIdle); }
  bool NothingWasTrainedTwice() const {
    return std::ranges::all_of(trained, [](const auto& entry) { return entry.second == 1; });
  }
};

}  // namespace

TEST_CASE("a team at its limit of open trials is told so, and may have more once some are closed or cancelled") {
  Office of;
  Limit(of, kTeam, {.open_trials = 2});
  CHECK_FALSE(of.Refusal(of.study, {"0.1", "0.2"}));
  const std::optional<Error> refused = of.Refusal(of.study, {"0.3"});
  REQUIRE(refused);
  CHECK(refused->code == ErrorCode::kResourceExhausted);
  CHECK(refused->field == "trials");
  CHECK(refused->message.starts_with("team team has 2 open trials, may have 2 at most, and would have 3"));
  of.Complete(of.Last());
  const TrialId measured = of.state().plans.begin()->second.claims.at(ClaimId{2}).trial;
  CHECK_FALSE(of.Refusal(of.study, {"0.3"}, {measured}));  // who makes room in the same batch has it
  const TrialId last = of.state().trials.rbegin()->first;
  CHECK(of.Refusal(of.study, {"0.4"}));
  CHECK(of.Refusal(of.study, {"0.4"}, {last}));  // it waits, and stays open as long
  of.Cancel(last);
  CHECK_FALSE(of.Refusal(of.study, {"0.4"}));
}

TEST_CASE("a limit of a user is of his trials alone, and one of a team of those of all of its users") {
  Office of;
  Limit(of, kUserAnn, {.open_trials = 1});
  Limit(of, kTeam, {.open_trials = 3});
  REQUIRE_FALSE(of.Refusal(of.study, {"0.1"}));
  CHECK(of.Refusal(of.study, {"0.2"})->message.starts_with("user ann has 1 open trials"));
  const StudyId carols = of.StudyOf(kCarol);
  const auto submit = [&](const std::string& request, std::vector<NewTrial> trials) {
    of.Ask({.call = CallId{1},
            .caller = kCarol,
            .request_id = request,
            .what = SubmitBatch{.study = carols, .new_trials = std::move(trials)}});
    return std::holds_alternative<Error>(of.last_reply.answer);
  };
  CHECK_FALSE(submit("two", {{{{"lr", "0.3"}}, Step{10}, Step{0}}, {{{"lr", "0.4"}}, Step{10}, Step{0}}}));
  CHECK(submit("three", {{{{"lr", "0.5"}}, Step{10}, Step{0}}}));
  Limit(of, kTeam, {.open_trials = std::optional<std::int64_t>()});
  CHECK_FALSE(submit("four", {{{{"lr", "0.5"}}, Step{10}, Step{0}}}));
  CHECK(of.state().quotas.size() == 1);
}

TEST_CASE("of plan nodes what trials share, with others and among each other, counts once") {
  Office of;
  const auto multi = [](int milestone, const std::string& gamma) {
    return "MultiStep(0.5, [" + std::to_string(milestone) + "], " + gamma + ")";
  };
  Limit(of, kTeam, {.plan_nodes = 5});
  REQUIRE_FALSE(of.Refusal(of.study, {multi(5, "0.1"), multi(5, "0.2")}));  // one trunk, two branches
  CHECK(UsageOf(of.state(), kTeam).plan_nodes == 3);
  CHECK(UsageOf(of.state(), kUserAnn).plan_nodes == 3);
  CHECK(of.Refusal(of.study, {multi(5, "0.3"), multi(6, "0.2"), multi(7, "0.2")})
            ->message.starts_with("team team has 3 plan nodes, may have 5 at most, and would have 6"));
  CHECK_FALSE(of.Refusal(of.study, {multi(5, "0.3"), multi(5, "0.1"), multi(6, "0.2"), multi(6, "0.2")}));
  CHECK(UsageOf(of.state(), kTeam).plan_nodes == 5);
  CHECK_FALSE(of.Refusal(of.study, {multi(5, "0.1")}));
  CHECK(of.Refusal(of.study, {multi(5, "0.7")}));
}

TEST_CASE("nodes and states that another team needs as well count for whom trained for first") {
  Service of({.slots = 1});
  const StudyId ann = of.AddStudy({.name = "ann's", .scope = Scope::kEveryone});
  of.AnnSubmits(ann, 1, 50);
  of.BobSubmits(2, 50, Scope::kEveryone);
  of.RunToRest();
  const Usage anns = UsageOf(of.state(), kTeam);
  const Usage bobs = UsageOf(of.state(), {Party::Kind::kTeam, "other"});
  CHECK(anns.plan_nodes == 1);
  CHECK(bobs.plan_nodes == 1);
  CHECK(anns.stored_bytes > 0);
  CHECK(anns.stored_bytes + bobs.stored_bytes == of.state().index.cache.bytes());
}

TEST_CASE("who has used a day's device time is stopped, loses nothing, and goes on when more is allowed") {
  const std::string policy(GENERATE(from_range(KnownPolicies())).name);
  INFO(policy);
  Service of({.slots = 2, .policy = policy});
  const StudyId ann = of.CreateStudy("ann's");
  of.AnnSubmits(ann, 4, 400);  // 40 seconds each
  Limit(of, kTeam, {.device_time = Seconds(30)});
  of.RunFor(Seconds(10));
  REQUIRE(of.IsTraining(ann));
  CHECK(WhyHeldBack(of.state(), of.state().studies.at(ann), Time{}).empty());
  of.RunFor(Seconds(10));
  CHECK_FALSE(of.IsTraining(ann));
  CHECK(of.state().stopped.contains(kTeam));
  const std::int64_t steps = of.steps_trained;
  const StudyId bob = of.BobSubmits(1, 100);  // nobody else is stopped
  of.RunUntil([&] { return of.DoneTrials(bob) == 1; });
  CHECK(of.steps_trained == steps + 100);
  of.RunFor(Seconds(30));
  CHECK(of.steps_trained == steps + 100);
  Limit(of, kTeam, {.device_time = std::optional<Seconds>()});
  of.RunUntil([&] { return of.DoneTrials(ann) == 4; });
  CHECK(of.NothingWasTrainedTwice());
}

TEST_CASE("a day's device time is free again after midnight, and what was used before is of the day before",
          "[large]") {
  Service of({.slots = 1});
  const StudyId ann = of.CreateStudy("ann's");
  of.AnnSubmits(ann, 2, 400);
  Limit(of, kUserAnn, {.device_time = Seconds(50)});
  of.RunFor(Seconds(100));
  CHECK_FALSE(of.IsTraining(ann));
  of.RestartMaster();
  of.RunFor(Seconds(60));
  CHECK_FALSE(of.IsTraining(ann));
  CHECK(of.DoneTrials(ann) == 1);
  CHECK(UsageOf(of.state(), kUserAnn).device_time / 1'000'000 == 50);
  of.RunFor(std::chrono::days(1));
  CHECK(of.DoneTrials(ann) == 2);
  CHECK(UsageOf(of.state(), kUserAnn).device_time / 1'000'000 < 40);
  CHECK(of.NothingWasTrainedTwice());
}

TEST_CASE("of a run that trains over midnight each day has its part") {
  Office of;
  Limit(of, kTeam, {.device_time = Seconds(1e6)});
  of.Submit(of.study, {{"lr", "0.1"}}, 10);
  const Run& run = of.Last();
  const Time midnight = std::chrono::ceil<std::chrono::days>(run.ordered_at);
  const Time until = midnight + std::chrono::seconds(10);
  const auto held = until - run.ordered_at;
  const auto charge = [&](Time to, std::chrono::microseconds time) {
    Apply(of.state(), ChargeRun{run.id, to, {{of.study, time.count()}}, {of.study}});
  };
  charge(run.ordered_at + std::chrono::seconds(100), std::chrono::seconds(100));
  CHECK(UsageOf(of.state(), kTeam).device_time == 100'000'000);
  charge(until, held - std::chrono::seconds(100));
  CHECK(UsageOf(of.state(), kTeam).device_time == 10'000'000);
  CHECK(UsageOf(of.state(), kTeam).day == midnight);
  const std::map<Party, Seconds> today = DeviceTimeToday(of.state(), until + std::chrono::seconds(5));
  CHECK(today.at(kTeam) == Seconds(15));
  CHECK(today.at(kUserAnn) == Seconds(15));
  const Time next_midnight = midnight + std::chrono::days(1);
  CHECK(DeviceTimeToday(of.state(), next_midnight + std::chrono::seconds(3)).at(kTeam) == Seconds(3));
}

TEST_CASE("slots are given to others at once, though it would be the turn of who is stopped") {
  Office of;
  Limit(of, kTeam, {.device_time = Seconds(0)});
  of.Submit(of.study, {{"lr", "0.1"}}, 10);
  const StudyId bobs = of.StudyOf(kBob);
  for (const char* lr : {"0.2", "0.3"}) {
    of.Ask({.call = CallId{1},
            .caller = kBob,
            .request_id = lr,
            .what = SubmitBatch{.study = bobs, .new_trials = {{{{"lr", lr}}, Step{10}, Step{0}}}}});
  }
  CHECK(of.state().runs.size() == 2);
  for (const auto& [id, run] : of.state().runs) CHECK(run.serves == std::vector{bobs});
  CHECK(std::ranges::none_of(of.log, [](const std::string& line) { return line.find("cannot be done") != line.npos; }));
}

TEST_CASE("no policy can begin what is for those alone who are stopped") {
  struct Stubborn : Policy {
    std::string_view name() const override { return "stubborn"; }
    Ranking ranking() const override { return Ranking::kLongest; }
    std::optional<Action> Decide(const View&, Time) override {
      return wanted ? std::optional<Action>(*std::exchange(wanted, std::nullopt)) : std::nullopt;
    }
    std::optional<StartPath> wanted;
  };
  Office of;
  auto policy = std::make_unique<Stubborn>();
  Stubborn& stubborn = *policy;
  of.policy = std::move(policy);
  const TrialId trial = of.Submit(of.study, {{"lr", "0.1"}}, 10);
  const Point point = of.LastClaim(trial).point;
  const StartPath start{of.Plan().id, {point.node, Step{0}}, point.node, {"server-0", 0}};
  Limit(of, kTeam, {.device_time = Seconds(0)});
  stubborn.wanted = start;
  of.Handle(Tick{});
  CHECK(of.state().runs.empty());
  Limit(of, kTeam, {.device_time = std::optional<Seconds>()});
  stubborn.wanted = start;
  of.Handle(Tick{});
  CHECK(of.state().runs.size() == 1);
}

TEST_CASE("a run that is preempted, and that nobody needs any more, ends under a master that has restarted, too") {
  Office of;
  of.Call(ChoosePolicy{GENERATE("critical_path", "throughput")});
  const TrialId trial = of.Submit(of.study, {{"lr", "0.1"}}, 10);
  const RunId run = of.Last().id;
  of.Stand(of.Last(), Step{3});
  Limit(of, kTeam, {.device_time = Seconds(0)});
  REQUIRE(of.RunOf(run).preempt);
  of.Cancel(trial);
  of.Restart();
  CHECK(of.TermsOf(run).preempt);
  of.End(of.RunOf(run), Step{4});
  CHECK(of.RunOf(run).ended());
}

TEST_CASE("no run makes room for a longer path that is for those alone who are stopped") {
  Service of({.slots = 2});
  Limit(of, kTeam, {.device_time = Seconds(0)});
  of.Submit(of.AddStudy({.name = "ann's", .scope = Scope::kEveryone}), {{"lr", "0.9"}}, 5000);
  const StudyId bob = of.BobSubmits(2, 300, Scope::kEveryone);
  of.RunFor(Seconds(5));
  of.Ask({.caller = kBob,
          .request_id = "one that waits",
          .what = SubmitBatch{.study = bob, .new_trials = {{{{"lr", "0.7"}}, Step{1}, Step{0}}}}});
  of.RunUntil([&] { return of.DoneTrials(bob) == 3; });
  CHECK(std::ranges::none_of(of.state().runs, [](const auto& entry) { return entry.second.preempt; }));
}

TEST_CASE("what others want as well is trained, whoever is stopped") {
  Service of({.slots = 1});
  const StudyId ann = of.AddStudy({.name = "ann's", .scope = Scope::kEveryone});
  of.AnnSubmits(ann, 2, 100);
  Limit(of, kTeam, {.device_time = Seconds(0)});
  of.RunFor(Seconds(5));
  CHECK_FALSE(of.IsTraining(ann));
  const StudyId bob = of.BobSubmits(1, 100, Scope::kEveryone);
  of.RunUntil([&] { return of.DoneTrials(bob) == 1; });
  CHECK(of.DoneTrials(ann) == 1);
  of.RunFor(Seconds(30));
  CHECK(of.DoneTrials(ann) == 1);
}

TEST_CASE("a tuner of who is stopped is not asked for more, though slots are idle") {
  Service of({.slots = 2});
  Limit(of, kTeam, {.device_time = Seconds(0)});
  const StudyId ann = of.AddStudy({.name = "ann's", .tuner = "asha", .asks_for_idle_slots = true});
  of.Call(SubmitBatch{.study = ann, .new_trials = {{{{"lr", "0.1"}}, Step{10}, Step{0}}}, .tuner_batch = 0});
  of.RunFor(Seconds(5));
  const auto asked = [&] {
    return std::ranges::count_if(of.state().events.at(ann),
                                 [](const StudyEvent& event) { return std::holds_alternative<SlotIdle>(event); });
  };
  CHECK(asked() == 0);
  Limit(of, kTeam, {.device_time = std::optional<Seconds>()});
  of.RunFor(Seconds(5));
  CHECK(asked() == 1);
}

TEST_CASE("over a limit of stored bytes what is not needed goes first, and then nothing is begun") {
  Office of;
  Limit(of, kTeam, {.stored_bytes = 200});  // two states, as they are stored here
  const auto work = [&](const std::string& file) {
    const Run run = of.Last();
    const Point end{run.path.back().node, run.path.back().to};
    of.Measure(run, end);
    of.End(run, end.step, {end.step});
    of.Store(run, end, file);
  };
  of.Call(CancelStudy{of.study});
  const StudyId study = of.AddStudy({.name = "kept", .keep = Keep::kNone});
  for (const char* lr : {"0.1", "0.2", "0.3"}) {
    const TrialId trial = of.Submit(study, {{"lr", lr}}, 10, 100);
    of.Call(SubmitBatch{.study = study, .close = {trial}});
    work(lr);
  }
  CHECK(of.state().index.cache.bytes() == 200);
  CHECK(of.state().stopped.empty());
  of.Call(PinStudy{study, Keep::kAll});  // both are needed now
  of.Handle(Tick{});
  CHECK(of.state().stopped == std::map<Party, StoppedBy>{{kTeam, StoppedBy::kStoredBytes}});
  const std::size_t runs = of.state().runs.size();
  const TrialId waiting = of.Submit(study, {{"lr", "0.4"}}, 10);
  CHECK(of.state().runs.size() == runs);
  const Point point = of.LastClaim(waiting).point;
  const auto explained = ExplainStage(of.state(), point, kAnn, Time{});
  REQUIRE(explained);
  CHECK(explained->waits_for == WaitsFor::kQuota);
  CHECK(explained->why.find("team team has 200 of at most 200 bytes of checkpoints that are needed") !=
        std::string::npos);
  of.Call(PinStudy{study, Keep::kNone});
  of.Handle(Tick{});
  CHECK(of.state().runs.size() == runs + 1);
}

TEST_CASE("teams see what they and their users use, and administrators what all do") {
  Office of;
  REQUIRE_FALSE(of.Refusal(of.study, {"0.1", "0.2"}));
  Limit(of, kUserAnn, {.open_trials = 7, .device_time = Seconds(60)});
  const auto listed = [&](const Caller& caller) {
    std::vector<std::string> names;
    for (const PartyQuota& each : QuotasFor(caller, of.state(), Time{})) names.push_back(each.team + "/" + each.user);
    return names;
  };
  CHECK(listed(kBob) == std::vector<std::string>{"other/", "other/bob"});
  CHECK(listed(kAnn) == std::vector<std::string>{"team/", "team/ann", "team/carol"});
  of.Call(AddUser{{.name = "root", .team = "local", .role = Role::kAdministrator, .token_sha256 = Sha256Hex("root")}});
  CHECK(listed({.user = "root", .team = "local"}).size() == 7);
  const PartyQuota ann = QuotasFor(kAnn, of.state(), Time{}).at(1);
  CHECK(ann.open_trials == 2);
  CHECK(ann.usage.plan_nodes == 2);
  CHECK(ann.quota == Quota{.open_trials = 7, .plan_nodes = {}, .stored_bytes = {}, .device_time = Seconds(60)});
}

TEST_CASE("a limit that cannot be, or of nobody, is refused with its field") {
  Office of;
  const auto field = [&](const Party& party, const QuotaChange& change) {
    of.Call(LimitParty{party, change});
    return std::get<Error>(of.last_reply.answer).field;
  };
  CHECK(field({Party::Kind::kTeam, "nobody's"}, {.open_trials = 1}) == "team");
  CHECK(field({Party::Kind::kTeam, ""}, {.open_trials = 1}) == "team");
  CHECK(field({Party::Kind::kUser, "zoe"}, {.open_trials = 1}) == "user");
  CHECK(field(kTeam, {.open_trials = -1}) == "open_trials");
  CHECK(field(kTeam, {.device_time = Seconds(-1)}) == "device_seconds");
  CHECK(field(kTeam, {.device_time = Seconds(std::numeric_limits<double>::quiet_NaN())}) == "device_seconds");
  CHECK(of.state().quotas.empty());
}

}  // namespace espalier::master
