#include "client/cli/training_costs.h"

#include <cmath>

#include "client/cli/output.h"

namespace espalier {
namespace {

std::string TimeText(double seconds) {
  return seconds < 0.1 ? std::to_string(std::lround(1000 * seconds)) + " ms" : FormatDuration(seconds);
}

}  // namespace

Json CostsJson(const v1::TrainingCosts& costs) {
  const auto known = [](bool is_known, const auto& value) { return is_known ? Json(value) : Json(nullptr); };
  return Json::Object({{"step_seconds", known(costs.has_step_seconds(), costs.step_seconds())},
                       {"set_up_seconds", known(costs.has_set_up_seconds(), costs.set_up_seconds())},
                       {"load_seconds", known(costs.has_load_seconds(), costs.load_seconds())},
                       {"save_seconds", known(costs.has_save_seconds(), costs.save_seconds())},
                       {"evaluate_seconds", known(costs.has_evaluate_seconds(), costs.evaluate_seconds())},
                       {"memory_bytes", known(costs.has_memory_bytes(), costs.memory_bytes())},
                       {"device_memory_bytes", known(costs.has_device_memory_bytes(), costs.device_memory_bytes())},
                       {"utilization", known(costs.has_utilization(), costs.utilization())},
                       {"state_bytes", known(costs.has_state_bytes(), costs.state_bytes())}});
}

std::string CostsText(const v1::TrainingCosts& costs) {
  std::string text;
  const auto add = [&](bool is_known, const std::string& part) {
    if (is_known) text += (text.empty() ? "" : ", ") + part;
  };
  add(costs.has_step_seconds(), "a step " + TimeText(costs.step_seconds()));
  add(costs.has_set_up_seconds(), "set-up " + TimeText(costs.set_up_seconds()));
  add(costs.has_load_seconds(), "a load " + TimeText(costs.load_seconds()));
  add(costs.has_save_seconds(), "a save " + TimeText(costs.save_seconds()));
  add(costs.has_evaluate_seconds(), "an evaluation " + TimeText(costs.evaluate_seconds()));
  add(costs.has_memory_bytes(), FormatBytes(costs.memory_bytes()) + " of memory");
  add(costs.has_device_memory_bytes(), FormatBytes(costs.device_memory_bytes()) + " of its GPU's");
  add(costs.has_utilization(), std::to_string(std::lround(100 * costs.utilization())) + " % of its GPU's time");
  return text;
}

}  // namespace espalier
