#include "scheduler/pack_devices.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scheduler/demand.h"
#include "scheduler/label_text.h"

namespace espalier {
namespace {

constexpr int kTriesMax = 64;  // of work that may not start, or is estimated otherwise now
constexpr std::int64_t kMemoryUnit = std::int64_t{1} << 26;  // measured memory is rounded up to
constexpr std::int64_t kComputeUnit = 10;                    // and thousandths of a GPU's time

// What work of one kind takes, whatever the device. Rounded, so that there are few kinds.
struct Appetite {
  std::optional<int> utilization;
  std::int64_t memory_bytes = 0;
  std::int64_t device_memory_bytes = 0;
  Demand least;  // it was out of memory with less
  friend auto operator<=>(const Appetite&, const Appetite&) = default;
};

std::int64_t RoundedUp(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

Appetite AppetiteOf(const WorkEstimate& estimate) {
  Appetite appetite{.memory_bytes = RoundedUp(estimate.memory_bytes, kMemoryUnit),
                    .device_memory_bytes = RoundedUp(estimate.device_memory_bytes, kMemoryUnit),
                    .least = estimate.least};
  if (estimate.utilization) {
    const std::int64_t rounded = RoundedUp(*estimate.utilization, kComputeUnit);
    appetite.utilization = static_cast<int>(std::min<std::int64_t>(kWholeDevice, rounded));
  }
  return appetite;
}

// Of the device, for a run with that appetite, beside others. None: it has not so much.
std::optional<Reservation> ReservationOf(const ServerRoom& room, int device, const Appetite& appetite) {
  const Device& capacity = room.device(device);
  const int shares = SharesFor(capacity, appetite.least);
  if (shares == 0) return std::nullopt;
  Reservation wanted = room.share(device);
  const bool is_gpu = capacity.type == DeviceType::kGpu;
  if (is_gpu) wanted.compute = appetite.utilization.value_or(capacity.compute);
  const std::int64_t memory = is_gpu ? appetite.device_memory_bytes : appetite.memory_bytes;
  if (memory > 0 && capacity.memory_bytes > 0) {
    const bool fits_unrounded = memory - kMemoryUnit < capacity.memory_bytes;
    wanted.memory_bytes = fits_unrounded ? std::min(memory, capacity.memory_bytes) : memory;
  }
  if (Suffices(wanted, capacity, appetite.least)) return wanted;
  const Reservation enough = SharesOf(capacity, device, shares);
  wanted.compute = std::max(wanted.compute, enough.compute);
  wanted.memory_bytes = std::max(wanted.memory_bytes, enough.memory_bytes);
  return wanted;
}

bool HasRoom(const ServerRoom& room, int device, const Appetite& appetite) {
  const std::optional<Reservation> wanted = ReservationOf(room, device, appetite);
  return wanted && room.Has(*wanted);
}

// Work that something else was preferred to, for nothing had room for it.
struct PassedOver {
  ReadyWork work;
  Time since{};
};

// "no room for 3@40 under 4 of plan 1, since 1764200000000000"
std::string TextOf(const PassedOver& passed_over) {
  const ReadyWork& work = passed_over.work;
  return "no room for " + std::to_string(work.source.node.value) + "@" + std::to_string(work.source.step.value) +
         " under " + std::to_string(work.first.value) + " of plan " + std::to_string(work.plan.value) + ", since " +
         std::to_string(passed_over.since.time_since_epoch().count());
}

// None: it is no such text.
std::optional<PassedOver> ParsePassedOver(std::string_view text) {
  PassedOver passed_over;
  ReadyWork& work = passed_over.work;
  std::int64_t since = 0;
  LabelReader reader(text);
  reader.Skip("no room for ").Take(work.source.node.value).Skip("@").Take(work.source.step.value);
  reader.Skip(" under ").Take(work.first.value).Skip(" of plan ").Take(work.plan.value).Skip(", since ").Take(since);
  passed_over.since = Time(std::chrono::microseconds(since));
  return reader.is_done() ? std::optional(passed_over) : std::nullopt;
}

class PackDevices : public Policy {
 public:
  explicit PackDevices(const PackRule& rule) : rule_(rule) {}

  std::string_view name() const override { return rule_.name; }
  Ranking ranking() const override { return Ranking::kLongest; }
  bool is_fair() const override { return false; }

  void Take(const PolicyEvent& event, const View& view) override {
    Recall(view);
    if (const auto* changed = std::get_if<WorkChanged>(&event)) {
      Drop(changed->work);
      if (view.IsReady(changed->work)) Place(changed->work, view);
    }
    if (std::holds_alternative<ServersChanged>(event)) {
      for (auto& [name, pool] : pools_) pool.servers.reset();
    }
    if (const auto* ended = std::get_if<StudyEnded>(&event)) {
      for (const PolicyTrial& trial : view.TrialsOf(ended->study)) passed_over_.erase(trial.id);
    }
  }

  std::optional<Action> Decide(const View& view, Time now) override {
    Recall(view);
    if (std::optional<Action> action = NextAction(view, now); action || unwritten_.empty()) return action;
    LabelTrial label = std::move(unwritten_.back());
    unwritten_.pop_back();
    return label;
  }

 private:
  std::optional<StartPath> NextAction(const View& view, Time now) {
    if (std::optional<StartPath> evaluation = view.BestEvaluation()) return evaluation;
    for (auto& [name, pool] : pools_) {
      if (auto start = Decision(*this, pool, view, now).NextStart()) return start;
    }
    return std::nullopt;
  }

  struct Waiting {
    Seconds time{0};  // by which it is ordered
    ReadyWork work;
    friend bool operator<(const Waiting& a, const Waiting& b) {
      if (a.time != b.time) return a.time > b.time;
      return std::tie(a.work.first, a.work) < std::tie(b.work.first, b.work);
    }
  };
  // Of trainings that the same servers offer.
  struct Pool {
    std::map<Appetite, std::set<Waiting>> waiting;  // none is empty
    std::optional<std::vector<std::string>> servers;
  };
  struct Placed {
    Pool* pool = nullptr;
    Appetite appetite;
    Waiting waiting;
  };

  // One look at all that waits in a pool, and at what is free.
  class Decision {
   public:
    Decision(PackDevices& policy, Pool& pool, const View& view, Time now)
        : policy_(policy), pool_(pool), view_(view), now_(now) {}

    // O(appetites x devices).
    std::optional<StartPath> NextStart() {
      if (pool_.waiting.empty() || !FindDevices()) return std::nullopt;
      for (const auto& [appetite, waiting] : pool_.waiting) heads_.emplace(*waiting.begin(), appetite);
      for (int tries = 0; !heads_.empty() && tries < kTriesMax;) {
        const auto [head, appetite] = *heads_.begin();
        heads_.erase(heads_.begin());
        if (const Appetite now = AppetiteOf(view_.EstimateOf(head.work)); now != appetite) {
          Replace(head.work, appetite);
          ++tries;
          continue;
        }
        const std::optional<std::size_t> device = DeviceFor(head.work, appetite);
        if (!device && !AnyHasRoom(appetite)) {
          Wait(head, appetite);  // and so do those that take the same
          continue;
        }
        if (!device) {  // where there is room, it may not start now
          ++tries;
          After(head, appetite);
          continue;
        }
        if (policy_.rule_.fills) {
          if (auto start = StartFilling(devices_[*device], appetite)) return start;
        }
        return StartOn(devices_[*device], head, appetite);
      }
      return std::nullopt;
    }

   private:
    struct Free {
      const std::string* server = nullptr;
      const ServerRoom* room = nullptr;
      int device = 0;
      bool is_kept = false;  // for what has waited long enough
    };

    // Those of which anything is left.
    bool FindDevices() {
      if (!pool_.servers) {
        pool_.servers = view_.ServersFor(pool_.waiting.begin()->second.begin()->work.plan);
      }
      for (const std::string& server : *pool_.servers) {
        const ServerRoom* room = view_.RoomOf(server);
        for (int device = 0; room != nullptr && device < room->device_count(); ++device) {
          if (room->HasFreeSlot(device)) devices_.push_back({&server, room, device});
        }
      }
      return !devices_.empty();
    }

    static bool HasRoomFor(const Free& free, const Appetite& appetite) {
      return !free.is_kept && HasRoom(*free.room, free.device, appetite);
    }

    bool AnyHasRoom(const Appetite& appetite) const {
      return std::ranges::any_of(devices_, [&](const Free& free) { return HasRoomFor(free, appetite); });
    }

    std::optional<std::size_t> DeviceFor(const ReadyWork& work, const Appetite& appetite) const {
      const std::string* asked = nullptr;  // a server's devices stand together
      bool may_start = false;
      const auto fits = [&](std::size_t i) {
        const Free& free = devices_[i];
        if (!HasRoomFor(free, appetite)) return false;
        if (std::exchange(asked, free.server) != free.server) may_start = view_.MayStart(work, *free.server);
        return may_start;
      };
      const auto left = [&](std::size_t i) {
        const Free& free = devices_[i];
        return free.room->device(free.device).compute - free.room->reserved(free.device).compute;
      };
      return ChooseDevice(devices_.size(), policy_.rule_.rule, fits, left);
    }

    StartPath StartOn(const Free& free, const Waiting& head, const Appetite& appetite) const {
      const Reservation wanted = ReservationOf(*free.room, free.device, appetite).value();
      const int slot = free.room->SlotFor(wanted).value();
      return StartPath{head.work.plan, head.work.source, head.work.first, {*free.server, slot}, wanted};
    }

    // Where nothing has room beside a run of that appetite, the one that takes most of the device. None: that itself.
    std::optional<StartPath> StartFilling(const Free& free, const Appetite& appetite) const {
      const auto compute = [&](const Appetite& each) {
        const std::optional<Reservation> wanted = ReservationOf(*free.room, free.device, each);
        return wanted ? wanted->compute : kComputeMax;
      };
      int most = compute(appetite);
      const int left = free.room->device(free.device).compute - free.room->reserved(free.device).compute - most;
      const Waiting* fills = nullptr;
      const Appetite* of = nullptr;
      for (const auto& [each, waiting] : pool_.waiting) {
        if (compute(each) <= left) return std::nullopt;
        if (compute(each) <= most || !HasRoom(*free.room, free.device, each)) continue;
        most = compute(each);
        fills = &*waiting.begin();
        of = &each;
      }
      if (fills == nullptr || !view_.MayStart(fills->work, *free.server)) return std::nullopt;
      return StartOn(free, *fills, *of);
    }

    // Nothing has room for it.
    void Wait(const Waiting& head, const Appetite& appetite) {
      const std::optional<Time> since = policy_.PassedOverSince(head.work, view_, now_);
      if (!since || Seconds(now_ - *since) <= view_.EstimateOf(head.work).longest) return;
      for (Free& free : devices_) {
        const std::optional<Reservation> wanted = ReservationOf(*free.room, free.device, appetite);
        if (free.is_kept || !wanted || !FitsBeside(free.room->device(free.device), {}, *wanted)) continue;
        free.is_kept = true;
        return;
      }
    }

    // The next of those that take the same.
    void After(const Waiting& head, const Appetite& appetite) {
      const auto group = pool_.waiting.find(appetite);
      if (group == pool_.waiting.end()) return;
      const auto next = group->second.upper_bound(head);
      if (next != group->second.end()) heads_.emplace(*next, appetite);
    }

    // It is estimated otherwise than it was.
    void Replace(const ReadyWork& work, const Appetite& before) {
      const Waiting head = policy_.placed_.at(work).waiting;
      policy_.Drop(work);
      policy_.Place(work, view_);
      After(head, before);
      const Placed& placed = policy_.placed_.at(work);
      heads_.emplace(placed.waiting, placed.appetite);
    }

    PackDevices& policy_;
    Pool& pool_;
    const View& view_;
    const Time now_;
    std::vector<Free> devices_;
    std::set<std::pair<Waiting, Appetite>> heads_;  // of each appetite the first that may find room
  };

  void Place(const ReadyWork& work, const View& view) {
    const WorkEstimate estimate = view.EstimateOf(work);
    Pool*& pool = pool_of_plan_[work.plan];
    if (pool == nullptr) pool = &pools_[view.PoolOf(work.plan)];
    const Placed placed{pool, AppetiteOf(estimate), {rule_.by_time ? estimate.longest : Seconds(0), work}};
    pool->waiting[placed.appetite].insert(placed.waiting);
    placed_.insert_or_assign(work, placed);
  }

  void Drop(const ReadyWork& work) {
    const auto known = placed_.extract(work);
    if (!known) return;
    const Placed& placed = known.mapped();
    const auto group = placed.pool->waiting.find(placed.appetite);
    group->second.erase(placed.waiting);
    if (group->second.empty()) placed.pool->waiting.erase(group);
  }

  // Once: what is there already.
  void Recall(const View& view) {
    if (std::exchange(has_recalled_, true)) return;
    for (const ReadyWork& work : view.Ready()) Place(work, view);
    for (const LabelTrial& label : view.LabelsOf(rule_.name)) {
      if (const auto passed_over = ParsePassedOver(label.text))
        passed_over_.insert_or_assign(label.trial, *passed_over);
    }
  }

  // Since when nothing had room for the work: since now, if it had so far. None: nobody waits for it.
  std::optional<Time> PassedOverSince(const ReadyWork& work, const View& view, Time now) {
    const std::optional<TrialId> trial = view.WaitingBelow(work);
    if (!trial) return std::nullopt;
    PassedOver& known = passed_over_[*trial];
    if (known.work != work) {
      known = {work, now};
      unwritten_.push_back({*trial, TextOf(known)});
    }
    return known.since;
  }

  const PackRule rule_;
  bool has_recalled_ = false;
  std::map<std::string, Pool> pools_;
  std::unordered_map<PlanId, Pool*> pool_of_plan_;
  std::map<ReadyWork, Placed> placed_;
  std::map<TrialId, PassedOver> passed_over_;  // by the first trial that waits for it; stands on it as a label
  std::vector<LabelTrial> unwritten_;
};

}  // namespace

const PackRule kHyperSack{.name = "hypersack"};
const PackRule kHyperSackFilling{.name = "hypersack_filling", .fills = true};
const PackRule kHyperSackWorstFit{.name = "hypersack_worst_fit", .by_time = false};
const PackRule kHyperSackFirstFitDecreasing{.name = "hypersack_first_fit_decreasing", .rule = PackingRule::kFirstFit};
const PackRule kHyperSackFirstFit{.name = "hypersack_first_fit", .rule = PackingRule::kFirstFit, .by_time = false};

std::unique_ptr<Policy> MakePackDevices(const PackRule& rule) { return std::make_unique<PackDevices>(rule); }

}  // namespace espalier
