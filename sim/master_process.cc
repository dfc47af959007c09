#include "sim/master_process.h"

#include <algorithm>
#include <utility>

namespace espalier::sim {
namespace {

constexpr Seconds kTickEvery{0.5};
constexpr Seconds kPauseMin{2};
constexpr Seconds kLoadRetry{0.5};

void Stamp(master::Event& event, Moment now) {
  std::visit(
      [&](auto& each) {
        if constexpr (requires { each.arrived; }) each.arrived = now;
      },
      event);
}

// The store of a master that never loads again.
class Forgetful : public master::StateStore {
 public:
  explicit Forgetful(master::MasterState first) : first_(std::move(first)) {}
  Result<master::MasterState> Load() override {
    master::MasterState state = first_;
    state.leadership = LeadershipId{1};
    return state;
  }
  Result<void> Commit(const master::StateEdit&) override { return {}; }

 private:
  const master::MasterState first_;
};

Error Unavailable(const std::string& message) { return {ErrorCode::kUnavailable, message, {}}; }

}  // namespace

MasterProcess::MasterProcess(World& world, Watcher watcher, const Settings& settings)
    : world_(world),
      watcher_(std::move(watcher)),
      starts_again_(settings.starts_again),
      policy_(world.chance),
      settings_{.between_failures = settings.between_failures,
                .checkpoint_bytes = settings.checkpoint_bytes,
                .save_every_steps = settings.save_every_steps,
                .retire_after = settings.retire_after} {
  database_->log.push_back(master::SetPolicy{{.name = settings.first_policy, .by = "simulation"}});
  Apply(database_->stored, database_->log.back());
}

void MasterProcess::Later(Seconds delay, std::function<void()> what) {
  world_.clock.After(delay, [this, life = life_, what = std::move(what)] {
    if (life != life_) return;
    if (!IsFrozen()) return what();
    Later(frozen_until_ - world_.clock.now(), what);
  });
}

void MasterProcess::Start() {
  ++database_->epoch;
  if (starts_again_) {
    store_ = std::make_unique<master::MemoryStateStore>(database_);
  } else {
    store_ = std::make_unique<Forgetful>(database_->stored);
  }
  life_ = ++lives_;
  group_.emplace(master::GroupCommitSettings{});
  frozen_until_ = busy_until_ = Seconds(0);
  world_.Tell([&] { return "master starts, leadership " + std::to_string(database_->epoch); });
  Later(world_.chance.About(world_.durations.commit), [this] { Load(); });
}

void MasterProcess::Kill() {
  world_.Tell([] { return std::string("master killed"); });
  if (under_way_ && world_.chance.OneIn(2) && store_->Commit(under_way_->edit)) watcher_.stored(under_way_->edit);
  life_.reset();
  is_loaded_ = false;
  under_way_.reset();
  state_ = {};
  open_calls_ = {};
  queue_.clear();
}

void MasterProcess::FreezeFor(Seconds time) {
  frozen_until_ = std::max(frozen_until_, world_.clock.now() + time);
  world_.Tell([] { return std::string("master frozen"); });
}

void MasterProcess::StallFor(Seconds time) {
  busy_until_ = std::max(busy_until_, world_.clock.now() + time);
  Later(time, [this] { Pump(); });
}

void MasterProcess::Load() {
  Result<master::MasterState> loaded =
      world_.clock.now() < away_until_ ? tl::unexpected<Error>(Unavailable("away")) : store_->Load();
  if (!loaded) {
    DropAll(loaded.error());
    return Later(kLoadRetry, [this] { Load(); });
  }
  state_ = *std::move(loaded);
  is_loaded_ = true;
  world_.Tell([] { return std::string("master has loaded"); });
  watcher_.loaded(state_);
  const Moment now = world_.clock.moment();
  Handle(master::Recovered{now});
  next_tick_ = now + kTickEvery;
  Later(kTickEvery, [this] { Tick(); });
  Pump();
}

void MasterProcess::Post(master::Event event) {
  if (!runs()) return;
  if (!IsFrozen()) return Arrive(std::move(event));
  Later(Seconds(0), [this, event = std::move(event)] { Arrive(event); });
}

void MasterProcess::Arrive(master::Event event) {
  Stamp(event, world_.clock.moment());
  open_calls_.Note(event);
  queue_.push_back(std::move(event));
  if (!is_loaded_) return DropAll(Unavailable("the database is away"));
  Pump();
}

// Behind all that was posted before.
void MasterProcess::Tick() {
  if (!is_loaded_) return;
  if (world_.clock.now() < busy_until_) return Later(busy_until_ - world_.clock.now(), [this] { Tick(); });
  const Moment now = world_.clock.moment();
  queue_.emplace_back(
      master::Tick{.arrived = now, .heard_until = next_tick_ - kTickEvery, .paused = now - next_tick_ > kPauseMin});
  next_tick_ = now + kTickEvery;
  Later(kTickEvery, [this] { Tick(); });
  Pump();
}

void MasterProcess::Pump() {
  if (!is_loaded_ || world_.clock.now() < busy_until_) return;
  StartCommitIfDue();
  while (!queue_.empty() && group_->MayHandle(false)) {
    const master::Event event = std::move(queue_.front());
    queue_.pop_front();
    Handle(event);
    StartCommitIfDue();
  }
}

void MasterProcess::Handle(const master::Event& event) {
  // Two decisions never fall on one microsecond.
  last_handled_ = std::max(last_handled_ + Time::duration(1), world_.clock.time());
  master::Transition transition = React(state_, event, policy_.For(state_, event), settings_, last_handled_);
  watcher_.decided(event, transition, state_);
  group_->Handled(std::move(transition), world_.clock.moment());
}

void MasterProcess::StartCommitIfDue() {
  const std::optional<Moment> time = group_->CommitTime(false);
  if (!time) return;
  if (*time > world_.clock.moment()) {
    return Later(*time - world_.clock.moment() + Seconds(1e-6), [this] { Pump(); });
  }
  under_way_ = group_->Start();
  const bool is_stored = std::any_of(under_way_->edit.begin(), under_way_->edit.end(), master::IsStored);
  Later(is_stored ? world_.chance.About(world_.durations.commit) : Seconds(0), [this] { EndCommit(); });
}

void MasterProcess::EndCommit() {
  const master::Batch batch = *std::exchange(under_way_, std::nullopt);
  Result<void> committed = tl::unexpected<Error>(Unavailable("the database went away"));
  const bool is_away = world_.clock.now() < away_until_;
  // Of what was on its way when the database went, nobody knows.
  if (!is_away || world_.chance.OneIn(2)) {
    const Result<void> stored = store_->Commit(batch.edit);
    if (stored) watcher_.stored(batch.edit);
    if (!is_away) committed = stored;
  }
  if (committed) {
    for (const master::Release& release : batch.releases) Release(std::get<master::Effect>(release));
    group_->Committed();
    return Pump();
  }
  if (!is_away) world_.Broken("what the master decides fits what is stored: " + committed.error().message);
  group_->Failed();
  is_loaded_ = false;
  state_ = {};
  DropAll(committed.error());
  Later(kLoadRetry, [this] { Load(); });
}

void MasterProcess::Release(const master::Effect& effect) {
  open_calls_.Note(effect);
  watcher_.released(effect);
}

void MasterProcess::DropAll(const Error& why) {
  queue_.clear();
  for (const master::Effect& effect : open_calls_.Drop(why)) watcher_.released(effect);
}

}  // namespace espalier::sim
