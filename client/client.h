// The client library: connect to a master, create studies, wait for their evaluations.
//   espalier::Client client = espalier::Client::Connect(address).value();
//   espalier::Study study = client.CreateStudy(specification).value();
//   auto futures = study.Submit(space.Grid(), {.steps = Step{15}, .horizon = Step{120}}).value();
//   espalier::WaitAll(futures);
// Any thread may call. Once connected, calls are tried again for as long as the policy allows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/encryption.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "client/future.h"
#include "client/retry_policy.h"
#include "client/study.h"
#include "client/study_specification.h"
#include "client/views.h"

namespace espalier {

// Which of a trial's states is brought here.
struct FetchOptions {
  Step step{};          // after so many steps; 0: the last that is stored
  bool train = false;   // where it is not stored (any more), train to there once more, as a study of its own
  std::string store{};  // where the checkpoints are, as node managers' files say it; empty: as the service here has it
  std::function<void(const std::string& training)> say{};  // is told, as a sentence, that it trains; may be empty
};

class Client {
 public:
  // Address: "unix:/path" or "host:port". `token` says who calls, and is shown with every call; empty: the token that
  // `espalier up` keeps beside its socket, if there is one. Errors: kUnavailable if nobody answers within about 3 s;
  // kUnauthenticated if `token` is none; kInvalidArgument with the field of `encryption`. Whether the server knows the
  // token shows with the first call (kUnauthenticated).
  static Result<Client> Connect(const std::string& address, const std::string& token = {});
  static Result<Client> Connect(const std::string& address, const RetryPolicy& policy, const std::string& token = {},
                                const Encryption& encryption = {});

  // The specification with trainer and data as servers know them. Code of the user's own, or his data, is sent to the
  // service, if it has it not, and waited for until a server offers the trainer, or all that are connected have refused
  // it; `say` is told, as a sentence, what is waited for. Cost: code in Python is imported here once. Errors:
  // kInvalidArgument with the field, for code that cannot travel; kFailedPrecondition with each server's reason.
  Result<StudySpecification> DescribeTrainer(StudySpecification specification,
                                             const std::function<void(const std::string& waiting)>& say = {});

  // Creates a study, or attaches to the running one of the same name and content. What is not described yet is, as
  // above. Error: kInvalidArgument with the field; kAlreadyExists if a running study of that name has other content; of
  // DescribeTrainer.
  Result<Study> CreateStudy(const StudySpecification& specification);

  // A handle on a study that exists. An unknown id shows when it is used.
  Study OpenStudy(StudyId id);

  // The user's newest study of that name, else a team mate's. Errors of this and the next two: the master's.
  Result<Study> FindStudy(const std::string& name);

  // Those of the user's team, the newest first. Reads as many pages as that takes.
  Result<std::vector<StudyEntry>> ListStudies(std::size_t count_max = SIZE_MAX);

  // What these trials would cost, each as long as its horizon. No study is stored; what is not described yet is, as
  // above. Error: also kInvalidArgument, with the field; of DescribeTrainer.
  Result<ForecastView> Forecast(const StudySpecification& specification, const std::vector<TrialText>& trials,
                                const SubmitOptions& options);

  // Copies a trial's training state to a file on this machine, in the layout of safetensors
  // (docs/trainer_protocol.md), once it was read from end to end and is whole. The program `espalier-store` does so,
  // beside this process's own or on the PATH, where the store can be reached. `file` must not be there yet. Errors:
  // kNotFound with the steps whose states are stored; kInvalidArgument of `file`; kFailedPrecondition where it is not
  // known where the store is, or training to there came to nothing; kInternal with the program's words, such as that
  // the store is away.
  Result<CheckpointView> FetchCheckpoint(TrialId trial, const std::string& file, const FetchOptions& options = {});

  // For Espalier's own programs: all other calls.
  Connection& connection() { return *connection_; }

 private:
  explicit Client(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}
  std::shared_ptr<Connection> connection_;
};

// The address that `espalier up` wrote into its data directory. Error: kUnavailable if there is none.
Result<std::string> ReadServerAddress(const std::string& address_file);

}  // namespace espalier
