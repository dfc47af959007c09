#include "master/store/run_rows.h"

#include <algorithm>

namespace espalier::master {
namespace {

bool Serves(const std::vector<StudyId>& serves, StudyId study) {
  return std::binary_search(serves.begin(), serves.end(), study);
}

void AddPromise(RowSet& set, RunId run, const Promise& promise) {
  set.Add(promise.id, run, promise.step, Name(promise.owed), Name(promise.state), promise.made_at, promise.settled_at);
}

}  // namespace

Run* RunRows::Added(RunId run) {
  const auto added = added_.find(run);
  return added == added_.end() ? nullptr : &added->second;
}

void RunRows::Take(const AddRun& change) { added_.insert_or_assign(change.run.id, change.run); }

void RunRows::Take(const MakePromise& change) {
  if (Run* run = Added(change.run)) {
    run->promises.insert_or_assign(change.promise.id, change.promise);
  } else {
    made_.insert_or_assign(change.promise.id, std::pair(change.run, change.promise));
  }
}

void RunRows::Take(const SettlePromise& change) {
  Promise* promise = nullptr;
  if (Run* run = Added(change.run)) promise = &run->promises.at(change.promise);
  if (const auto made = made_.find(change.promise); made != made_.end()) promise = &made->second.second;
  if (promise != nullptr) {
    promise->state = change.state;
    promise->settled_at = change.at;
  } else {
    settled_.insert_or_assign(change.promise, change);
  }
}

void RunRows::Take(const SetTerms& change) {
  if (Run* run = Added(change.run)) {
    run->generation = change.generation;
    run->preempt = change.preempt;
  } else {
    changed_[change.run].generation = change.generation;
    changed_[change.run].preempt = change.preempt;
  }
}

void RunRows::Take(const SetRunFailed& change) {
  if (Run* run = Added(change.run)) {
    run->failed = true;
  } else {
    changed_[change.run].failed = true;
  }
}

void RunRows::Take(const ChargeRun& change) {
  Run* run = Added(change.run);
  auto& microseconds = run != nullptr ? run->charges : changed_[change.run].microseconds;
  for (const auto& [study, part] : change.microseconds) microseconds[study] += part;
  for (const StudyId study : change.serves) microseconds[study];
  if (run != nullptr) {
    run->charged_to = change.to;
    run->serves = change.serves;
  } else {
    changed_[change.run].charged_to = change.to;
    changed_[change.run].serves = change.serves;
  }
}

void RunRows::Take(const SetRunState& change) {
  if (Run* run = Added(change.run)) {
    run->state = change.state;
  } else {
    changed_[change.run].state = change.state;
  }
}

void RunRows::Take(const RetireRuns& change) {
  for (const RunId run : change.runs) retired_.Add(run);
}

void RunRows::AddRunRows(RowSet& run, RowSet& stage, RowSet& study, RowSet& promise) const {
  for (const auto& [id, added] : added_) {
    std::optional<std::int64_t> node;
    std::optional<std::int64_t> step;
    std::optional<std::string> file;
    if (added.start) {
      node = added.start->node.value;
      step = added.start->step.value;
      file = added.start_file;
    }
    run.Add(id, added.leadership, added.plan, added.slot.server, added.slot.index, added.slots,
            added.reservation.device, added.reservation.compute, added.reservation.memory_bytes,
            added.reservation.host_cores, added.incarnation, added.offer, node, step, file, added.generation,
            added.preempt, added.failed, Name(added.state), added.ordered_at, added.charged_to);
    int position = 0;
    for (const PathStage& part : added.path) stage.Add(id, position++, part.node, part.from, part.to);
    std::map<StudyId, std::int64_t> charges = added.charges;
    for (const StudyId each : added.serves) charges[each];
    for (const auto& [each, microseconds] : charges) study.Add(id, each, Serves(added.serves, each), microseconds);
    for (const auto& [promise_id, made] : added.promises) AddPromise(promise, id, made);
  }
}

void RunRows::TakeRows(std::vector<RowSet>& sets) {
  RowSet run("run/insert");
  RowSet stage("run_stage/insert");
  RowSet study("run_study/charge");
  RowSet change("run/change");
  RowSet settled("run_promise/settle");
  RowSet promise("run_promise/insert");
  AddRunRows(run, stage, study, promise);
  for (const auto& [id, changed] : changed_) {
    const auto state = changed.state ? std::optional<std::string>(Name(*changed.state)) : std::nullopt;
    change.Add(id, changed.generation, changed.preempt, changed.failed, state, changed.charged_to);
    for (const auto& [each, microseconds] : changed.microseconds) {
      study.Add(id, each, Serves(changed.serves, each), microseconds);
    }
  }
  for (const auto& [id, settle] : settled_) settled.Add(id, Name(settle.state), settle.at);
  for (const auto& [id, made] : made_) AddPromise(promise, made.first, made.second);
  for (RowSet* set : {&run, &stage, &study, &change, &settled, &promise, &retired_}) sets.push_back(std::move(*set));
}

}  // namespace espalier::master
