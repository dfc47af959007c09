// The users of a simulation: studies whose trials come at random times, with sequences that share and part; some are
// asked for more later, some closed, some cancelled. Calls and answers may be lost: every call is repeated, with its
// request id, until it is answered. One thread.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "master/core/effect.h"
#include "master/core/event.h"
#include "master/core/state/master_state.h"
#include "sim/world.h"

namespace espalier::sim {

struct UserSettings {
  int trial_count = 36;
  Seconds arrivals_until{1500};  // of trials
  Seconds finish_from{1700};     // studies are finished no earlier
  int study_count_min = 3;
  int study_count_max = 4;
  bool mishaps = true;  // values are tried at which training diverges, raises, crashes or is finished
};

class Users {
 public:
  // `post` hands a call to the master, or loses it.
  Users(World& world, UserSettings settings, std::function<void(master::ClientCall)> post);

  // What is to be done is put on the clock.
  void Begin();
  void OnReply(const master::Reply& reply);

  // As administrators: takes a server out of service for so long.
  void Drain(const std::string& server, Seconds time);
  // Their team may use no more device time, or keep few bytes, for so long.
  void BeLimitedFor(Seconds time);
  // As an operator, who looks at what is stored: retries stages that are held.
  void Look(const master::MasterState& stored);

  // Every call was answered, and every study was told to finish.
  bool AreDone() const;
  // So many calls wait for their answers.
  std::size_t waiting_count() const;

 private:
  using Answered = decltype(master::Reply::answer);
  struct Request {
    std::string id;
    decltype(master::ClientCall::what) what;
    std::function<void(const Answered&)> then;
    std::optional<Answered> answer;
    bool may_be_refused = false;  // what it is about may be gone, or not there yet
  };
  struct UsersStudy {
    std::string name;
    Scope scope = Scope::kTeam;
    StudyId id;
    int lives = 0;  // of trials that are not over
    bool is_finished = false;
  };

  void Ask(std::string request_id, decltype(master::ClientCall::what) what, std::function<void(const Answered&)> then);
  void AskWhatMayBeRefused(decltype(master::ClientCall::what) what, std::function<void(const Answered&)> then);
  void Try(std::size_t request);
  void Take(std::size_t request, const Answered& answer);
  void CreateStudy(std::size_t study, int trial_count);
  void SubmitTrials(std::size_t study, int count);
  void LiveOn(std::size_t study, TrialId trial, Step claimed, Step horizon);
  void Submit(std::size_t study, master::SubmitBatch batch, std::function<void(const master::Submitted&)> then);
  void EndLife(std::size_t study);
  master::NewTrial DrawTrial();
  std::string DrawSequence();

  World& world_;
  const UserSettings settings_;
  const std::function<void(master::ClientCall)> post_;
  std::deque<Request> requests_;
  std::map<master::CallId, std::size_t> calls_;
  std::int64_t next_call_ = 1;
  std::int64_t next_request_id_ = 1;
  std::int64_t next_care_ = 1;
  std::vector<UsersStudy> studies_;
  std::set<PlanNodeId> retried_;  // nodes whose retry is not answered yet
};

}  // namespace espalier::sim
