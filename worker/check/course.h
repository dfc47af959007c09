// The course of a training: every hyper-parameter's value at each of a few steps. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/units.h"
#include "searchplan/sequence/sequence.h"
#include "searchplan/sequence/value.h"
#include "worker/protocol/worker_message.h"

namespace espalier::trainer_check {

// Invariant: one element of `values` for each step, at least one; all of them name the same hyper-parameters.
struct Course {
  StepMeaning step;
  std::vector<worker::Values> values;  // [s]: of every hyper-parameter at step s, with which step s + 1 is reached
  std::vector<std::string> sequences;  // the names of those that may change
  Step End() const { return Step{static_cast<std::int64_t>(values.size())}; }
};

// A hyper-parameter that gets a second value.
struct Change {
  std::string name;
  Step at;
  Value from;
  Value to;
};

// What was asked for, by name; compiled to at least as many steps as the course has.
using Sequences = std::map<std::string, Sequence>;

// A second value for each sequence of numbers that would stay the same to the end: half of a floating one, twice an
// integer. None for zero.
std::vector<Change> ChangesToTry(const Schema& schema, const Sequences& given, Step at, Step end);

// Each hyper-parameter as given, else at its default, and with the changes.
// REQUIRES: `given` and `changes` name what the schema has.
Course CourseOf(const Schema& schema, const Sequences& given, const std::vector<Change>& changes, StepMeaning step,
                Step end);

// All sequences' values at the step. REQUIRES: 0 <= step < End().
worker::Values SequencesAt(const Course& course, Step step);
// Those that differ from the step before; at step 0 none.
worker::Values ChangesAt(const Course& course, Step step);
// The first step at which any changes; step 0: none does.
Step FirstChange(const Course& course);

}  // namespace espalier::trainer_check
