// A master in memory, for tests of clients: it keeps the contract of StudyService and InspectService (request ids,
// numbered events, all or nothing), shares nothing between trials, and "trains" by calling a function.
// It can answer late, break streams, stop and serve again. Any thread may call.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "espalier/v1/inspect.pb.h"
#include "espalier/v1/study.pb.h"
#include "tests/support/fake_study.h"

namespace espalier::testing {

struct FakeMasterOptions {
  std::string socket_path;  // not empty
  TrainFunction train;
  std::vector<v1::TrainerDescription> trainers;
  // Claims are settled as they are submitted, in an order drawn from this seed; empty: only by Settle.
  std::optional<std::uint64_t> settle_seed = 1;
  // What every stage is, and what retrying one does; without a state there is no stage.
  v1::ExplainStageResponse stage{};
  v1::RetryStageResponse retried{};
  // Each stream breaks after so many events; 0: never.
  int events_per_stream = 0;
  // What GetTrainer answers, one after the other; the last for ever.
  std::vector<v1::GetTrainerResponse> described{};
};

class FakeMaster {
 public:
  explicit FakeMaster(FakeMasterOptions options);  // serves at once
  ~FakeMaster();

  std::string address() const;

  // Stops answering, as a killed master does; what it holds stays for the next Serve.
  void Stop();
  void Serve();

  // `count` mutations answer UNAVAILABLE, before they are done or after: the next ones, or those behind `spared` more.
  enum class Fault { kBefore, kAfter };
  void FailNext(int count, Fault fault, int spared = 0);

  // While it lives nobody is answered.
  std::unique_lock<std::mutex> Freeze();

  // Settles the n-th waiting claim (modulo their number). False: none waits.
  bool Settle(std::size_t n);

  // Breaks every stream of several studies' events that is open.
  void BreakStreams();

  // As after a restore of the database: every event of the study has happened again, an hour later.
  void HappenAgain(std::int64_t study);

  // Blocks until so many claims wait.
  void WaitForWaitingClaims(std::size_t count);

  // Every Submit that arrived, repetitions too, in order.
  std::vector<v1::SubmitRequest> submissions() const;
  // Every RetryStage that arrived.
  std::vector<v1::RetryStageRequest> retries() const;
  // Every ContinueTrial that arrived.
  std::vector<v1::ContinueTrialRequest> continuations() const;
  // Every CreateStudy that arrived.
  std::vector<v1::CreateStudyRequest> creations() const;
  // How many streams of several studies' events were opened; how many watches they began.
  int studies_streams() const;
  int watches_begun() const;
  // Every DescribeTrainer that arrived. A reference is answered once its archive was put.
  std::vector<v1::TrainerReference> references() const;
  // Every archive that was put.
  std::vector<std::string> archives() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace espalier::testing
