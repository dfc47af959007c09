#include "master/store/leadership.h"

#include <chrono>
#include <optional>
#include <random>

#include "base/log.h"
#include "master/store/connection.h"
#include "master/store/pq_errors.h"

namespace espalier::master {
namespace {

constexpr std::chrono::milliseconds kRenewEvery{1000};
constexpr std::chrono::milliseconds kLookEvery{200};

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

// A connection to the row. Every function is one transaction and throws as pqxx does.
class Leadership::Row {
 public:
  Row(const std::string& url, std::optional<std::int64_t> epoch) : connection_(url, epoch) {}

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
                                                        std::stop_token stop, std::function<void(const Error&)> lost) {
  std::mutex mutex;
  std::condition_variable_any pause;
  return WithDatabaseErrors([&]() -> Result<std::unique_ptr<Leadership>> {
    auto row = std::make_unique<Row>(database_url, std::nullopt);
    bool told = false;
    while (!stop.stop_requested()) {
      const Standing standing = row->Look();
      if (!standing.fresh || !standing.connected) {
        const auto epoch = row->TakeOver(standing.epoch, holder);
        if (epoch) {
          Log(LogLevel::kInfo, "leading", {{"epoch", *epoch}, {"holder", holder}});
          return std::unique_ptr<Leadership>(new Leadership(database_url, *epoch, std::move(row), std::move(lost)));
        }
        continue;
      }
      if (!told) Log(LogLevel::kInfo, "waiting while another master leads", {{"holder", standing.holder}});
      told = true;
      std::unique_lock lock(mutex);
      pause.wait_for(lock, stop, kLookEvery, [] { return false; });
    }
    return MakeError(ErrorCode::kAborted, "stopped while another master leads");
  });
}

Leadership::Leadership(std::string database_url, std::int64_t epoch, std::unique_ptr<Row> row,
                       std::function<void(const Error&)> lost)
    : url_(std::move(database_url)),
      epoch_(epoch),
      row_(std::move(row)),
      lost_(std::move(lost)),
      thread_([this](std::stop_token stop) { RenewUntilStopped(stop); }) {}

Leadership::~Leadership() = default;  // the thread is asked to stop and joined first: it is the last member

void Leadership::RenewUntilStopped(std::stop_token stop) {
  bool away = false;
  while (!stop.stop_requested()) {
    const Result<bool> renewed = WithDatabaseErrors([&]() -> Result<bool> {
      if (row_ == nullptr) row_ = std::make_unique<Row>(url_, epoch_);
      return row_->Renew(epoch_);
    });
    if (renewed.has_value() && !*renewed) {
      lost_({ErrorCode::kFailedPrecondition, "another master has taken over from epoch " + std::to_string(epoch_), {}});
      return;
    }
    // While the database is away nobody else can lead either: the row is renewed when it is back, if it is still ours.
    if (!renewed.has_value() && !away)
      Log(LogLevel::kWarning, "cannot renew leadership", {{"why", renewed.error().message}});
    away = !renewed.has_value();
    if (away) row_.reset();
    std::unique_lock lock(mutex_);
    stopped_.wait_for(lock, stop, kRenewEvery, [] { return false; });
  }
}

}  // namespace espalier::master
