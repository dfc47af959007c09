// Random valid edits, by seed: every kind of change, nasty texts and numbers.
#pragma once

#include <optional>
#include <random>
#include <string>

#include "master/core/history_store.h"
#include "master/core/state/state_edit.h"

namespace espalier::master {

class EditGenerator {
 public:
  explicit EditGenerator(std::uint64_t seed) : random_(seed) {}

  // Up to `step_count_max` steps, each of one or a few changes that fit what was generated before; something of it is
  // stored.
  StateEdit Next(int step_count_max = 12);

  // All that is not yet retired is finished and retired.
  StateEdit RetireAll();

  // What all edits so far make.
  const MasterState& state() const { return state_; }

  // What left memory with each study that is retired: as it is stored (StoredPart), and what was answered.
  const std::map<StudyId, StudyHistory>& histories() const { return histories_; }
  const std::map<std::string, AnsweredRequest>& requests(StudyId study) { return requests_[study]; }

 private:
  void Do(StateChange change);
  int Below(int bound);
  bool Chance(int percent) { return Below(100) < percent; }
  std::string Text();
  double Number();
  Time Moment();
  Metrics SomeMetrics();
  template <class Map>
  typename Map::key_type AnyKey(const Map& map) {
    return std::next(map.begin(), Below(static_cast<int>(map.size())))->first;
  }

  void Register();
  void ChangeUser();
  void ChangeDrain();
  void ChangeDue();  // weights and quotas
  void ChoosePolicy();
  void BringCode();
  void NewStudy();
  void NewTrial();
  Step Begins(PlanId plan, PlanNodeId node) const;
  std::optional<Origin> SomeOrigin(PlanId for_plan);
  void MoreClaims();
  void Settle();
  void ChangePoint();
  void ChangeTraining();
  void ChangeAttempts(PlanId plan, Point point);
  void Train();
  std::vector<StudyId> SomeStudies();
  void NewRun();
  void ChangeRun();
  void Close();
  void Retire();
  void Retire(StudyId study);
  void PinRetired();
  void EndTrial(TrialId id);
  void EndRun(RunId id);
  StudyId AnyStudy();
  const Run& AnyActiveRun();
  void Forget();
  std::optional<Point> AnyPoint(PlanId& plan);
  void AddEvent(StudyId study, StudyEvent event, bool answered_at_claim = false);

  std::mt19937_64 random_;
  MasterState state_;
  StateEdit edit_;
  std::int64_t clock_ = 0;
  std::int64_t request_ = 0;
  std::map<StudyId, StudyHistory> histories_;
  std::map<StudyId, std::map<std::string, AnsweredRequest>> requests_;
};

// For comparing a recovered state with one in memory: without what is not stored, and with NaN equal to itself.
MasterState StoredPart(MasterState state);
StudyHistory StoredPart(StudyHistory history);

}  // namespace espalier::master
