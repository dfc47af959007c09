#include "tests/support/mlp_trainer.h"

namespace espalier::testing {

v1::TrainerDescription MlpTrainer() {
  v1::TrainerDescription trainer;
  trainer.set_name("mlp");
  trainer.set_code_digest("mlp 1");
  trainer.set_data("digits");
  trainer.set_data_digest("digits 1");
  trainer.set_evaluation_digest("digits 1");
  const auto add = [&](const std::string& name, v1::ValueType type, bool initial) -> v1::Value& {
    v1::HyperParameter& hyper_parameter = *trainer.add_hyper_parameters();
    hyper_parameter.set_name(name);
    hyper_parameter.set_type(type);
    hyper_parameter.set_initial(initial);
    return *hyper_parameter.mutable_default_value();
  };
  add("bs", v1::VALUE_TYPE_INTEGER, false).set_integer(64);
  add("dropout", v1::VALUE_TYPE_FLOATING, false).set_floating(0);
  add("hidden", v1::VALUE_TYPE_INTEGER, true).set_integer(128);
  add("lr", v1::VALUE_TYPE_FLOATING, false).set_floating(0.1);
  add("momentum", v1::VALUE_TYPE_FLOATING, false).set_floating(0.9);
  add("optimizer", v1::VALUE_TYPE_TEXT, false).set_text("sgd");
  add("seed", v1::VALUE_TYPE_INTEGER, true).set_integer(0);
  add("weight_decay", v1::VALUE_TYPE_FLOATING, false).set_floating(0);
  trainer.add_metrics("test_acc");
  trainer.add_metrics("test_loss");
  return trainer;
}

}  // namespace espalier::testing
