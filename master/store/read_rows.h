// Rows as what they store, for whoever reads them. For the .cc files of this folder only. Throws as RowReader does.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "master/core/state/master_state.h"
#include "master/store/plan_of_nodes.h"
#include "master/store/row_reader.h"

namespace espalier::master {

// A map that was stored as two arrays.
template <class Value>
std::map<std::string, Value> Zip(std::vector<std::string> names, std::vector<Value> values) {
  if (names.size() != values.size()) throw std::runtime_error("names and values are not equally many");
  std::map<std::string, Value> map;
  for (std::size_t i = 0; i < names.size(); ++i) map.emplace(std::move(names[i]), std::move(values[i]));
  return map;
}

// Of trial/load. Without claims.
Trial TrialOf(const RowReader& row);
// Of claim/load.
Claim ClaimOf(const RowReader& row);
// Of study_event/load.
StudyEvent EventOf(const RowReader& row);
// Of request/load.
AnsweredRequest AnswerOf(const RowReader& row);
// Of retired_study/load.
RetiredStudy RetiredOf(const RowReader& row, const PlanOfNodes& plan_of_node);

// Puts runs together: first a row of run/load for each, then their rows of run_stage/load, run_study/load and
// run_promise/load.
class RunReader {
 public:
  void TakeRun(const RowReader& row);
  void TakeStage(const RowReader& row);
  void TakeStudy(const RowReader& row);
  void TakePromise(const RowReader& row);
  std::map<RunId, Run> Take() { return std::move(runs_); }

 private:
  std::map<RunId, Run> runs_;
};

}  // namespace espalier::master
