// The client library: connect to a master, create studies, wait for their evaluations.
//   espalier::Client client = espalier::Client::Connect(address).value();
//   espalier::Study study = client.CreateStudy(specification).value();
//   auto futures = study.Submit(space.Grid(), {.steps = Step{15}, .horizon = Step{120}}).value();
//   espalier::WaitAll(futures);
// Any thread may call. Once connected, calls are tried again for as long as the policy allows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "client/future.h"
#include "client/retry_policy.h"
#include "client/study.h"
#include "client/study_specification.h"
#include "client/views.h"

namespace espalier {

class Client {
 public:
  // Address: "unix:/path" or "host:port". `token` says who calls, and is shown with every call; empty: the token that
  // `espalier up` keeps beside its socket, if there is one. Errors: kUnavailable if nobody answers within about 3 s;
  // kUnauthenticated if `token` is none. Whether the server knows it shows with the first call (kUnauthenticated).
  static Result<Client> Connect(const std::string& address, const std::string& token = {});
  static Result<Client> Connect(const std::string& address, const RetryPolicy& policy, const std::string& token = {});

  // Creates a study, or attaches to the running one of the same name and content. Error: kInvalidArgument with the
  // field; kAlreadyExists if a running study of that name has other content.
  Result<Study> CreateStudy(const StudySpecification& specification);

  // A handle on a study that exists. An unknown id shows when it is used.
  Study OpenStudy(StudyId id);

  // The user's newest study of that name, else a team mate's. Errors of this and the next two: the master's.
  Result<Study> FindStudy(const std::string& name);

  // Those of the user's team, the newest first. Reads as many pages as that takes.
  Result<std::vector<StudyEntry>> ListStudies(std::size_t count_max = SIZE_MAX);

  // What these trials would cost, each as long as its horizon. Nothing is stored. Error: also kInvalidArgument, with
  // the field.
  Result<ForecastView> Forecast(const StudySpecification& specification, const std::vector<TrialText>& trials,
                                const SubmitOptions& options);

  // For Espalier's own programs: all other calls.
  Connection& connection() { return *connection_; }

 private:
  explicit Client(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}
  std::shared_ptr<Connection> connection_;
};

// The address that `espalier up` wrote into its data directory. Error: kUnavailable if there is none.
Result<std::string> ReadServerAddress(const std::string& address_file);

}  // namespace espalier
