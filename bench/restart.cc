// How soon a master is ready that has a large plan to load, all of it trained, and how much memory it takes: with the
// studies that trained it; and when these and many more are retired.
#include <cstdio>
#include <cstdlib>

#include "base/clock.h"
#include "bench/benches.h"
#include "bench/database.h"
#include "bench/output_of.h"
#include "bench/service.h"
#include "bench/stub_node.h"
#include "bench/trials.h"

namespace espalier::bench {
namespace {

constexpr int kTrainingServers = 64;
constexpr int kSlotsATrainingServer = 8;
constexpr std::int64_t kTrainedAtOnce = 25'000;  // trials that wait at a time

// By a program of its own, so that nothing else is in its memory.
double HeapBytesANode(std::int64_t nodes) {
  const auto bytes = OutputOf({ProgramBesideThisOne("espalier-plan-memory"), std::to_string(nodes)});
  if (!bytes) GiveUp("no memory was measured");
  return std::stod(*bytes);
}

// Each with four plan nodes of its own, a run, a state and metrics.
StudyId TrainStudy(const Service& service, std::int64_t trials) {
  StubNodes cluster(service, kTrainingServers, kSlotsATrainingServer);
  Client client = Need(Client::Connect(service.address()));
  Study study = Need(client.CreateStudy(StubStudy("restart")));
  for (std::int64_t first = 0; first < trials; first += kTrainedAtOnce) {
    const std::int64_t count = std::min(kTrainedAtOnce, trials - first);
    Submit(client, study.id(), Shape::kFourNodes, first, count, 1);
    for (std::int64_t i = 0; i < count; ++i) cluster.ReportFinished(cluster.AwaitOrder(), 0.5);
    cluster.WaitUntilStored();
  }
  Need(study.Finish());
  return study.id();
}

// As the master stores it of a study that it has long finished with.
void Retire(Database& database, const std::string& where) {
  database.Run(
      "INSERT INTO retired_study SELECT id, now(), 0, 0, (SELECT count(*) FROM trial WHERE study_id = study.id), 0, 0, "
      "80 * (SELECT count(*) FROM trial WHERE study_id = study.id), NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "
      "0, "
      "'{}', '{}' FROM study WHERE " +
      where);
}

// Studies that have asked for the same once more, and were answered at once.
void CopyStudy(Database& database, StudyId study, std::int64_t trials, int copies) {
  const std::string id = std::to_string(study.value);
  const std::string new_id = "(" + id + " + copy)";
  const std::string more = " + copy * " + std::to_string(trials);
  const std::string of_copies =
      " CROSS JOIN generate_series(1, " + std::to_string(copies) + ") AS copy WHERE study_id = " + id;
  database.Run("SET session_replication_role = replica");  // nothing is looked up for each row
  database.Run("CREATE TEMP TABLE copied AS SELECT * FROM study WHERE id = " + id);
  for (int copy = 1; copy <= copies; ++copy) {
    database.Run("UPDATE copied SET id = " + std::to_string(study.value + copy) + ", name = 'copy " +
                 std::to_string(copy) + "'");
    database.Run("INSERT INTO study SELECT * FROM copied");
  }
  database.Run(
      "INSERT INTO trial SELECT id" + more + ", " + new_id +
      ", plan_id, leaf_id, horizon_steps, closed, cancelled, sequence_names, sequence_expressions, label_policy, "
      "label FROM trial" +
      of_copies);
  database.Run("INSERT INTO claim SELECT claim.id" + more + ", trial_id" + more +
               ", plan_node_id, step, evaluation_id, state FROM claim JOIN trial ON trial.id = trial_id" + of_copies);
  database.Run("INSERT INTO study_event SELECT " + new_id + ", number, kind, trial_id" + more + ", claim_id" + more +
               ", step, claim_state, cancelled, message, metric_names, metric_values, batch_number, happened_at "
               "FROM study_event" +
               of_copies);
  database.Run("INSERT INTO request SELECT " + new_id +
               ", request_id, content, produced_ids, answered_at FROM request" + of_copies);
}

// The first page of a study that is retired, from the database.
Seconds ListRetired(const Service& service, StudyId study) {
  const Seconds begun = MonotonicNow();
  const auto listed = OutputOf({ProgramBesideThisOne("espalier"), "trial", "list", std::to_string(study.value),
                                "--limit", "20", "--server", service.address()});
  if (!listed) GiveUp("no trials were listed");
  return MonotonicNow() - begun;
}

}  // namespace

void RunRestart(Figures& figures, Size size) {
  const std::int64_t nodes = size.Of(1'000'000, 8000);
  const std::int64_t trials = nodes / 4;
  const int copies = static_cast<int>(size.Of(39, 3));
  figures.Add("heap_bytes_a_plan_node", HeapBytesANode(nodes), "<= 300");
  Service service;
  const auto memory_when_empty = static_cast<double>(service.MasterMemory());
  const StudyId study = TrainStudy(service, trials);
  service.StopMaster();
  figures.Add("ready_seconds", service.StartMaster().count(), "<= 10");
  const double grown = static_cast<double>(service.MasterMemory()) - memory_when_empty;
  figures.Add("master_bytes_a_trial_with_its_four_nodes", grown / static_cast<double>(trials));
  service.StopMaster();

  Database database(service.Database());
  CopyStudy(database, study, trials, copies);
  Retire(database, "id >= " + std::to_string(study.value));
  database.Run("UPDATE run SET retired = true");
  database.Run("ANALYZE");
  figures.Add("retired_trials", static_cast<double>(trials * (copies + 1)));
  figures.Add("ready_seconds_with_retired", service.StartMaster().count(), "<= 15");
  figures.Add("master_gigabytes_with_retired", static_cast<double>(service.MasterMemory()) / (1LL << 30), "<= 2");
  figures.Add("list_of_retired_study_seconds", ListRetired(service, StudyId{study.value + copies}).count());
}

}  // namespace espalier::bench
