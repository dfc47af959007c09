#include "protocol/offer.h"

#include "base/key_text.h"

namespace espalier {

TrainingIdentity TrainingOf(const Offer& offer, StepMeaning step) {
  return {.trainer = offer.trainer,
          .code_digest = offer.code_digest,
          .data = offer.data,
          .data_digest = offer.data_digest,
          .step = step,
          .schema = offer.schema};
}

Digest128 TrainerDigest(const Offer& offer) { return TrainerDigest(TrainingOf(offer, {})); }

Digest128 DigestOf(const Offer& offer) {
  KeyText key("offer-1");
  key.Add(ToHex(TrainerDigest(offer))).Add(offer.evaluation_digest);
  for (const std::string& metric : offer.metrics) key.Add(metric);
  return DigestOf(key.text());
}

std::string_view WorkDirectoryIdOf(std::string_view incarnation) {
  const std::size_t dash = incarnation.rfind('-');
  return dash == std::string_view::npos ? std::string_view() : incarnation.substr(0, dash);
}

}  // namespace espalier
