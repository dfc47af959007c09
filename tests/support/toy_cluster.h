// The real master core with toy node managers around it, in one thread and without time: a node manager that trains a
// step whenever it is told to, with messages that arrive late. For tests of the laws on the core; everything is decided
// by a seed.
#pragma once

#include <deque>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "master/core/reactor.h"
#include "scheduler/policy.h"

namespace espalier::master {

// A state on its way to the store.
struct ToyUpload {
  StateStored stored;
  RunKey run;
  int turns_left = 0;
};

// One run as its toy node manager holds it.
struct ToyRun {
  Order order;
  Step at;
  std::vector<OrderedPromise> open;  // of the terms taken over, neither passed nor reported lost
};

// A server: at most one step a turn for each of its runs; states take some turns more.
struct ToyNode {
  std::string name;
  int incarnation = 1;
  int slot_count = 1;
  SessionId session;
  std::int64_t next_report = 1;
  std::map<RunId, ToyRun> runs;
  std::set<RunId> ended;
  std::vector<ToyUpload> uploads;
  std::vector<Report> unacknowledged;
  std::deque<ServerOrders> inbox;
};

// Whose studies CreateStudy makes.
inline const Caller kAnn{.user = "ann", .team = "team"};

class ToyCluster {
 public:
  explicit ToyCluster(std::uint64_t seed, int nodes = 1, int slots = 2);

  int upload_turns_max = 0;  // how long a state is on its way, at most

  MasterState state;
  std::unique_ptr<Policy> policy = MakePolicy("critical_path").value();

  // Hands an event to the core, checks the plans' invariants and that each study event is announced once and in order,
  // and delivers the effects.
  void Handle(const Event& event);

  // Ann calls, with the request id "request-NUMBER" if none is given.
  void Call(decltype(ClientCall::what) what, const std::string& request_id = {});

  StudyId CreateStudy(const std::string& name, Scope scope = Scope::kTeam);
  // Sequences by name, in the notation; returns the trial.
  TrialId Submit(StudyId study, std::map<std::string, std::string> sequences, std::int64_t steps,
                 std::int64_t horizon = 0);
  void Claim(TrialId trial, std::int64_t steps);
  void Cancel(TrialId trial);
  void Finish(StudyId study);

  // One turn of everything: messages arrive, runners train a step, reports leave. `latency`: a message arrives with the
  // probability 1 / latency each turn.
  void Turn(int latency = 1);
  // Turns until no claim waits; fails the test after too many.
  void RunToRest(int latency = 1);

  // The first run under way fails at the step that it trains.
  void FailARun(RunFailed::Kind kind, const std::string& message);
  // A worker dies in mid-run; a node manager dies and comes back as a new incarnation; the master's memory is rebuilt.
  void CrashARun();
  void RestartNode(std::size_t node);
  void RestartMaster();

  // Where every run stands, for failed tests.
  std::string Describe() const;

  std::vector<ToyNode> nodes;
  std::map<std::pair<PlanNodeId, Step>, int> trained;  // how often each step (the step reached) was trained
  std::int64_t steps_trained = 0;
  Reply last_reply;
  std::vector<std::string> log;

 private:
  void Hear(const EventsAdded& added);
  void CheckNeeds() const;
  void Connect(ToyNode& node);
  void TakeOrders(ToyNode& node, const ServerOrders& orders);
  void TakeTerms(ToyNode& node, ToyRun& run, const Order& order);
  void Lose(ToyNode& node, const ToyRun& run, const OrderedPromise& promise, const std::string& why);
  void Train(ToyNode& node);
  bool TrainStep(ToyNode& node, ToyRun& run);
  void KeepPromises(ToyNode& node, ToyRun& run);
  void Save(ToyNode& node, const ToyRun& run);
  void Upload(ToyNode& node);
  void End(ToyNode& node, RunId run);
  void Tell(ToyNode& node, RunKey run, ReportKind kind);
  void Send(ToyNode& node);
  std::uint64_t Draw(std::uint64_t below);

  StateEdit stored_;
  std::map<StudyId, std::vector<StudyEvent>> heard_;  // as announced
  std::mt19937_64 random_;
  ReactorSettings settings_;
  Time now_{std::chrono::seconds(1'000'000)};
  std::int64_t next_session_ = 1;
  std::int64_t next_request_ = 1;
};

}  // namespace espalier::master
