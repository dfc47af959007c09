#include "master/store/content_digest.h"

#include "base/key_text.h"

namespace espalier::master {

Digest128 SchemaDigest(const Schema& schema) {
  KeyText key("schema-1");
  for (const HyperParameter& parameter : schema.hyper_parameters) {
    key.Add(parameter.name).Add(Name(parameter.type)).Add(Print(parameter.default_value));
    key.Add(parameter.initial ? "initial" : "sequence");
  }
  if (schema.takes_any) key.Add("takes any");
  return DigestOf(key.text());
}

Digest128 TrainingDigest(const TrainingIdentity& training) {
  KeyText key("training-1");
  key.Add(training.trainer).Add(training.code_digest).Add(training.data).Add(training.data_digest);
  key.Add(std::to_string(training.step_updates)).Add(ToHex(SchemaDigest(training.schema)));
  return DigestOf(key.text());
}

}  // namespace espalier::master
