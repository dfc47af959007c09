// The study files of the thesis have its numbers of trials and its merge rates (TreeML, table 6.2 and section 6.2).
#include <catch2/catch.hpp>

#include "client/study_file/study_file.h"
#include "searchplan/plan/insert_trial.h"
#include "searchplan/plan/step_set.h"

namespace espalier {
namespace {

// Enters whole trials of study files into one plan.
class Space {
 public:
  void Add(const std::string& name) {
    const auto file = ReadStudyFile(std::string(ESPALIER_SOURCE_DIR) + "/bench/studies/" + name + ".yaml");
    INFO(name << ": " << (file.has_value() ? "" : Print(file.error())));
    REQUIRE(file.has_value());
    const Schema schema{.takes_any = true};
    const ValueTypes types = GuessTypes(*file, schema).value();
    for (const tuners::StartTrial& trial : MakeTunerOf(*file)->WholeTrials()) {
      std::map<std::string, Expression> sequences;
      for (const auto& [hyper_parameter, text] : trial.sequences) {
        sequences.emplace(hyper_parameter, ParseExpression(text).value());
      }
      Enter(ResolveTrial(schema, sequences, trial.horizon, types).value(), trial.horizon);
    }
  }

  std::int64_t trial_count() const { return trial_count_; }
  double MergeRate() const { return static_cast<double>(total_steps_) / static_cast<double>(unique_.Count()); }

 private:
  void Enter(const std::vector<JointSegment>& segments, Step horizon) {
    const Insertion insertion = InsertTrial(plan_, segments, next_node_);
    for (const PlanChange& change : insertion.edit) Apply(plan_, change);
    next_node_.value += static_cast<std::int64_t>(insertion.edit.size());
    unique_.AddLineage(plan_, insertion.leaf, horizon);
    total_steps_ += horizon.value;
    ++trial_count_;
  }

  SearchPlan plan_{.identity = {.training = {.trainer = "synthetic", .schema = {.takes_any = true}}}};
  PlanNodeId next_node_{1};
  StepSet unique_;
  std::int64_t total_steps_ = 0;
  std::int64_t trial_count_ = 0;
};

void CheckSingle(const std::string& name, std::int64_t trial_count, double merge_rate) {
  Space space;
  space.Add(name);
  INFO(name);
  CHECK(space.trial_count() == trial_count);
  CHECK(space.MergeRate() == Approx(merge_rate).epsilon(0.05));
}

void CheckTogether(const std::string& set, int first, int last, double merge_rate) {
  Space space;
  for (int study = first; study <= last; ++study) space.Add(set + "-" + std::to_string(study));
  INFO(set << " " << first << " to " << last);
  CHECK(space.trial_count() == 144 * (last - first + 1));
  CHECK(space.MergeRate() == Approx(merge_rate).epsilon(0.05));
}

}  // namespace

TEST_CASE("the four studies of table 6.2 have its numbers of trials and merge rates") {
  CheckSingle("resnet56-sha", 448, 2.45);
  CheckSingle("resnet56-asha", 448, 2.45);
  CheckSingle("mobilenet-v2-grid", 240, 3.14);
  CheckSingle("bert-base-grid", 40, 2.05);
}

TEST_CASE("the studies for the comparison of policies have the merge rate of section 6.3") {
  CheckSingle("policies-grid", 144, 3.55);
  CheckSingle("policies-asha", 144, 3.55);
}

TEST_CASE("each study of the two sets of eight has 144 trials") {
  for (const char* set : {"first", "second"}) {
    for (int study = 1; study <= 8; ++study) {
      Space space;
      space.Add(std::string(set) + "-" + std::to_string(study));
      CHECK(space.trial_count() == 144);
    }
  }
}

TEST_CASE("the first set of eight has the k-wise merge rates of figure 6.2") {
  CheckTogether("first", 1, 2, 2.26);
  CheckTogether("first", 1, 4, 2.77);
  CheckTogether("first", 1, 8, 2.47);
}

TEST_CASE("the second set of eight has the k-wise merge rates of figure 6.3") {
  CheckTogether("second", 1, 2, 1.40);
  CheckTogether("second", 2, 5, 1.19);
  CheckTogether("second", 1, 8, 1.66);
}

}  // namespace espalier
