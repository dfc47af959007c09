// How fast trials are taken, while all slots of many servers train: in batches against a bare COPY of the same rows,
// and one by one.
#include <optional>

#include "bench/benches.h"
#include "bench/copy_rate.h"
#include "bench/service.h"
#include "bench/stub_node.h"
#include "bench/trials.h"

namespace espalier::bench {
namespace {

constexpr int kSubmitSlots = 8;
constexpr char kCopy[] = "copied";
constexpr char kBare[] = "bare";

// Trials already there, as names of figures say it.
std::string Stored(std::int64_t count) {
  if (count >= 1'000'000) return std::to_string(count / 1'000'000) + "m_stored";
  return count >= 1000 ? std::to_string(count / 1000) + "k_stored" : std::to_string(count) + "_stored";
}

// A service with one study, and how many trials it has.
struct Bench {
  Bench(Figures& all, int servers) : figures(all), server_count(servers) { Connect(); }

  void Connect() {
    cluster.emplace(service, server_count, kSubmitSlots);
    client.emplace(Need(Client::Connect(service.address())));
    study = Need(client->CreateStudy(StubStudy("submit"))).id();
  }
  void Disconnect() {
    client.reset();
    cluster.reset();
    service.StopMaster();
  }

  void FillUpTo(std::int64_t wanted) {
    if (wanted > count) Submit(*client, study, Shape::kOneNode, count, wanted - count);
    count = std::max(count, wanted);
  }

  // Batches by the service, then the same rows by COPY into a database that holds what the service's did before. As
  // many batches go before, unmeasured, on both sides: copying the database made a checkpoint, after which PostgreSQL
  // logs each page whole that it touches.
  void MeasureBatches(Shape shape, const std::string& name, std::int64_t batches) {
    Disconnect();
    CopyDatabase(service.Database("postgres"), "espalier", kCopy);
    service.StartMaster();
    Connect();
    const std::int64_t before = count;
    Submit(*client, study, shape, count, batches * kBatchSize);
    const Seconds submitting = Submit(*client, study, shape, count + batches * kBatchSize, batches * kBatchSize);
    count += 2 * batches * kBatchSize;
    const NewestRows rows(service.Database(), before, 2 * batches);
    rows.CopyInto(service.Database(kCopy), 0, batches);
    const Seconds copying = rows.CopyInto(service.Database(kCopy), batches, 2 * batches);
    DropDatabase(service.Database("postgres"), kCopy);
    const auto trials = static_cast<double>(batches * kBatchSize);
    figures.Add("batch_" + name + "_trials_per_second", trials / submitting.count());
    figures.Add("copy_" + name + "_trials_per_second", trials / copying.count());
    figures.Add("batch_against_copy_" + name, copying / submitting, ">= 0.5");
  }

  // In turns with bare insertions, which tell the machine's good moments from its bad ones.
  void MeasureSingles(BareInserts& bare, std::int64_t calls) {
    constexpr std::int64_t kTurns = 10;
    std::vector<double> milliseconds;
    std::vector<double> bare_milliseconds;
    const std::string stored = Stored(count);
    for (std::int64_t turn = 0; turn < kTurns; ++turn) {
      for (std::int64_t i = 0; i < calls / kTurns; ++i) {
        milliseconds.push_back(SubmitOne(*client, study, Shape::kOneNode, count++).count() * 1000);
      }
      for (std::int64_t i = 0; i < calls / kTurns; ++i) bare_milliseconds.push_back(bare.Insert().count() * 1000);
    }
    figures.Add("single_p50_ms_" + stored, Median(milliseconds), "<= 1");
    figures.Add("single_p99_ms_" + stored, Percentile99(milliseconds));
    figures.Add("bare_insert_p50_ms_" + stored, Median(bare_milliseconds));
  }

  Figures& figures;
  const int server_count;
  Service service;
  std::optional<StubNodes> cluster;
  std::optional<Client> client;
  StudyId study;
  std::int64_t count = 0;
};

}  // namespace

void RunSubmit(Figures& figures, Size size) {
  const std::int64_t batches = size.Of(30, 2);
  const std::int64_t full = size.Of(1'000'000, 4000);
  const int servers = static_cast<int>(size.Of(64, 3));
  Bench bench(figures, servers);
  CopyDatabase(bench.service.Database("postgres"), "template0", kBare);
  BareInserts bare(bench.service.Database(kBare));
  for (const std::int64_t stored : {std::int64_t{0}, size.Of(10'000, 1000), size.Of(100'000, 2000)}) {
    bench.FillUpTo(stored);
    bench.MeasureSingles(bare, size.Of(1000, 20));
  }
  Bench empty(figures, servers);
  empty.FillUpTo(1);  // what all trials refer to
  empty.MeasureBatches(Shape::kFourNodes, "four_nodes_0_stored", batches);
  empty.MeasureBatches(Shape::kOneNode, "one_node_0_stored", batches);
  bench.FillUpTo(full);
  bench.MeasureBatches(Shape::kFourNodes, "four_nodes_" + Stored(full), batches);
  bench.MeasureBatches(Shape::kOneNode, "one_node_" + Stored(full), batches);
}

}  // namespace espalier::bench
