// Policies that let several runs share a device, on GPUs by hand.
#include "scheduler/pack_devices.h"

#include <catch2/catch.hpp>
#include <map>

#include "tests/support/empty_view.h"

namespace espalier {
namespace {

constexpr std::int64_t kGigabyte = 1'000'000'000;

// Each training is a plan of one node with one trial, all of the same number; it takes the GPU for so many thousandths
// of its time, and runs so many seconds.
class Gpus : public EmptyView {
 public:
  Gpus(const PackRule& rule, const std::vector<Device>& devices) : rule_(rule), devices_(devices), room_(devices) {
    Forget();
  }

  void Submit(const std::string& name, std::optional<int> utilization, double seconds, std::int64_t gigabytes = 1) {
    const auto number = std::ssize(trainings_) + 1;
    const WorkEstimate estimate{
        .longest = Seconds(seconds), .utilization = utilization, .device_memory_bytes = gigabytes * kGigabyte};
    trainings_.emplace(number, Training{.name = name, .estimate = estimate});
    Tell(WorkChanged{WorkOf(number)});
  }
  // All that could be started. "a0 b1": each with its device.
  std::string Started() {
    started_.clear();
    Obey();
    return started_;
  }
  void End(const std::string& name) {
    const std::int64_t number = NumberOf(name);
    Training& training = trainings_.at(number);
    room_.Free(training.slot, *training.reservation);
    trainings_.erase(number);
    Tell(RunStopped{RunId{number}});
  }
  void Sample(const std::string& name, int utilization) {
    trainings_.at(NumberOf(name)).estimate.utilization = utilization;
  }
  Reservation ReservationOf(const std::string& name) const { return *trainings_.at(NumberOf(name)).reservation; }
  void Wait(double seconds) { now_ += std::chrono::microseconds(static_cast<std::int64_t>(seconds * 1e6)); }
  // The policy remembers nothing but what it has written.
  void Forget() { policy_ = MakePackDevices(rule_); }
  bool forgets_always = false;
  std::int64_t may_not_start = 0;  // a training's number

  std::vector<ReadyWork> Ready() const override {
    std::vector<ReadyWork> ready;
    for (const auto& [number, training] : trainings_) {
      if (!training.reservation) ready.push_back(WorkOf(number));
    }
    return ready;
  }
  bool IsReady(const ReadyWork& work) const override {
    const auto training = trainings_.find(work.plan.value);
    return training != trainings_.end() && !training->second.reservation;
  }
  WorkEstimate EstimateOf(const ReadyWork& work) const override { return trainings_.at(work.plan.value).estimate; }
  std::vector<std::string> ServersFor(PlanId) const override { return {"server"}; }
  const ServerRoom* RoomOf(const std::string&) const override { return &room_; }
  bool MayStart(const ReadyWork& work, const std::string&) const override { return work.plan.value != may_not_start; }
  std::optional<TrialId> WaitingBelow(const ReadyWork& work) const override { return TrialId{work.plan.value}; }
  std::vector<LabelTrial> LabelsOf(std::string_view policy) const override {
    CHECK(policy == rule_.name);
    std::vector<LabelTrial> labels;
    for (const auto& [trial, text] : labels_) labels.push_back({trial, text});
    return labels;
  }

 private:
  struct Training {
    std::string name;
    WorkEstimate estimate;
    std::optional<Reservation> reservation = std::nullopt;  // none: it waits
    int slot = 0;
  };

  static ReadyWork WorkOf(std::int64_t number) {
    return {PlanId{number}, {PlanNodeId{number}, {}}, PlanNodeId{number}};
  }
  std::int64_t NumberOf(const std::string& name) const {
    return std::ranges::find(trainings_, name, [](const auto& entry) { return entry.second.name; })->first;
  }

  void Tell(const PolicyEvent& event) {
    if (forgets_always) Forget();
    policy_->Take(event, *this);
  }

  void Obey() {
    while (true) {
      if (forgets_always) Forget();
      const std::optional<Action> action = policy_->Decide(*this, now_);
      if (!action) return;
      if (const auto* label = std::get_if<LabelTrial>(&*action)) {
        labels_[label->trial] = label->text;
      } else {
        Start(std::get<StartPath>(*action));
      }
    }
  }

  void Start(const StartPath& start) {
    Training& training = trainings_.at(start.plan.value);
    const Reservation wanted = start.reservation.value();
    REQUIRE(room_.Fits(start.slot.index, wanted));
    room_.Take(start.slot.index, wanted);
    training.reservation = wanted;
    training.slot = start.slot.index;
    started_ += (started_.empty() ? "" : " ") + training.name + std::to_string(wanted.device);
    Tell(RunBegan{RunId{start.plan.value}});
    Tell(WorkChanged{WorkOf(start.plan.value)});
  }

  const PackRule rule_;
  const std::vector<Device> devices_;
  ServerRoom room_;
  std::unique_ptr<Policy> policy_;
  std::map<std::int64_t, Training> trainings_;
  std::map<TrialId, std::string> labels_;
  std::string started_;
  Time now_{};
};

Device GpuOf(const std::string& name, int compute, std::int64_t gigabytes = 80, int slots = 8) {
  return {name, DeviceType::kGpu, slots, gigabytes * kGigabyte, 0, compute};
}

const std::vector<Device> kTwo{GpuOf("gpu-0", 1000), GpuOf("gpu-1", 1000)};

std::string FirstStarts(const PackRule& rule) {
  Gpus gpus(rule, kTwo);
  for (int i = 0; i < 5; ++i) gpus.Submit(std::string(1, static_cast<char>('a' + i)), 500 - 50 * i, 10 * (i + 1));
  return gpus.Started();
}

}  // namespace

TEST_CASE("runs share devices by each rule as HyperSack packs jobs") {
  CHECK(FirstStarts(kHyperSackFirstFit) == "a0 b0 c1 d1");
  CHECK(FirstStarts(kHyperSackFirstFitDecreasing) == "e0 d0 c1 b1");
  CHECK(FirstStarts(kHyperSackWorstFit) == "a1 b0 c0 d1");
  CHECK(FirstStarts(kHyperSack) == "e1 d0 c1 b0");
}

TEST_CASE("a device whose runs may take more than the whole of it together takes more of them, and no more memory") {
  Gpus gpus(kHyperSack, {GpuOf("gpu-0", 2500, 10)});
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) gpus.Submit(name, 350, 10);
  CHECK(gpus.Started() == "a0 b0 c0 d0 e0 f0 g0");
  gpus.Submit("h", 50, 10, 4);
  CHECK(gpus.Started() == "");
  gpus.End("c");
  gpus.End("d");
  CHECK(gpus.Started() == "h0");
}

TEST_CASE("a training of whose like nothing is known runs alone, and those like it share the device once it is") {
  Gpus gpus(kHyperSack, {GpuOf("gpu-0", 1000)});
  for (const char* name : {"a", "b", "c"}) gpus.Submit(name, std::nullopt, 10);
  CHECK(gpus.Started() == "a0");
  CHECK(gpus.ReservationOf("a").compute == 1000);
  for (const char* name : {"b", "c"}) gpus.Sample(name, 500);
  gpus.End("a");
  CHECK(gpus.Started() == "b0 c0");
}

TEST_CASE("work that may not start now keeps no other waiting that takes the same") {
  Gpus gpus(kHyperSack, {GpuOf("gpu-0", 1000)});
  for (const char* name : {"a", "b"}) gpus.Submit(name, 500, 10);
  gpus.may_not_start = 1;
  CHECK(gpus.Started() == "b0");
  gpus.may_not_start = 0;
  CHECK(gpus.Started() == "a0");
}

TEST_CASE("what was out of memory takes at least as much the next time") {
  Gpus gpus(kHyperSack, kTwo);
  gpus.Submit("a", 100, 10, 60);
  gpus.Submit("b", 100, 10, 60);
  gpus.Submit("c", 100, 10, 60);
  CHECK(gpus.Started() == "a1 b0");
}

TEST_CASE("work that was passed over for as long as it runs is given the next device, whatever is forgotten") {
  for (const bool forgets : {false, true}) {
    Gpus gpus(kHyperSack, {GpuOf("gpu-0", 1000)});
    gpus.forgets_always = forgets;
    gpus.Submit("a", 600, 100);
    CHECK(gpus.Started() == "a0");
    gpus.Submit("large", 900, 50);
    gpus.Submit("b", 300, 40);
    CHECK(gpus.Started() == "b0");
    gpus.Wait(50);
    gpus.End("b");
    gpus.Submit("c", 300, 40);
    CHECK(gpus.Started() == "c0");
    gpus.Wait(1);
    gpus.End("c");
    gpus.Submit("d", 300, 40);
    CHECK(gpus.Started() == "");
    gpus.End("a");
    CHECK(gpus.Started() == "large0");
  }
}

}  // namespace espalier
