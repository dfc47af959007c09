// What policies may order, and that nothing is lost by it (TreeML 4.3 and 6.3; row "preempted" of what may fail).
#include <catch2/catch.hpp>
#include <functional>

#include "tests/support/server_by_hand.h"
#include "tests/support/simulated_service.h"

namespace espalier::master {
namespace {

// Preempts and starts what it is told to, and then as critical path.
class Obedient : public Policy {
 public:
  std::string_view name() const override { return "obedient"; }
  Ranking ranking() const override { return Ranking::kLongest; }
  std::optional<Action> Decide(const View& view, Time) override {
    ++asked;
    preemptible.clear();
    for (const RunView& run : view.Preemptible()) preemptible.push_back(run.id);
    if (next) return std::exchange(next, std::nullopt);
    return view.BestStart();
  }

  std::optional<Action> next;
  int asked = 0;
  std::vector<RunId> preemptible;  // when it was asked last
};

// One slot, whose runs the policy gives and takes.
struct OneSlot : ServerByHand {
  OneSlot() : ServerByHand(1) { policy = std::move(owned); }

  void Hear() { Handle(NodeMessage{.session = servers[0].session}); }
  void Order(Action action) {
    obedient.next = std::move(action);
    Hear();
  }
  const Run& RunOf(std::int64_t id) const { return state().runs.at(RunId{id}); }

  std::unique_ptr<Obedient> owned = std::make_unique<Obedient>();
  Obedient& obedient = *owned;
};

struct Waiting {
  std::string lr;
  std::int64_t steps = 0;
};

// Of 30 steps, of 10, and two of 20 that part at step 15.
const std::vector<Waiting> kOneParts = {
    {"0.1", 30}, {"0.2", 10}, {"Piecewise([0.3, 0.03], [15])", 20}, {"Piecewise([0.3, 0.01], [15])", 20}};
// Three of 30 steps that all part at step 5; four of 20 that part at steps 5, 10 and 15.
const std::vector<Waiting> kWideAndDeep = {{"0.2", 30},
                                           {"Piecewise([0.2, 0.02], [5])", 30},
                                           {"Piecewise([0.2, 0.01], [5])", 30},
                                           {"0.1", 20},
                                           {"Piecewise([0.1, 0.01], [5])", 20},
                                           {"Piecewise([0.1, 0.01], [10])", 20},
                                           {"Piecewise([0.1, 0.01], [15])", 20}};

// Nothing: done.
std::optional<Error> Choose(CalledMaster& master, const std::string& policy) {
  master.Call(ChoosePolicy{policy});
  const auto* error = std::get_if<Error>(&master.last_reply.answer);
  return error == nullptr ? std::nullopt : std::optional(*error);
}

using Meanwhile = std::function<void(SimulatedService&)>;

// The steps at which runs end, in the order of their starts, while the trials wait for the one slot. A trial of 5 has
// the slot before them; `meanwhile` happens then.
std::vector<std::int64_t> EndsInOrder(
    std::string_view policy, const std::vector<Waiting>& trials = kOneParts,
    const Meanwhile& meanwhile = [](SimulatedService&) {}) {
  SimulatedService service({.slots = 1, .policy = std::string(policy)});
  const StudyId study = service.CreateStudy("order");
  service.Submit(study, {{"lr", "0.5"}}, 5);
  for (const Waiting& trial : trials) service.Submit(study, {{"lr", trial.lr}}, trial.steps);
  meanwhile(service);
  service.RunToRest();
  std::vector<std::int64_t> ends;
  for (const auto& [id, run] : service.state().runs) {
    if (!run.path.empty()) ends.push_back(run.path.back().to.value);
  }
  return ends;
}

}  // namespace

TEST_CASE("critical path starts the longest way down first") {
  const std::string policy = GENERATE("critical_path", "critical_path_not_preempting");
  CHECK(EndsInOrder(policy) == std::vector<std::int64_t>{5, 30, 20, 10, 20});
}

TEST_CASE("critical path makes no room where the longest way down leads through what a run has still to train") {
  SimulatedService service({.slots = 2});
  const StudyId study = service.CreateStudy("one");
  service.Submit(study, {{"lr", "0.1"}}, 300);
  service.Submit(study, {{"lr", "0.4"}}, 400);
  service.RunFor(Seconds(5));
  const bool waits = GENERATE(false, true);
  CAPTURE(waits);
  if (waits) service.Submit(study, {{"lr", "Piecewise([0.1, 0.01], [200])"}}, 3000);
  service.Submit(study, {{"lr", "0.2"}}, 3000);
  service.RunFor(Seconds(5));
  CHECK(service.state().runs.at(RunId{1}).preempt == !waits);
  CHECK(service.state().runs.at(RunId{2}).preempt == waits);
}

TEST_CASE("throughput starts first what most stages wait for") {
  CHECK(EndsInOrder("throughput") == std::vector<std::int64_t>{5, 20, 30, 10, 20});
}

TEST_CASE("throughput counts all stages below one, and by children those right behind it") {
  CHECK(EndsInOrder("throughput", kWideAndDeep).at(1) == 20);
  CHECK(EndsInOrder("throughput_children", kWideAndDeep).at(1) == 30);
}

TEST_CASE("unbatched, a run is one stage, and the next ones wait until its state is stored") {
  CHECK(EndsInOrder("critical_path_unbatched") == std::vector<std::int64_t>{5, 30, 15, 10, 20, 20});
  CHECK(EndsInOrder("breadth_first_unbatched") == std::vector<std::int64_t>{5, 30, 10, 15, 20, 20});
}

TEST_CASE("breadth first starts at the earliest step, however short") {
  CHECK(EndsInOrder("breadth_first") == std::vector<std::int64_t>{5, 30, 10, 20, 20});
}

TEST_CASE("a policy that is chosen decides from then on, also after a restart") {
  const std::string first = GENERATE("critical_path", "breadth_first");
  const std::string second = GENERATE("breadth_first", "throughput", "critical_path");
  const bool restarts = GENERATE(false, true);
  CAPTURE(first, second, restarts);
  const auto ends = EndsInOrder(first, kOneParts, [&](SimulatedService& service) {
    REQUIRE_FALSE(Choose(service, second).has_value());
    if (restarts) service.RestartMaster();
    CHECK(service.state().policy.name == second);
  });
  CHECK(ends == EndsInOrder(second));
}

TEST_CASE("who chose the policy is kept, and one that there is not is refused with the list") {
  MasterByHand master;
  CHECK(master.state().policy == PolicyChoice{});
  REQUIRE_FALSE(Choose(master, "throughput").has_value());
  const PolicyChoice chosen = master.state().policy;
  CHECK(chosen.name == "throughput");
  CHECK(chosen.by == kAnn.user);
  CHECK(chosen.at > Time{});

  const auto unknown = Choose(master, "fifo");
  REQUIRE(unknown.has_value());
  CHECK(unknown->code == ErrorCode::kInvalidArgument);
  CHECK(unknown->field == "policy");
  CHECK(unknown->message.find("expected one of critical_path") != std::string::npos);
  CHECK(master.state().policy == chosen);

  REQUIRE_FALSE(Choose(master, "throughput").has_value());  // again: nothing changes
  CHECK(master.state().policy == chosen);
  master.Restart();
  CHECK(master.state().policy == chosen);
}

TEST_CASE("a policy is asked after every event, also while no slot is idle") {
  OneSlot one;
  one.Submit(one.study, {{"lr", "0.1"}}, 10);
  one.Hear();
  const int before = one.obedient.asked;
  one.Hear();
  CHECK(one.obedient.asked == before + 1);
  one.Handle(Tick{Moment(Seconds(1))});
  CHECK(one.obedient.asked == before + 2);
}

TEST_CASE("a preempted run's last state is promised as its slot becomes free, and what follows starts from it") {
  OneSlot one;
  one.Submit(one.study, {{"lr", "0.1"}}, 50);
  one.Order(PreemptRun{RunId{1}});
  CHECK(one.RunOf(1).preempt);
  CHECK(one.obedient.preemptible.empty());  // it is being preempted already
  const PlanNodeId node = one.RunOf(1).path.front().node;

  one.Report(one.RunOf(1), RunEnded{.step = Step{7}, .saves_under_way = {Step{7}}});
  CHECK(one.RunOf(1).FindOpen(Step{7}, Owed::kState) != nullptr);
  CHECK(one.state().runs.size() == 1);  // nothing starts before the state is there

  one.Store(one.RunOf(1), {node, Step{7}});
  REQUIRE(one.state().runs.size() == 2);
  CHECK(one.RunOf(2).start == Point{node, Step{7}});
  CHECK(one.obedient.preemptible == std::vector{RunId{2}});
}

TEST_CASE("a path whose preempted run lost its state is not preempted again before it has stored one") {
  OneSlot one;
  one.Submit(one.study, {{"lr", "0.1"}}, 50);
  one.Order(PreemptRun{RunId{1}});
  const PlanNodeId node = one.RunOf(1).path.front().node;
  one.Report(one.RunOf(1), RunEnded{.step = Step{7}, .saves_under_way = {Step{7}}});
  one.Report(one.RunOf(1), PromiseLost{.promise = one.RunOf(1).FindOpen(Step{7}, Owed::kState)->id, .step = Step{7}});
  REQUIRE(one.state().runs.size() == 2);
  CHECK_FALSE(one.RunOf(2).start.has_value());
  CHECK(one.obedient.preemptible.empty());

  SECTION("a policy that wants it all the same is refused") {
    one.Order(PreemptRun{RunId{2}});
    CHECK_FALSE(one.RunOf(2).preempt);
  }
  SECTION("after a restart, too") {
    one.Restart();
    one.Hear();
    CHECK(one.obedient.preemptible.empty());
  }
  SECTION("once it has stored a state it may be") {
    one.Store(one.RunOf(2), {node, one.RunOf(2).promises.begin()->second.step});
    CHECK(one.state().index.preempted_in_vain.empty());
  }
}

TEST_CASE("what a policy cannot have changes nothing") {
  MasterByHand master(1, 2);
  auto owned = std::make_unique<Obedient>();
  Obedient& policy = *owned;
  master.policy = std::move(owned);
  const StudyId study = master.CreateStudy("impossible");
  const TrialId trunk = master.Submit(study, {{"lr", "0.1"}}, 50);
  const TrialId branch = master.Submit(study, {{"lr", "Piecewise([0.1, 0.01], [20])"}}, 30);
  REQUIRE(master.state().runs.size() == 1);  // the branch waits for what the trunk's run promises; slot 1 is idle
  const PlanId plan = master.state().trials.at(trunk).plan;
  const PlanNodeId root = master.state().trials.at(trunk).leaf;
  const PlanNodeId leaf = master.state().trials.at(branch).leaf;
  const Action impossible = GENERATE_COPY(
      Action(PreemptRun{RunId{9}}),                                              // there is none
      Action(StartPath{plan, {root, Step{20}}, leaf, {"server-0", 1}}),          // promised, not stored
      Action(StartPath{plan, {root, Step{0}}, root, {"server-0", 1}}),           // nobody needs it now
      Action(StartPath{plan, {root, Step{20}}, std::nullopt, {"server-0", 1}}),  // nothing to evaluate
      Action(StartPath{PlanId{9}, {root, Step{0}}, root, {"server-0", 1}}),      // no such plan
      Action(StartPath{plan, {root, Step{0}}, root, {"server-0", 2}}),           // no such slot
      Action(StartPath{plan, {root, Step{0}}, root, {"elsewhere", 0}}),          // no such server
      Action(ReleaseTrial{TrialId{9}}),                                          // no such trial
      Action(ReleaseTrial{trunk}),                 // its study does not let policies stop it
      Action(LabelTrial{TrialId{9}, "what for"}),  // no such trial
      Action(LabelTrial{trunk, ""}),               // says nothing
      Action(AnalyseCurve{{.trial = trunk, .at = {root, Step{20}}, .curve = {}}}),         // nothing to analyse
      Action(AnalyseCurve{{.trial = TrialId{9}, .at = {root, Step{20}}, .curve = {1}}}));  // no such trial
  policy.next = impossible;
  master.Handle(NodeMessage{.session = master.servers[0].session});
  CHECK(master.state().runs.size() == 1);
  CHECK_FALSE(master.state().runs.at(RunId{1}).preempt);
  CHECK_FALSE(master.state().trials.at(trunk).closed);
  CHECK_FALSE(master.state().trials.at(trunk).label.has_value());
  CHECK(master.questions.empty());
}

TEST_CASE("a curve is analysed for a policy once at a time, and what was not asked is passed over") {
  OneSlot one;
  const StudyId study = one.CreateStudy("analysed");
  const TrialId trial = one.Submit(study, {{"lr", "0.1"}}, 50);
  const auto question = [&](std::int64_t step, double target) {
    const Point at{one.state().trials.at(trial).leaf, Step{step}};
    return AnalyseCurve{{.trial = trial, .at = at, .curve = {0.1, 0.4}, .target = target}};
  };
  one.Order(question(20, 0.5));
  one.Order(question(20, 0.6));
  one.Order(question(30, 0.4));
  REQUIRE(one.questions == std::vector{question(20, 0.5).question, question(30, 0.4).question});
  const CurveQuestion first = one.questions[0];
  CHECK(AnswerTo(first).chance == 0);
  CHECK(AnswerTo(one.questions[1]).chance == 1);
  one.AnswerQuestions();
  CHECK(one.state().analyses.empty());
  one.Handle(AnswerTo(first));
  one.Order(question(20, 0.6));
  CHECK(one.questions.size() == 1);
  one.Restart();
  one.Handle(AnswerTo(first));
  CHECK(one.state().analyses.empty());
}

TEST_CASE("a policy releases a trial that waits, and not one that is done or was released") {
  OneSlot one;
  const StudyId study = one.AddStudy({.name = "stoppable", .policy = {.may_stop = true}});
  const TrialId trial = one.Submit(study, {{"lr", "0.1"}}, 50);
  const TrialId equal = one.Submit(study, {{"lr", "0.1"}}, 50);
  one.Order(ClaimStep{trial, Step{20}});
  one.Order(ClaimStep{trial, Step{60}});  // it does not go so far
  CHECK(one.state().trials.at(trial).claims.size() == 2);
  one.Order(LabelTrial{trial, "why not"});
  CHECK(one.state().trials.at(trial).label == TrialLabel{"obedient", "why not"});
  one.Order(ReleaseTrial{trial});
  CHECK(one.LastClaim(trial).state == ClaimState::kCancelled);
  CHECK(one.LastClaim(equal).state == ClaimState::kWaiting);
  CHECK(one.RunOf(1).training());
  const std::size_t events = one.state().events.at(study).size();
  one.Order(ReleaseTrial{trial});
  one.Complete(one.RunOf(1));
  one.Order(ReleaseTrial{equal});
  CHECK(one.LastClaim(equal).state == ClaimState::kDone);
  CHECK_FALSE(one.state().trials.at(equal).closed);
  CHECK(one.state().events.at(study).size() == events + 1);  // that it is done
}

}  // namespace espalier::master
