#include "worker/check/finding.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace espalier::trainer_check {
namespace {

// What an array of a state belongs to, by the names that libraries give.
enum class Part { kOptimizer, kNorm, kGenerator, kPlace, kOther };

Part PartOf(const Difference& difference) {
  constexpr std::pair<std::string_view, Part> kWords[] = {
      {"running_mean", Part::kNorm},    {"running_var", Part::kNorm},    {"num_batches_tracked", Part::kNorm},
      {"optim", Part::kOptimizer},      {"momentum", Part::kOptimizer},  {"exp_avg", Part::kOptimizer},
      {"square_avg", Part::kOptimizer}, {"generator", Part::kGenerator}, {"random", Part::kGenerator},
      {"rng", Part::kGenerator},        {"loader", Part::kPlace},        {"sampler", Part::kPlace},
      {"data.", Part::kPlace},          {"epoch", Part::kPlace},         {"place", Part::kPlace},
      {"position", Part::kPlace}};
  std::string name = difference.name + " " + (difference.place.starts_with('[') ? "" : difference.place);
  std::ranges::transform(name, name.begin(), [](unsigned char letter) { return std::tolower(letter); });
  for (const auto& [word, part] : kWords) {
    if (name.find(word) != std::string::npos) return part;
  }
  return Part::kOther;
}

bool Differs(const Finding& finding, std::string_view name) {
  return std::ranges::any_of(finding.differences, [&](const Difference& each) { return each.name == name; });
}

bool Differs(const Finding& finding, Part part) {
  return std::ranges::any_of(finding.differences, [&](const Difference& each) { return PartOf(each) == part; });
}

std::string OfEvaluating(const Finding& finding) {
  if (finding.observed != Observed::kState) {
    return "Evaluating changes something that is no part of the state: a generator or an iterator of its own, the mode "
           "of a module that is not tracked, a counter. Put it back, or track it.";
  }
  if (Differs(finding, Part::kNorm)) {
    return "Evaluating changes batch-norm statistics: it runs in training mode. Call eval() on the model first.";
  }
  if (Differs(finding, Part::kGenerator)) {
    return "Evaluating draws from a generator and does not put it back.";
  }
  if (Differs(finding, Part::kPlace)) return "Evaluating reads on in the training's data. Give it a loader of its own.";
  return "Evaluating changes the training's state. It must leave everything as it was.";
}

std::string OfLoading(const Finding& finding) {
  std::string what = "what was saved";
  if (Differs(finding, Part::kOptimizer)) {
    what = "the optimizer";
  } else if (Differs(finding, Part::kPlace)) {
    what = "the place in the data";
  } else if (Differs(finding, Part::kGenerator)) {
    what = "a generator";
  } else if (Differs(finding, Part::kNorm)) {
    what = "batch-norm statistics";
  }
  return "The state that is saved right after loading is another: loading does not put back " + what + ".";
}

std::string Names(const worker::Values& values) {
  std::string names;
  for (const auto& [name, value] : values) names += (names.empty() ? "" : ", ") + name;
  return names;
}

// The training was resumed, the state was the saved one, and yet it went on in another way.
std::string OfGoingOn(const Finding& finding, const Course& course) {
  const Step change = FirstChange(course);
  if (change > Step{} && finding.after.step >= change) {
    return "Cut before values changed at step " + std::to_string(change.value) +
           ", the training went on as it should: so a stale value is in use after loading, that of step 0 or of before "
           "the change (" +
           Names(ChangesAt(course, change)) +
           ": a learning rate on the first step, say). Set it in setup, also before " +
           "loading, and let loading keep it.";
  }
  if (finding.observed == Observed::kState) {
    return "The step's metrics are the same and what it made of the parameters is not: the optimizer. It is not "
           "tracked, so that what it keeps (momentum, averages, its own learning rate) begins anew.";
  }
  if (Differs(finding, "samples")) {
    return "The step took another number of samples: the place in the data, or the batch size, is not in the state. "
           "Track the loader.";
  }
  return "Something that training changes is not in the state: the place in the data (a loader that is not tracked, or "
         "is built anew in mid-epoch), a generator of your own, augmentation in a loader's persistent workers, data "
         "changed in place, a counter, an optimizer. Track it.";
}

std::string OfResuming(const Finding& finding, const Course& course) {
  if (finding.step > finding.after.step) return OfGoingOn(finding, course);
  if (finding.observed == Observed::kState) return OfLoading(finding);
  return "The state is the saved one, and the evaluation is another: something that it depends on is not in the state, "
         "such as a module or a buffer that is not tracked, data changed in place, or a value that setup sets.";
}

}  // namespace

std::string Print(Observed observed, Step step) {
  const std::string at = std::to_string(step.value);
  switch (observed) {
    case Observed::kTraining:
      return "other metrics of the training to step " + at;
    case Observed::kEvaluation:
      return "another evaluation at step " + at;
    case Observed::kState:
      return "another state at step " + at;
    case Observed::kFailure:
      return "a failure at step " + at;
  }
  return {};
}

std::string UsualCause(const Finding& finding, const Course& course) {
  if (finding.observed == Observed::kFailure) return {};  // the trainer's own words say it
  if (!finding.is_repeatable) {
    return "The training is not repeatable: straight, in another process, it is another. A generator that the seed "
           "does "
           "not reach, an order that changes (of a set, a folder's files), operations that are not deterministic, more "
           "than one thread, or a metric that measures time.";
  }
  switch (finding.after.deed) {
    case Deed::kBegin:
    case Deed::kProceed:
      return "Something of the process gets into the training: its environment, its id, the time.";
    case Deed::kBeginAgain:
      return "An earlier training in the same process has left something: data changed in place, a generator or a "
             "counter "
             "outside of the trainer, a cache that is written to. Make it in init.";
    case Deed::kEvaluate:
      return OfEvaluating(finding);
    case Deed::kSave:
      return "Saving changes the training: something that makes the state draws random numbers, moves data or switches "
             "modes.";
    case Deed::kTrain:
    case Deed::kResume:
    case Deed::kResumeInProcess:
    case Deed::kReload:
      return OfResuming(finding, course);
  }
  return {};
}

}  // namespace espalier::trainer_check
