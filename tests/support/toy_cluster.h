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

// One run as its toy node manager holds it.
struct ToyRun {
  DesiredRun desired;
  Step at;
  bool training = true;
  std::vector<Target> open;  // of all generations, not reported yet
};

// A server: at most one step a turn for each of its runs.
struct ToyNode {
  std::string name;
  int incarnation = 1;
  int slot_count = 1;
  SessionId session;
  std::int64_t next_report = 1;
  std::map<RunId, ToyRun> runs;
  std::map<RunId, std::int64_t> ended;  // the last generation each was told
  std::vector<Report> unacknowledged;
  std::deque<SendDesired> inbox;
};

// Whose studies CreateStudy makes.
inline const Caller kAnn{.user = "ann", .team = "team"};

class ToyCluster {
 public:
  explicit ToyCluster(std::uint64_t seed, int nodes = 1, int slots = 2);

  MasterState state;

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
  void Connect(ToyNode& node);
  void TakeDesired(ToyNode& node, const SendDesired& desired);
  void Begin(ToyNode& node, const DesiredRun& run);
  void TakeGeneration(ToyNode& node, ToyRun& run, const DesiredRun& desired);
  void LoseTarget(ToyNode& node, const DesiredRun& run, Step step, const std::string& why);
  void Train(ToyNode& node);
  void TrainStep(ToyNode& node, ToyRun& run);
  void ReachTargets(ToyNode& node, ToyRun& run);
  void Stop(ToyNode& node, ToyRun& run);
  void Report(ToyNode& node, RunId run, decltype(master::Report::kind) kind);
  void Send(ToyNode& node);
  std::uint64_t Draw(std::uint64_t below);

  std::map<StudyId, std::vector<StudyEvent>> heard_;  // as announced
  std::mt19937_64 random_;
  std::unique_ptr<Policy> policy_;
  ReactorSettings settings_;
  Time now_{std::chrono::seconds(1'000'000)};
  std::int64_t next_session_ = 1;
  std::int64_t next_request_ = 1;
};

}  // namespace espalier::master
