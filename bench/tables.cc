// A service's tables after many trainings: how large they grow, and whether what is updated stays where it is. An
// update that changes no indexed column and finds room on its page is heap-only (HOT): it writes no index, and its old
// version is cleaned away by whoever comes to the page next, without a vacuum.
#include "base/clock.h"
#include "bench/benches.h"
#include "bench/database.h"
#include "bench/service.h"
#include "bench/stub_node.h"
#include "bench/trials.h"
#include "client/client.h"

namespace espalier::bench {
namespace {

constexpr int kTableSlots = 8;

// Trials of four plan nodes each, trained by a run each, from submission to the last promise that is kept; how many a
// second.
double TrainTrials(Client& client, StubNodes& cluster, StudyId study, std::int64_t first, std::int64_t count) {
  const Seconds begun = MonotonicNow();
  Submit(client, study, Shape::kFourNodes, first, count, 1);
  for (std::int64_t i = 0; i < count; ++i) cluster.ReportFinished(cluster.AwaitOrder(), 0.5);
  cluster.WaitUntilStored();
  return static_cast<double>(count) / (MonotonicNow() - begun).count();
}

// Of each table that is updated, how many of its updates were heap-only; of all together, bytes a trial.
void MeasureTables(Figures& figures, Database& database, std::int64_t trials) {
  const auto measure = [&](const std::string& prefix, const std::string& query, const char* to_reach) {
    for (const std::string& line : database.CopyOut(query)) {
      const std::size_t tab = line.find('\t');
      figures.Add(prefix + line.substr(0, tab), std::stod(line.substr(tab + 1)), to_reach);
    }
  };
  measure("hot_percent_of_",
          "SELECT relname, 100.0 * n_tup_hot_upd / n_tup_upd FROM pg_stat_user_tables WHERE n_tup_upd >= " +
              std::to_string(trials / 2) + " ORDER BY relname",
          ">= 90");
  const std::string each = " / " + std::to_string(trials) + " FROM pg_stat_user_tables";
  measure("", "SELECT 'table_bytes_a_trial', sum(pg_table_size(relid))" + each, "");
  measure("", "SELECT 'index_bytes_a_trial', sum(pg_indexes_size(relid))" + each, "");
  measure("", "SELECT 'dead_rows_percent', 100.0 * sum(n_dead_tup) / sum(n_live_tup) FROM pg_stat_user_tables", "");
}

}  // namespace

void RunTables(Figures& figures, Size size) {
  const std::int64_t part = size.Of(25'000, 500);
  const int parts = 10;
  const int servers = static_cast<int>(size.Of(64, 3));
  const Service service;
  StubNodes cluster(service, servers, kTableSlots);
  Client client = Need(Client::Connect(service.address()));
  const StudyId study = Need(client.CreateStudy(StubStudy("tables"))).id();
  double first = 0;
  double last = 0;
  for (int i = 0; i < parts; ++i) {
    last = TrainTrials(client, cluster, study, i * part, part);
    if (i == 0) first = last;
  }
  figures.Add("first_trials_per_second", first);
  figures.Add("last_trials_per_second", last);
  figures.Add("last_against_first", last / first, ">= 0.7");
  Database database(service.Database());
  MeasureTables(figures, database, parts * part);
}

}  // namespace espalier::bench
