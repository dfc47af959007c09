// espalier-plan-memory COUNT: builds a search plan of about COUNT nodes at five hyper-parameters, two of them tuned, as
// the master does, and prints how many bytes of heap it takes for each node.
#include <malloc.h>

#include <cstdlib>
#include <iostream>

#include "searchplan/plan/insert_trial.h"

namespace espalier {
namespace {

std::size_t HeapInUse() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

Schema FiveHyperParameters() {
  return {{{.name = "bs", .type = ValueType::kInteger, .default_value = std::int64_t{32}},
           {.name = "lr", .type = ValueType::kFloating, .default_value = 0.1},
           {.name = "momentum", .type = ValueType::kFloating, .default_value = 0.9},
           {.name = "optimizer", .type = ValueType::kText, .default_value = std::string("sgd")},
           {.name = "seed", .type = ValueType::kInteger, .default_value = std::int64_t{1}, .initial = true}}};
}

// Every trial is its own: four nodes, of which two hold a decay by a factor and two a constant.
std::map<std::string, Expression> TrialOf(std::int64_t number) {
  const std::string value = "0.0" + std::to_string(1'000'000'000 + number);
  return {{"lr", ParseExpression("Piecewise([" + value + ", Exponential(" + value + ", 0.95)], [40])").value()},
          {"bs", ParseExpression("MultiStep(32, [20, 60], gamma=2)").value()}};
}

void Fill(SearchPlan& plan, std::size_t node_count) {
  PlanNodeId next{1};
  for (std::int64_t trial = 0; plan.nodes.size() < node_count; ++trial) {
    const auto segments = ResolveTrial(plan.identity.training.schema, TrialOf(trial), Step{80}).value();
    const Insertion insertion = InsertTrial(plan, segments, next);
    next.value += static_cast<std::int64_t>(insertion.edit.size());
    for (const PlanChange& change : insertion.edit) Apply(plan, change);
  }
}

}  // namespace
}  // namespace espalier

int main(int argument_count, char** arguments) {
  using namespace espalier;
  if (argument_count != 2) {
    std::cerr << "usage: espalier-plan-memory COUNT\n";
    return 2;
  }
  SearchPlan plan{.id = PlanId{1}, .identity = {.training = {.trainer = "stub", .schema = FiveHyperParameters()}}};
  const std::size_t before = HeapInUse();
  Fill(plan, std::strtoull(arguments[1], nullptr, 10));
  std::cout << static_cast<double>(HeapInUse() - before) / static_cast<double>(plan.nodes.size()) << std::endl;
}
