#include "master/store/leadership.h"

#include <chrono>
#include <optional>
#include <random>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "master/store/connection.h"
#include "master/store/pause.h"
#include "master/store/pq_errors.h"

namespace espalier::master {
namespace {

constexpr std::chrono::milliseconds kRenewEvery{1000};
constexpr std::chrono::milliseconds kLookEvery{200};
constexpr std::chrono::milliseconds kWatchEvery{100};
constexpr Seconds kCertainFor{2.5};

struct Standing {
  std::int64_t epoch = 0;
  std::string holder;
  bool fresh = false;      // renewed within three seconds
  bool connected = false;  // has a connection to this database
};

std::int64_t RandomLeadershipId() {
  std::random_device device;
  return std::uniform_int_distribution<std::int64_t>(1, std::int64_t{1} << 62)(device);
}

}  // namespace

// A connection to the row, which is there in a schema of any version. Every function is one transaction and throws as
// pqxx does.
class Leadership::Row {
 public:
  Row(const std::string& url, std::optional<std::int64_t> epoch) : connection_(url, epoch, "leadership/") {}

  Standing Look() {
    pqxx::work transaction(connection_.get());
    Query(transaction, "leadership/first");
    const pqxx::row row = Query(transaction, "leadership/show").front();
    transaction.commit();
    return {row["epoch"].as<std::int64_t>(), row["holder"].as<std::string>(), row["fresh"].as<bool>(),
            row["connected"].as<bool>()};
  }

  // The new epoch; none when another master was faster. The old holder's transactions end before it returns.
  std::optional<std::int64_t> TakeOver(std::int64_t epoch, const std::string& holder) {
    {
      pqxx::work transaction(connection_.get());
      Query(transaction, "leadership/end_holder", epoch);
      transaction.commit();
    }
    pqxx::work transaction(connection_.get());
    const pqxx::result rows = Query(transaction, "leadership/take", epoch, holder, RandomLeadershipId());
    if (rows.empty()) return std::nullopt;
    const auto taken = rows.front()["epoch"].as<std::int64_t>();
    // Before the commit, so that nobody ever sees the new epoch without a connection.
    transaction.exec("SET application_name = 'espalier-master epoch " + std::to_string(taken) + "'");
    transaction.commit();
    return taken;
  }

  // False: the epoch is not the database's any more.
  bool Renew(std::int64_t epoch) {
    pqxx::work transaction(connection_.get());
    const bool leads = Query(transaction, "leadership/renew", epoch).affected_rows() == 1;
    transaction.commit();
    return leads;
  }

 private:
  Connection connection_;
};

Result<std::unique_ptr<Leadership>> Leadership::Acquire(const std::string& database_url, const std::string& holder,
                                                        const std::stop_token& stop, Listener listener) {
  std::unique_ptr<Row> row;  // null: the database is away
  std::string said;          // why it waits
  const auto say = [&](LogLevel level, const std::string& text, const std::string& field, const std::string& value) {
    if (std::exchange(said, text) != text) Log(level, text, {{field, value}});
  };
  // The new epoch; none while another leads.
  const auto try_once = [&]() -> Result<std::optional<std::int64_t>> {
    if (row == nullptr) row = std::make_unique<Row>(database_url, std::nullopt);
    const Standing standing = row->Look();
    if (!standing.fresh || !standing.connected) return row->TakeOver(standing.epoch, holder);
    say(LogLevel::kInfo, "waiting while another master leads", "holder", standing.holder);
    return std::nullopt;
  };
  while (!stop.stop_requested()) {
    const Seconds sent = BootTimeNow();
    const auto epoch = WithDatabaseErrors(try_once);
    if (epoch.has_value() && *epoch) {
      Log(LogLevel::kInfo, "leading", {{"epoch", **epoch}, {"holder", holder}});
      return std::unique_ptr<Leadership>(
          new Leadership(database_url, **epoch, sent, std::move(row), std::move(listener)));
    }
    if (!epoch.has_value()) {
      if (epoch.error().code != ErrorCode::kUnavailable) return tl::unexpected(epoch.error());
      say(LogLevel::kWarning, "waiting for the database", "why", epoch.error().message);
      row.reset();
    }
    PauseFor(kLookEvery, stop);
  }
  return MakeError(ErrorCode::kAborted, "stopped before it led");
}

Leadership::Leadership(std::string database_url, std::int64_t epoch, Seconds sent, std::unique_ptr<Row> row,
                       Listener listener)
    : url_(std::move(database_url)),
      epoch_(epoch),
      row_(std::move(row)),
      listener_(std::move(listener)),
      certain_until_(sent + kCertainFor),
      renewals_([this](const std::stop_token& stop) { RenewUntilStopped(stop); }),
      watch_([this](const std::stop_token& stop) { WatchUntilStopped(stop); }) {}

Leadership::~Leadership() = default;  // the threads are asked to stop and joined first: they are the last members

bool Leadership::is_certain() {
  const std::lock_guard lock(mutex_);
  return is_certain_ && !is_lost_;
}

bool Leadership::AwaitCertain(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, stop, [&] { return is_certain_ || is_lost_; });
  return is_certain_ && !is_lost_;
}

void Leadership::RenewUntilStopped(const std::stop_token& stop) {
  bool away = false;
  while (!stop.stop_requested()) {
    const Seconds sent = BootTimeNow();
    const Result<bool> renewed = WithDatabaseErrors([&]() -> Result<bool> {
      if (row_ == nullptr) row_ = std::make_unique<Row>(url_, epoch_);
      return row_->Renew(epoch_);
    });
    if (renewed.has_value() && !*renewed) {
      listener_.lost(
          {ErrorCode::kFailedPrecondition, "another master has taken over from epoch " + std::to_string(epoch_), {}});
    }
    if (renewed.has_value()) {
      const std::lock_guard lock(mutex_);
      is_lost_ = !*renewed;
      if (*renewed) certain_until_ = sent + kCertainFor;
      if (*renewed && BootTimeNow() < certain_until_) is_certain_ = true;
      changed_.notify_all();
      if (is_lost_) return;
    }
    // While the database is away nobody else can lead either: the row is renewed when it is back, if it is still ours.
    if (!renewed.has_value() && !away)
      Log(LogLevel::kWarning, "cannot renew leadership", {{"why", renewed.error().message}});
    away = !renewed.has_value();
    if (away) row_.reset();
    PauseFor(kRenewEvery, stop);
  }
}

void Leadership::WatchUntilStopped(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    bool ends = false;
    {
      const std::lock_guard lock(mutex_);
      ends = is_certain_ && !is_lost_ && BootTimeNow() >= certain_until_;
      if (ends) is_certain_ = false;
    }
    if (ends) {
      Log(LogLevel::kWarning, "who leads is not certain any more: no renewal has come through lately");
      if (listener_.uncertain) listener_.uncertain();
    }
    PauseFor(kWatchEvery, stop);
  }
}

}  // namespace espalier::master
