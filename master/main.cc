// espalier-master CONFIG_FILE: the service's head. Exit: 0 after SIGTERM, 1 when it cannot start or another master
// leads, 2 on bad usage.
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <mutex>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "base/digest.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "base/token.h"
#include "espalier/config/v1/master.pb.h"
#include "master/core/chosen_policy.h"
#include "master/loop/analyst.h"
#include "master/loop/event_loop.h"
#include "master/monitoring/service_meter.h"
#include "master/rpc/rpc_server.h"
#include "master/store/leadership.h"
#include "master/store/migrate.h"
#include "master/store/postgres_history_store.h"
#include "master/store/postgres_output_store.h"
#include "master/store/postgres_probe.h"
#include "master/store/postgres_series_store.h"
#include "master/store/postgres_server_log_store.h"
#include "master/store/postgres_state_store.h"
#include "proto/config_file.h"

namespace espalier::master {
namespace {

constexpr std::int64_t kOutputBytesDefault = std::int64_t{1} << 30;
constexpr Seconds kRetireAfterDefault = std::chrono::hours(24);

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string HostName() {
  char name[HOST_NAME_MAX + 1] = {};
  return gethostname(name, HOST_NAME_MAX) == 0 ? name : "";
}

// Each client takes one, and shells allow a program 1,024 unless it asks.
void AllowAllFiles() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

int Refuse(const Error& error, int status) {
  std::cerr << "espalier-master: " << (error.field.empty() ? "" : error.field + ": ") << error.message << "\n";
  return status;
}

// The user whose token is in the file, which is made if it is not there.
Result<User> FirstAdministrator(const std::string& token_file) {
  ESPALIER_ASSIGN(const std::string token, ReadOrMakeTokenFile(token_file));
  return User{.name = "local", .team = "local", .role = Role::kAdministrator, .token_sha256 = Sha256Hex(token)};
}

// The same of the node manager of the server `local`.
Result<User> FirstNode(const std::string& token_file) {
  ESPALIER_ASSIGN(const std::string token, ReadOrMakeTokenFile(token_file));
  return User{
      .name = "local-node", .team = {}, .role = Role::kNode, .token_sha256 = Sha256Hex(token), .servers = {"local"}};
}

// Those whose tokens the configuration names files for.
Result<std::vector<User>> FirstUsers(const config::v1::Master& config) {
  std::vector<User> users;
  if (!config.administrator_token_file().empty()) {
    ESPALIER_ASSIGN(User administrator, FirstAdministrator(config.administrator_token_file()));
    users.push_back(std::move(administrator));
  }
  if (!config.local_node_token_file().empty()) {
    ESPALIER_ASSIGN(User node, FirstNode(config.local_node_token_file()));
    users.push_back(std::move(node));
  }
  return users;
}

ListenerEncryption EncryptionOf(const config::v1::Master& config) {
  return {.certificate_file = config.certificate_file(),
          .key_file = config.key_file(),
          .client_ca_file = config.client_ca_file(),
          .plaintext = config.plaintext()};
}

// As it begins to lead.
MasterFacts FactsOf(const config::v1::Master& config, std::int64_t epoch) {
  return {.host = HostName(),
          .process = getpid(),
          .listen_address = config.listen_address(),
          .epoch = epoch,
          .leads_since = Now(),
          .checkpoint_bytes_max = config.checkpoint_bytes()};
}

// Joins the event loop, the RPC server and the analyst of curves, which know each other through narrow ports alone.
class Service : public MasterPort, public EffectRunner {
 public:
  // `meter` null: nothing is measured. It outlives the service.
  Service(StateStore& store, const SideStores& side, EventHandler handler, MasterFacts facts, ServiceMeter* meter)
      : epoch_(facts.epoch),
        meter_(meter),
        loop_(store, *this, std::move(handler)),
        rpc_(*this, side, std::move(facts)),
        analyst_([this](const CurveAnalysed& analysed) { loop_.Post(analysed); }) {}

  // Serves until Stop.
  Result<void> Run(const config::v1::Master& config) {
    ESPALIER_RETURN_IF_ERROR(rpc_.Start(config.listen_address(), EncryptionOf(config), config.reflection()));
    if (meter_ != nullptr) meter_->Watch(loop_, epoch_);
    Result<void> ended = loop_.Run();
    if (meter_ != nullptr) meter_->Forget();
    rpc_.Stop();
    return ended;
  }

  void Stop() { loop_.Stop(); }

  // The same, and nobody is answered any more, whatever the loop waits for. Blocks until no call is left.
  void Close() {
    loop_.Stop();
    rpc_.Stop();
  }

  void Post(Event event) override { loop_.Post(std::move(event)); }
  Result<void> Read(const std::function<void(const MasterState&)>& read) override { return loop_.Read(read); }
  void PostRead(std::function<void(const MasterState&)> read, std::function<void(Result<void>)> done) override {
    loop_.PostRead(std::move(read), std::move(done));
  }
  void Run(const Effect& effect) override {
    if (const auto* analyse = std::get_if<AnalyseCurve>(&effect)) return analyst_.Ask(analyse->question);
    rpc_.Carry(effect);
  }

 private:
  const std::int64_t epoch_;
  ServiceMeter* const meter_;
  EventLoop loop_;
  RpcServer rpc_;
  Analyst analyst_;
};

int Serve(const config::v1::Master& config, const ReactorSettings& settings, ServiceMeter* meter, sigset_t signals) {
  std::stop_source stop;
  Service* service = nullptr;
  std::optional<Error> lost;  // why this master leads no longer
  std::mutex mutex;           // of `service` and `lost`
  const auto stop_all = [&] {
    stop.request_stop();
    const std::lock_guard lock(mutex);
    if (service != nullptr) service->Stop();
  };
  // Ends with the function that it serves.
  const std::jthread signal_thread([&](const std::stop_token& done) {
    constexpr timespec kTurn{.tv_sec = 0, .tv_nsec = 100'000'000};
    while (!done.stop_requested()) {
      if (sigtimedwait(&signals, nullptr, &kTurn) > 0) stop_all();
    }
  });

  const auto migrated = MigrateOnceThere(config.database(), stop.get_token());
  if (!migrated.has_value()) return stop.stop_requested() ? 0 : Refuse(migrated.error(), 1);
  const auto on_lost = [&](const Error& error) {
    Log(LogLevel::kError, "leadership lost", {{"why", error.message}});
    {
      const std::lock_guard lock(mutex);
      lost = error;
    }
    stop_all();
  };
  const auto on_uncertain = [&] {
    const std::lock_guard lock(mutex);
    if (service != nullptr) service->Close();
  };
  const std::string holder = HostName() + ", process " + std::to_string(getpid());
  const auto leadership =
      Leadership::Acquire(config.database(), holder, stop.get_token(), {.lost = on_lost, .uncertain = on_uncertain});
  if (!leadership.has_value()) return stop.stop_requested() ? 0 : Refuse(leadership.error(), 1);
  // From the database each time: while it was not certain, others may have changed it.
  const auto serve = [&]() -> Result<void> {
    ESPALIER_RETURN_IF_ERROR(MigrateOnceThere(config.database(), stop.get_token(), (*leadership)->epoch()));
    PostgresStateStore store(config.database(), (*leadership)->epoch());
    PostgresOutputStore outputs(config.database(), (*leadership)->epoch(),
                                config.output_bytes() > 0 ? config.output_bytes() : kOutputBytesDefault);
    PostgresSeriesStore series(config.database(), (*leadership)->epoch());
    PostgresServerLogStore server_logs(config.database(), (*leadership)->epoch());
    PostgresHistoryStore histories(config.database(), (*leadership)->epoch());
    PostgresProbe probe(config.database(), (*leadership)->epoch());
    ChosenPolicy policy;
    const EventHandler react = [&](MasterState& state, const Event& event, Time now) {
      return React(state, event, policy.For(state, event), settings, now);
    };
    const std::unique_ptr<StateStore> measured = meter == nullptr ? nullptr : meter->Measured(store);
    Service serving(measured ? *measured : store, {outputs, series, server_logs, histories, probe},
                    meter == nullptr ? react : meter->Measured(react), FactsOf(config, (*leadership)->epoch()), meter);
    {
      const std::lock_guard lock(mutex);
      service = &serving;
      if (stop.stop_requested() || !(*leadership)->is_certain()) serving.Stop();
    }
    Result<void> ended = serving.Run(config);
    const std::lock_guard lock(mutex);
    service = nullptr;
    return ended;
  };
  while ((*leadership)->AwaitCertain(stop.get_token()) && !stop.stop_requested()) {
    const Result<void> ended = serve();
    if (!ended.has_value() && !stop.stop_requested()) return Refuse(ended.error(), 1);
  }
  const std::lock_guard lock(mutex);
  return lost.has_value() ? Refuse(*lost, 1) : 0;
}

}  // namespace
}  // namespace espalier::master

int main(int argument_count, char** arguments) {
  using namespace espalier;
  using namespace espalier::master;
  if (argument_count != 2) {
    std::cerr << "usage: espalier-master CONFIG_FILE\n";
    return 2;
  }
  sigset_t signals;  // blocked before any thread starts, so that all leave them to the one that waits for them
  sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT}) sigaddset(&signals, number);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  AllowAllFiles();

  config::v1::Master config;
  if (const auto read = ReadConfigFile(arguments[1], config); !read.has_value()) return Refuse(read.error(), 2);
  for (const auto& [value, field] :
       {std::pair(config.listen_address(), "listen_address"), std::pair(config.database(), "database")}) {
    if (const auto given = RequireText(value, field); !given.has_value()) return Refuse(given.error(), 2);
  }
  const auto armed = ArmFailpoints(Environment("ESPALIER_FAILPOINTS"), Environment("ESPALIER_FAILPOINT_MARKER"));
  if (!armed.has_value()) return Refuse(armed.error(), 2);
  SetUpLog("master");
  ReactorSettings settings;
  if (config.lease_seconds() > 0) settings.lease = Seconds(config.lease_seconds());
  if (config.checkpoint_bytes() < 0) {
    return Refuse({.code = ErrorCode::kInvalidArgument, .message = "must not be negative", .field = "checkpoint_bytes"},
                  2);
  }
  settings.checkpoint_bytes = config.checkpoint_bytes();
  if (config.hours_between_failures() > 0) {
    settings.between_failures = std::chrono::duration<double, std::ratio<3600>>(config.hours_between_failures());
  }
  if (config.retire_after_seconds() >= 0) {
    settings.retire_after =
        config.retire_after_seconds() > 0 ? Seconds(config.retire_after_seconds()) : kRetireAfterDefault;
  }
  if (const auto credentials = ListenerCredentials(config.listen_address(), EncryptionOf(config));
      !credentials.has_value()) {
    return Refuse(credentials.error(), 2);
  }
  auto users = FirstUsers(config);
  if (!users.has_value()) return Refuse(users.error(), 1);
  settings.first_users = std::move(*users);
  std::unique_ptr<ServiceMeter> meter;
  if (!config.metrics_address().empty()) {
    auto opened = ServiceMeter::Open(config.metrics_address());
    if (!opened.has_value()) return Refuse(opened.error(), 2);
    meter = *std::move(opened);
  }
  return Serve(config, settings, meter.get(), signals);
}
