// Studies and trials as text for people.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "client/cli/json_output.h"
#include "espalier/v1/inspect.pb.h"

namespace espalier {

// "58 done, 3 failed"
std::string TrialStates(const TrialCounts& by_state);

void PrintStudy(std::ostream& out, const v1::StudySummary& study);

// The best trials by the study's metric, with the sequences in which its trials differ. At most `count_max` rows.
void PrintBestTrials(std::ostream& out, const v1::StudySummary& study, const std::vector<v1::Trial>& trials,
                     std::size_t count_max);

// The hyper-parameters that do not have the same text in all trials, sorted.
std::vector<std::string> TunedNames(const std::vector<v1::Trial>& trials);

// "study 3 (code 1a2b3c4d5e6f) at step 20": with what the trial begins; "-": it begins at Init.
std::string OriginText(const v1::Trial& trial);

// "bandit: released at step 10": what a policy has written on the trial; "-": nothing.
std::string LabelText(const v1::Trial& trial);

// The text of a trial's sequence; "-" if it is left at its default.
std::string SequenceText(const v1::Trial& trial, const std::string& name);

}  // namespace espalier
