// Policies that let trainings take turns (scheduler/time_slices.h), on one device that obeys at once: which training
// has it, and when.
#include "scheduler/time_slices.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/slot_lanes.h"
#include "tests/support/empty_view.h"

namespace espalier {
namespace {

using Losses = std::function<double(std::int64_t)>;

// Each training is a plan of one node with one trial, all of the same number, and a step takes a second.
class OneDevice : public EmptyView {
 public:
  explicit OneDevice(const SliceRule& rule) : rule_(rule), policy_(MakeTimeSlices(rule)) {
    taken_.Take(0, taken_.share(0));
  }

  void Submit(const std::string& name, Losses losses) {
    const auto number = std::ssize(trainings_) + 1;
    trainings_.emplace(number, Training{name, std::move(losses)});
    Tell(WorkChanged{WorkOf(number)});
  }

  // So many steps, whoever trains them.
  void Train(int seconds) {
    Obey();
    for (int i = 0; i < seconds; ++i) {
      Training& training = trainings_.at(running_.value());
      now_ += std::chrono::seconds(1);
      training.step += 1;
      Tell(Trained{RunId{runs_},
                   PlanNodeId{*running_},
                   {.names = {"accuracy", "loss"},
                    .steps = {Step{training.step}},
                    .values = {0.5, training.losses(training.step)}}});
      Obey();
    }
  }

  // The policy remembers nothing but what it has written.
  void Forget() { policy_ = MakeTimeSlices(rule_); }
  bool forgets_always = false;

  // "0 A, 4 B": who had the device from which second on.
  std::string picks() const { return picks_; }
  std::optional<SliceMark> MarkOf(std::int64_t number) const { return ParseSliceMark(labels_.at(TrialId{number})); }

  std::vector<ReadyWork> Ready() const override {
    std::vector<ReadyWork> ready;
    for (const auto& [number, training] : trainings_) {
      if (number != running_) ready.push_back(WorkOf(number));
    }
    return ready;
  }
  bool IsReady(const ReadyWork& work) const override {
    return work.plan.value != running_ && work == WorkOf(work.plan.value);
  }
  std::optional<StartPath> StartOf(const ReadyWork& work) const override {
    if (running_) return std::nullopt;
    return StartPath{work.plan, work.source, work.first, {"server", 0}};
  }
  std::string PoolOf(PlanId) const override { return "pool"; }
  bool HasIdleSlot(PlanId) const override { return !running_; }
  std::int64_t SlotCount() const override { return 1; }
  std::vector<std::string> ServersFor(PlanId) const override { return {"server"}; }
  const ServerRoom* RoomOf(const std::string&) const override { return running_ ? &taken_ : &free_; }
  bool MayStart(const ReadyWork&, const std::string&) const override { return true; }
  Seconds SwitchingTime(RunId) const override { return switching; }
  std::vector<RunId> Runs() const override { return running_ ? std::vector{RunId{runs_}} : std::vector<RunId>{}; }
  std::optional<RunView> Run(RunId id) const override {
    if (!running_ || id != RunId{runs_}) return std::nullopt;
    return RunView{.id = id,
                   .plan = PlanId{*running_},
                   .ordered_at = began_,
                   .start = from_ == Step{0} ? std::nullopt : std::optional(Point{PlanNodeId{*running_}, from_}),
                   .path = {{PlanNodeId{*running_}, from_, Step{1000}}},
                   .slot = {"server", 0},
                   .evaluation = "",
                   .at = from_,
                   .promises = {}};
  }
  bool CanPreempt(RunId id) const override { return running_ && id == RunId{runs_}; }
  std::optional<TrialId> WaitingBelow(const ReadyWork& work) const override {
    return work.plan.value == not_waited_for ? std::nullopt : std::optional(TrialId{work.plan.value});
  }
  std::optional<TrialId> WaitingFor(PlanId plan, Point) const override { return TrialId{plan.value}; }
  std::vector<LabelTrial> LabelsOf(std::string_view policy) const override {
    CHECK(policy == rule_.name);
    std::vector<LabelTrial> labels;
    for (const auto& [trial, text] : labels_) labels.push_back({trial, text});
    return labels;
  }
  std::vector<Point> WayTo(PlanId, Point point) const override { return {point}; }

  std::int64_t not_waited_for = 0;
  Seconds switching{0};
  std::int64_t steps_to_leave = 0;  // that a run trains before it leaves, and does not report

 private:
  struct Training {
    std::string name;
    Losses losses;
    std::int64_t step = 0;
  };

  ReadyWork WorkOf(std::int64_t number) const {
    return {PlanId{number}, {PlanNodeId{number}, Step{trainings_.at(number).step}}, PlanNodeId{number}};
  }

  void Tell(const PolicyEvent& event) {
    if (forgets_always) Forget();
    policy_->Take(event, *this);
  }

  void Obey() {
    while (const std::optional<Action> action = policy_->Decide(*this, now_)) {
      if (const auto* label = std::get_if<LabelTrial>(&*action)) labels_[label->trial] = label->text;
      if (const auto* start = std::get_if<StartPath>(&*action)) Start(*start);
      if (std::get_if<PreemptRun>(&*action) != nullptr) Leave();
    }
  }

  void Start(const StartPath& start) {
    running_ = start.plan.value;
    from_ = start.source.step;
    began_ = now_;
    ++runs_;
    const auto second = std::chrono::duration_cast<std::chrono::seconds>(now_.time_since_epoch()).count();
    picks_ += (picks_.empty() ? "" : ", ") + std::to_string(second) + " " + trainings_.at(*running_).name;
    policy_->Take(RunBegan{RunId{runs_}}, *this);
    policy_->Take(WorkChanged{{start.plan, start.source, *start.first}}, *this);
  }

  void Leave() {
    const std::int64_t number = std::exchange(running_, std::nullopt).value();
    trainings_.at(number).step += steps_to_leave;
    policy_->Take(RunStopped{RunId{runs_}}, *this);
    policy_->Take(WorkChanged{WorkOf(number)}, *this);
  }

  const ServerRoom free_{{{.name = "device", .slots = 1}}};
  ServerRoom taken_ = free_;
  const SliceRule& rule_;
  std::unique_ptr<Policy> policy_;
  std::map<std::int64_t, Training> trainings_;
  std::map<TrialId, std::string> labels_;
  std::optional<std::int64_t> running_;
  std::int64_t runs_ = 0;
  Step from_{0};
  Time began_{};
  Time now_{};
  std::string picks_;
};

Losses Falling(double factor) {
  return [factor](std::int64_t step) { return 2 * std::pow(factor, static_cast<double>(step)); };
}
double Rising(std::int64_t step) { return 2 + 0.05 * static_cast<double>(step); }
Losses Always(double loss) {
  return [loss](std::int64_t) { return loss; };
}

SliceRule InSlicesOf(SliceRule rule, Seconds length) {
  rule.length = length;
  return rule;
}

}  // namespace

TEST_CASE("hermes gives the device to who converges fastest, in slices that double with each milestone") {
  const SliceRule rule = InSlicesOf(GENERATE(kHermes, kHermesPinned), Seconds(4));
  const bool forgets = GENERATE(false, true);
  CAPTURE(forgets);
  OneDevice device(rule);
  device.forgets_always = forgets;
  device.Submit("A", Falling(0.9));
  device.Submit("B", Falling(0.97));
  device.Submit("D", Rising);
  device.Train(12);
  CHECK(device.MarkOf(1)->convergence->rate == Approx(0.12195));
  CHECK(device.MarkOf(2)->convergence->rate == Approx(0.04235).epsilon(1e-3));
  CHECK(device.MarkOf(3)->convergence->rate == Approx(-0.0375));
  device.Train(4);
  CHECK(device.MarkOf(1)->convergence->rate == Approx(0.13379).epsilon(1e-4));
  device.Train(4);
  CHECK(device.MarkOf(1)->convergence->rate == Approx(0.08778).epsilon(1e-4));
  CHECK(device.MarkOf(1)->convergence->milestones == 1);
  device.Train(52);
  CHECK(device.picks() == "0 A, 4 B, 8 D, 12 A, 28 B, 48 A, 64 B");
}

TEST_CASE("what is known of a training holds where it goes on, further than it was reported") {
  const SliceRule rule = InSlicesOf(kHermes, Seconds(2));
  OneDevice device(rule);
  device.forgets_always = GENERATE(false, true);
  device.steps_to_leave = 1;
  device.Submit("A", Falling(0.99));
  device.Submit("B", Falling(0.9));
  device.Train(8);
  CHECK(device.picks() == "0 A, 2 B");  // A is none that never ran
}

TEST_CASE("slaq gives the device to who has the highest loss, round_robin to who has waited longest") {
  const bool by_loss = GENERATE(false, true);
  const SliceRule rule = InSlicesOf(by_loss ? kSlaq : kRoundRobin, Seconds(3));
  OneDevice device(rule);
  device.Submit("A", Always(1));
  device.Submit("B", Always(3));
  device.Submit("C", Always(2));
  device.Train(17);
  CHECK(device.picks() == (by_loss ? "0 A, 3 B, 6 C, 9 B" : "0 A, 3 B, 6 C, 9 A, 12 B, 15 C"));
}

TEST_CASE("no more than four trainings a slot begin before one of them is done") {
  const SliceRule rule = InSlicesOf(kRoundRobin, Seconds(2));
  OneDevice device(rule);
  for (const char* name : {"A", "B", "C", "D", "E"}) device.Submit(name, Always(1));
  device.Train(11);
  CHECK(device.picks() == "0 A, 2 B, 4 C, 6 D, 8 A, 10 B");
}

TEST_CASE("a slice is at least five times as long as it takes to store one state and load another") {
  const SliceRule rule = InSlicesOf(kRoundRobin, Seconds(2));
  OneDevice device(rule);
  device.switching = Seconds(1);
  device.Submit("A", Always(1));
  device.Submit("B", Always(1));
  device.Train(11);
  CHECK(device.picks() == "0 A, 5 B, 10 A");
}

TEST_CASE("a training that has diverged comes last") {
  const SliceRule rule = InSlicesOf(kHermes, Seconds(2));
  OneDevice device(rule);
  device.Submit("A", Always(std::nan("")));
  device.Submit("B", Rising);
  device.Train(9);
  CHECK(device.picks() == "0 A, 2 B");
}

TEST_CASE("a training that is given no slot, for nobody waits for it, holds up none that come later") {
  OneDevice device(kHermesPinned);
  device.not_waited_for = 1;
  device.Submit("A", Falling(0.9));
  device.Submit("B", Falling(0.9));
  device.Train(1);
  CHECK(device.picks() == "0 B");
}

TEST_CASE("a mark is read back as it was written") {
  const SliceMark bare{.plan = PlanId{3}, .at = {PlanNodeId{7}, Step{0}}};
  CHECK(ParseSliceMark(Print(bare)) == bare);
  SliceMark mark{.plan = PlanId{3},
                 .at = {PlanNodeId{7}, Step{40}},
                 .since = Time(std::chrono::microseconds(1'764'200'000'000'001))};
  mark.convergence = Convergence{.rate = 0.1 + 0.2, .loss = 1e-300, .first_loss = -2.5, .milestones = 2};
  mark.losses.Add(0.1);
  mark.losses.Add(1.0 / 3);
  CHECK(ParseSliceMark(Print(mark)) == mark);
  mark.slot = SlotId{"a server, on slot 3 of others", 12};
  CHECK(ParseSliceMark(Print(mark)) == mark);
  mark.convergence->rate = -std::numeric_limits<double>::infinity();
  mark.losses.Add(std::nan(""));
  CHECK(ParseSliceMark(Print(mark)) == mark);
  for (const char* text :
       {"", "released at step 10", "plan 1 at 2@3", "plan 1 at 2@3, since 4 losses 0 0 0 0 0 more"}) {
    CHECK_FALSE(ParseSliceMark(text).has_value());
  }
}

TEST_CASE("a training that comes is given the slot with the fewest, the first of equals, and none where all are full") {
  // Slots with two trainings, one, and four: one waits, others train, or their states are being stored.
  SlotLanes lanes;
  const SlotId first{"server", 0};
  const SlotId second{"server", 1};
  const SlotId third{"server", 2};
  lanes.SetPool("pool", {first, second, third});
  const auto job = [](std::int64_t number) {
    return WaitingWork{0, {PlanId{number}, {PlanNodeId{number}, Step{0}}, PlanNodeId{number}}};
  };
  lanes.Add(first, job(1));
  lanes.Begin(first, RunId{1});
  lanes.Save(second, RunId{2});
  for (std::int64_t i = 2; i <= 5; ++i) lanes.Add(third, job(i));
  std::vector<std::optional<SlotId>> given;
  for (std::int64_t i = 6; i <= 11; ++i) {
    given.push_back(lanes.Fewest("pool"));
    if (given.back()) lanes.Add(*given.back(), job(i));
  }
  CHECK(given == std::vector<std::optional<SlotId>>{second, first, second, first, second, std::nullopt});
  CHECK(lanes.open() == std::set<SlotId>{second, third});
  CHECK(lanes.size() == 12);
  lanes.End(RunId{1});
  CHECK(lanes.open().contains(first));
  CHECK(lanes.Fewest("pool") == first);
}

TEST_CASE("each pool knows the slot with the fewest among those of its own servers, as they are now") {
  SlotLanes lanes;
  const SlotId shared{"a", 0};
  const SlotId other{"b", 0};
  lanes.Save(shared, RunId{1});
  lanes.SetPool("both", {shared, other});
  lanes.SetPool("one", {shared});
  CHECK(lanes.Fewest("both") == other);
  CHECK(lanes.Fewest("one") == shared);
  CHECK(lanes.Fewest("none") == std::nullopt);
  for (std::int64_t i = 2; i <= 4; ++i) lanes.Save(shared, RunId{i});
  CHECK(lanes.Fewest("one") == std::nullopt);
  lanes.SetPool("one", {other});
  for (std::int64_t i = 5; i <= 8; ++i) lanes.Save(other, RunId{i});
  CHECK(lanes.Fewest("both") == std::nullopt);
  lanes.End(RunId{8});
  CHECK(lanes.Fewest("one") == other);
  lanes.SetPool("both", {shared});
  CHECK(lanes.Fewest("both") == std::nullopt);
  lanes.End(RunId{1});
  lanes.SetPool("one", {});
  CHECK(lanes.Fewest("both") == shared);
  CHECK(lanes.Fewest("one") == std::nullopt);
}

TEST_CASE("whoever trains goes on if nobody is more urgent, and a training that never ran precedes all") {
  const SliceRule rule = InSlicesOf(kHermes, Seconds(2));
  OneDevice device(rule);
  device.Submit("A", Falling(0.9));
  device.Submit("B", Falling(0.9));
  device.Train(4);
  CHECK(device.picks() == "0 A, 2 B");
  device.Submit("C", Falling(0.9));
  device.Train(1);
  CHECK(device.picks() == "0 A, 2 B");  // its slice goes on
  device.Train(1);
  CHECK(device.picks() == "0 A, 2 B, 6 C");
}

}  // namespace espalier
