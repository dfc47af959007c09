// What a program that can only be started says on its standard output: one line of JSON for each step
// (docs/script_trainers.md). Pure.
#pragma once

#include <optional>
#include <string_view>

#include "base/metrics.h"
#include "base/result.h"
#include "base/units.h"

namespace espalier::script {

struct ProgramLine {
  Step step;
  Metrics metrics;                    // of training it
  std::optional<Metrics> evaluation;  // of the state there
  bool is_saved = false;              // the state there lies in a file of its own
};

// Nothing where the line is no JSON object with a "step": it belongs to the program's log. Numbers that are not finite
// may be written as Python does, NaN, or as text. Error: kInvalidArgument with the field.
Result<std::optional<ProgramLine>> ReadProgramLine(std::string_view line);

}  // namespace espalier::script
