#include "base/enum_names.h"
#include "protocol/checked_trainer.h"
#include "protocol/report.h"

namespace espalier {
namespace {

constexpr EnumName<Owed> kOwed[] = {{Owed::kMetrics, "metrics"}, {Owed::kState, "state"}};
constexpr EnumName<RunFailed::Kind> kFailures[] = {
    {RunFailed::Kind::kCrash, "crash"},       {RunFailed::Kind::kKilled, "killed"},
    {RunFailed::Kind::kTrainer, "trainer"},   {RunFailed::Kind::kOutOfMemory, "out of memory"},
    {RunFailed::Kind::kDiverged, "diverged"}, {RunFailed::Kind::kUnusable, "unusable"},
    {RunFailed::Kind::kFinished, "finished"}};
constexpr EnumName<CheckOutcome> kOutcomes[] = {
    {CheckOutcome::kPassed, "passed"}, {CheckOutcome::kFailed, "failed"}, {CheckOutcome::kGivenUp, "given up"}};

}  // namespace

std::string_view Name(Owed owed) { return NameIn(kOwed, owed); }
Result<Owed> ParseOwed(std::string_view name) { return ParseIn(kOwed, name); }
std::string_view Name(RunFailed::Kind kind) { return NameIn(kFailures, kind); }
std::string_view Name(CheckOutcome outcome) { return NameIn(kOutcomes, outcome); }
Result<CheckOutcome> ParseCheckOutcome(std::string_view name) { return ParseIn(kOutcomes, name); }

}  // namespace espalier
