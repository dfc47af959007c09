#include "searchplan/sequence/training_identity.h"

#include "base/key_text.h"

namespace espalier {

Digest128 DigestOf(const Schema& schema) {
  KeyText key("schema-1");
  for (const HyperParameter& parameter : schema.hyper_parameters) {
    key.Add(parameter.name).Add(Name(parameter.type)).Add(Print(parameter.default_value));
    key.Add(parameter.initial ? "initial" : "sequence");
  }
  if (schema.takes_any) key.Add("takes any");
  return DigestOf(key.text());
}

Digest128 TrainerDigest(const TrainingIdentity& training) {
  KeyText key("trainer-1");
  key.Add(training.trainer).Add(training.code_digest).Add(training.data).Add(training.data_digest);
  key.Add(ToHex(DigestOf(training.schema)));
  return DigestOf(key.text());
}

Digest128 DigestOf(const TrainingIdentity& training) {
  KeyText key("training-2");
  key.Add(ToHex(TrainerDigest(training))).Add(std::to_string(training.step.updates));
  return DigestOf(key.text());
}

}  // namespace espalier
