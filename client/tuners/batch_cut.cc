#include "client/tuners/batch_cut.h"

#include <cstdio>
#include <string>

#include "searchplan/sequence/joint_segment_count.h"

namespace espalier {
namespace {

// While a master takes a part in, it does nothing else: some 12 ms for so many joint segments.
constexpr std::size_t kPartSegmentsMax = kBatchSegmentsMax / 4;

// A request that is soon there, and far below what a server takes at most.
constexpr std::size_t kPartBytesMax = std::size_t{8} << 20;

// And what a sequence takes there besides its text, at least: a part is not made of too many, either.
constexpr std::size_t kSequenceBytes = 16;

std::size_t BytesOf(const tuners::StartTrial& trial) {
  std::size_t bytes = 0;
  for (const auto& [name, text] : trial.sequences) bytes += name.size() + text.size() + kSequenceBytes;
  return bytes;
}

class Cutter {
 public:
  // The part that takes what costs so much.
  Batch& PartFor(std::size_t segments, std::size_t bytes) {
    const bool fits = segments_ + segments <= kPartSegmentsMax && bytes_ + bytes <= kPartBytesMax;
    if (!fits && segments_ > 0) {
      parts_.emplace_back();
      segments_ = bytes_ = 0;
    }
    segments_ += segments;
    bytes_ += bytes;
    return parts_.back();
  }

  std::vector<Batch> Take() { return std::move(parts_); }

 private:
  std::vector<Batch> parts_ = std::vector<Batch>(1);
  std::size_t segments_ = 0;  // of the last part
  std::size_t bytes_ = 0;
};

}  // namespace

std::vector<Batch> CutBatch(const Batch& batch) {
  Cutter cutter;
  JointSegmentCounter counter;
  for (const tuners::StartTrial& trial : batch.new_trials) {
    const Step horizon = trial.horizon == Step{0} ? trial.steps : trial.horizon;
    cutter.PartFor(counter.Count(trial.sequences, horizon) + trial.more.size(), BytesOf(trial))
        .new_trials.push_back(trial);
  }
  for (const FurtherClaim& claim : batch.claims) cutter.PartFor(1, 0).claims.push_back(claim);
  for (const TrialId trial : batch.close) cutter.PartFor(1, 0).close.push_back(trial);
  for (const TrialId trial : batch.cancel) cutter.PartFor(1, 0).cancel.push_back(trial);
  std::vector<Batch> parts = cutter.Take();
  parts.back().finish = batch.finish;
  return parts;
}

Error InWholeBatch(Error error, const std::vector<Batch>& parts, std::size_t before) {
  const std::size_t bracket = error.field.find('[');
  std::size_t index = 0;
  int digits = 0;
  if (bracket == std::string::npos || std::sscanf(error.field.c_str() + bracket, "[%zu%n", &index, &digits) != 1) {
    return error;
  }
  const std::string list = error.field.substr(0, bracket);
  for (std::size_t i = 0; i < before; ++i) {
    if (list == "trials") index += parts[i].new_trials.size();
    if (list == "claims") index += parts[i].claims.size();
    if (list == "close_trial_ids") index += parts[i].close.size();
    if (list == "cancel_trial_ids") index += parts[i].cancel.size();
  }
  error.field = list + "[" + std::to_string(index) + error.field.substr(bracket + static_cast<std::size_t>(digits));
  return error;
}

}  // namespace espalier
