// OneCycle: two or three phases, each a piece of its own kind, and then the last value.
#include <algorithm>
#include <cmath>

#include "searchplan/sequence/arguments.h"
#include "searchplan/sequence/families.h"

namespace espalier {
namespace {

Result<Anneal> ReadAnneal(const Arguments& arguments) {
  ESPALIER_ASSIGN(const std::string word, arguments.Word("anneal", {Name(Anneal::kCosine), Name(Anneal::kLinear)}));
  return word == Name(Anneal::kCosine) ? Anneal::kCosine : Anneal::kLinear;
}

// The phases' ends are places on the clock of the whole; a place of an end belongs to the phase that ends there.
Result<std::vector<OneCyclePhase>> ReadPhases(const Arguments& arguments) {
  ESPALIER_ASSIGN(const double max_y, arguments.Number("max_y"));
  ESPALIER_ASSIGN(const std::int64_t total_steps, arguments.Count("total_steps"));
  ESPALIER_ASSIGN(const double pct_start, arguments.Positive("pct_start"));
  ESPALIER_ASSIGN(const Anneal anneal, ReadAnneal(arguments));
  ESPALIER_ASSIGN(const double div_factor, arguments.Positive("div_factor"));
  ESPALIER_ASSIGN(const double final_div_factor, arguments.Positive("final_div_factor"));
  ESPALIER_ASSIGN(const bool three_phase, arguments.Boolean("three_phase"));
  if (pct_start >= 1) {
    return MakeError(ErrorCode::kInvalidArgument, "pct_start must be less than 1, got " + Print(Value{pct_start}));
  }
  const auto total = static_cast<double>(total_steps);
  const double low = max_y / div_factor + 0.0;  // never -0.0
  const double least = low / final_div_factor + 0.0;
  std::vector<OneCyclePhase> phases = {{low, max_y, 0, pct_start * total - 1, anneal}};
  if (three_phase) phases.push_back({max_y, low, phases.back().end, 2 * pct_start * total - 2, anneal});
  phases.push_back({phases.back().to, least, phases.back().end, total - 1, anneal});
  for (const OneCyclePhase& phase : phases) {
    if (phase.start < phase.end) continue;
    return MakeError(ErrorCode::kInvalidArgument, "the phase to " + Print(Value{phase.to}) + " would go from place " +
                                                      Print(Value{phase.start}) + " to " + Print(Value{phase.end}) +
                                                      ", expected more total_steps or another pct_start");
  }
  return phases;
}

// From the phase's first place on its clock, at `start`; appends nothing if the phase has no whole place before `end`.
// Returns where it ends.
Result<Step> AddPhase(const OneCyclePhase& phase, Step start, Step end, SegmentBuilder& segments) {
  const std::int64_t place_count = static_cast<std::int64_t>(phase.end) - FirstPlace(phase) + 1;
  const Step phase_end = std::min(end, start + std::max<std::int64_t>(0, place_count));
  if (phase_end > start) ESPALIER_RETURN_IF_ERROR(segments.Add(start, phase_end, phase));
  return phase_end;
}

// The last value, as it is evaluated.
Result<void> AddHeld(const OneCyclePhase& phase, Step start, Step end, SegmentBuilder& segments) {
  const std::int64_t last = static_cast<std::int64_t>(phase.end) - FirstPlace(phase);
  return segments.Add(start, end, Constant{At({phase, Step{0}}, Step{last})});
}

Result<Expansion> ExpandOneCycle(const Arguments& arguments) {
  ESPALIER_ASSIGN(const std::vector<OneCyclePhase> phases, ReadPhases(arguments));
  return [phases](Step origin, Step end, SegmentBuilder& segments) -> Result<void> {
    Step start = origin;
    for (const OneCyclePhase& phase : phases) {
      ESPALIER_ASSIGN(start, AddPhase(phase, start, end, segments));
      if (start == end) return {};
    }
    return AddHeld(phases.back(), start, end, segments);
  };
}

Result<Expansion> ExpandOneCyclePhase(const Arguments& arguments) {
  OneCyclePhase phase;
  ESPALIER_ASSIGN(phase.from, arguments.Number("from"));
  ESPALIER_ASSIGN(phase.to, arguments.Number("to"));
  ESPALIER_ASSIGN(phase.start, arguments.Number("start"));
  ESPALIER_ASSIGN(phase.end, arguments.Number("end"));
  ESPALIER_ASSIGN(phase.anneal, ReadAnneal(arguments));
  const auto place_max = static_cast<double>(kStepMax.value);
  const bool within = 0 <= phase.start && phase.start < phase.end && phase.end <= place_max;
  if (!within || static_cast<double>(FirstPlace(phase)) > phase.end) {
    return MakeError(ErrorCode::kInvalidArgument, "expected a whole place from start to end, both from 0 to 2^53");
  }
  return [phase](Step origin, Step end, SegmentBuilder& segments) -> Result<void> {
    ESPALIER_ASSIGN(const Step start, AddPhase(phase, origin, end, segments));
    if (start == end) return {};
    return AddHeld(phase, start, end, segments);
  };
}

}  // namespace

std::vector<Family> OneCycleFamilies() {
  const Parameter anneal = {"anneal", Value{std::string(Name(Anneal::kCosine))}};
  return {
      {"OneCycle",
       {{"max_y"},
        {"total_steps"},
        {"pct_start", Value{0.3}},
        anneal,
        {"div_factor", Value{25.0}},
        {"final_div_factor", Value{1e4}},
        {"three_phase", Value{false}}},
       FamilyTypes::kFloating,
       ExpandOneCycle},
      // What the canonical form of OneCycle prints.
      {"OneCyclePhase", {{"from"}, {"to"}, {"start"}, {"end"}, anneal}, FamilyTypes::kFloating, ExpandOneCyclePhase},
  };
}

}  // namespace espalier
