// A study as the fake master keeps it: the contract of Submit (all or nothing, numbered events), in memory. Nothing is
// shared between trials; "training" calls a function.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "espalier/v1/study.pb.h"

namespace espalier::testing {

using Sequences = std::map<std::string, std::string>;
using Metrics = std::map<std::string, double>;

// What training a trial to a step measures; empty: it fails.
using TrainFunction = std::function<std::optional<Metrics>(const Sequences&, std::int64_t steps)>;

struct FakeClaim {
  std::int64_t id = 0;
  std::int64_t trial_id = 0;
  std::int64_t step = 0;
  bool waiting = true;
};

struct FakeTrial {
  std::int64_t id = 0;
  Sequences sequences;
  std::int64_t horizon = 0;
  std::int64_t last_claim = 0;
  bool open = true;
  bool failed = false;
  bool cancelled = false;
  std::map<std::int64_t, Metrics> evaluations;
};

class FakeStudy {
 public:
  FakeStudy(std::int64_t id, v1::StudySpecification specification)
      : id_(id), specification_(std::move(specification)) {}

  std::int64_t id() const { return id_; }
  const v1::StudySpecification& specification() const { return specification_; }
  bool finished() const { return finished_; }
  bool cancelled() const { return cancelled_; }
  v1::Keep keep() const { return keep_.value_or(specification_.keep()); }
  const std::vector<FakeTrial>& trials() const { return trials_; }
  const std::vector<v1::StudyEvent>& events() const { return events_; }
  void HappenAgain() {
    for (v1::StudyEvent& event : events_) {
      event.mutable_happened_at()->set_seconds(event.happened_at().seconds() + 3600);
    }
  }
  // Whoever asks, by a WatchRequest or a WatchedStudy, knows no more and no other events.
  template <class Request>
  bool IsAt(const Request& request) const {
    const auto known = static_cast<std::size_t>(std::max<std::int64_t>(request.from_event(), 1) - 1);
    if (known > events_.size()) return false;
    return known == 0 || !request.has_previous_happened_at() ||
           request.previous_happened_at().seconds() == events_[known - 1].happened_at().seconds();
  }

  // As a trial's state is listed.
  std::string StateOf(const FakeTrial& trial) const;
  std::vector<FakeClaim*> WaitingClaims();

  // New ids count on from `next_id`. Leaves claims waiting.
  grpc::Status Submit(const v1::SubmitRequest& request, std::int64_t& next_id, v1::SubmitResponse& response);
  void Cancel();
  void Pin(v1::Keep keep) { keep_ = keep; }
  // Trains up to the claim and settles it.
  void Settle(FakeClaim& claim, const TrainFunction& train);
  // All that wait, in an order drawn from the seed.
  void SettleAll(const TrainFunction& train, std::uint64_t seed);
  void FinishIfDone();

 private:
  FakeTrial* Find(std::int64_t trial_id);
  grpc::Status CheckOpen(std::int64_t trial_id, const std::string& field);
  grpc::Status Check(const v1::SubmitRequest& request);
  void Apply(const v1::SubmitRequest& request, std::int64_t& next_id, v1::SubmitResponse& response);
  std::int64_t AddClaim(FakeTrial& trial, std::int64_t step, std::int64_t& next_id);
  void Close(FakeTrial& trial, bool cancel);
  v1::ClaimSettled& AddSettled(FakeClaim& claim, v1::ClaimSettled::State state);
  v1::StudyEvent& AddEvent();

  std::int64_t id_ = 0;
  v1::StudySpecification specification_;
  bool closing_ = false;  // its finish was asked for
  bool finished_ = false;
  bool cancelled_ = false;
  std::optional<v1::Keep> keep_;  // since it was pinned
  std::vector<FakeTrial> trials_;
  std::vector<FakeClaim> claims_;
  std::vector<v1::StudyEvent> events_;
  std::map<std::string, std::pair<std::string, v1::SubmitResponse>> answers_;  // by request id: content, first answer
};

// A status with the field at fault, as the real master gives it.
grpc::Status Refuse(grpc::StatusCode code, const std::string& message, const std::string& field = {});

}  // namespace espalier::testing
