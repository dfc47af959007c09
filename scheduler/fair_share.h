// Who is due: slots are shared between teams, and what a team has between its studies, each by weight (design section
// 5). Kept up to date by what studies want and runs hold; nothing of it is stored.
//
// A run counts in equal parts for the studies that it serves, as it is charged to them; one that makes room, for the
// study that it makes room for. Nothing is ever idle for fairness' sake: who is not due is only asked later.
//
// A value. Not thread-safe; owned by the event loop.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "scheduler/fair_queue.h"

namespace espalier {

// Microseconds in equal parts, or millionths of a slot; the remainder to the oldest. Empty: no studies.
std::map<StudyId, std::int64_t> InEqualParts(std::int64_t whole, const std::vector<StudyId>& studies);

class FairShare {
 public:
  // What time it is; it never goes back. O(1), and the first time O(parties).
  void SetTime(Time now);
  // Brings the orders up to date. O(teams and studies that hold something, x log). Once or twice a second will do.
  void Advance();

  // O(log), all of them. A study that was not added, or is finished and holds nothing, has no part in anything.
  void AddStudy(StudyId study, const std::string& team, double weight);
  void FinishStudy(StudyId study);  // it may still hold something
  void SetTeamWeight(const std::string& team, double weight);
  void SetStudyWeight(StudyId study, double weight);
  // Whether there is something that could be started for it.
  void Want(StudyId study, bool wants);

  // The run holds so many slots, for these studies alone. O(studies of the run x log).
  void Hold(RunId run, int slots, const std::vector<StudyId>& studies);
  // The run, which holds something, will free its slots: they count for this study from now on, until Release.
  void HoldFor(RunId run, StudyId study);
  void Release(RunId run);

  const FairQueue<std::string>& teams() const { return teams_; }
  const FairQueue<StudyId>& studies_of(const std::string& team) const { return studies_.at(team); }
  double now() const { return now_; }

  // Runs that hold something for the study, those that make room for others left out; the newest last.
  const std::set<RunId>& RunsOf(StudyId study) const;
  // How many runs make room for the study.
  int MakingRoomFor(StudyId study) const;

  // The first of the studies that want something, in the order in which they are due, for which `start` gives something
  // back. O(studies that are passed over).
  template <class Start>
  auto FirstDue(const Start& start) const -> decltype(start(StudyId{})) {
    for (const auto& team : teams_.due()) {
      for (const auto& study : studies_.at(team.key).due()) {
        if (auto started = start(study.key)) return started;
      }
    }
    return std::nullopt;
  }

 private:
  struct Member {
    std::string team;
    bool is_finished = false;
    std::set<RunId> runs;
    int making_room = 0;
  };
  struct Holding {
    std::map<StudyId, std::int64_t> parts;
    std::optional<StudyId> makes_room_for;
  };

  void Replace(RunId run, Holding holding);
  void Add(const Holding& holding, RunId run, int sign);
  void ForgetIfDone(StudyId study);

  FairQueue<std::string> teams_;
  std::map<std::string, FairQueue<StudyId>> studies_;  // by team
  std::map<StudyId, Member> members_;
  std::map<RunId, Holding> holdings_;
  std::optional<Time> first_;
  double now_ = 0;  // microseconds since then
};

}  // namespace espalier
