// Trials' metric curves as rows of a table, one an evaluation. Pure.
#pragma once

#include <set>
#include <string>

#include "base/result.h"
#include "client/json.h"
#include "espalier/v1/inspect.pb.h"

namespace espalier {

// The columns that depend on the study.
struct CurveColumns {
  std::set<std::string> metrics;
  std::set<std::string> hyper_parameters;
  bool origins = false;  // some trial begins with a state that other code left

  friend bool operator==(const CurveColumns&, const CurveColumns&) = default;

  // Those of one more trial.
  void Add(const v1::GetTrialResponse& trial);
};

// "trial,state,step", the metrics, the hyper-parameters, and, where some trial has one, "origin:study", "origin:code"
// and "origin:step": a line, as CSV (RFC 4180, but for its line's end). A metric that has the name of another column is
// "metric:NAME".
std::string CsvHeader(const CurveColumns& columns);
// A line for each evaluation: numbers in the shortest form that parses back, nothing for what is not there. Error:
// kAborted, if the trial has what is in no column: it was measured after they were gathered.
Result<std::string> CsvRows(const CurveColumns& columns, const v1::GetTrialResponse& trial);

// A line for each evaluation: {"trial": 1, "state": "done", "step": 5, "metrics": {...}, "sequences": {...}}, and
// of a trial that has one "origin": {"study": 3, "step": 5, ...}. What is no number is null.
std::string JsonLines(const v1::GetTrialResponse& trial);

}  // namespace espalier
