#include "worker/trainer/data/text_order.h"

#include "base/check.h"
#include "worker/trainer/data/sample_order.h"

namespace espalier::trainer {

TextOrder::TextOrder(std::string_view text, std::uint64_t seed)
    : text_(text), seed_(seed), pages_(ShuffledSamples(size() / kPageTokens, seed, 0)) {
  ESPALIER_CHECK(size() >= 2);
}

std::int64_t TextOrder::TokenAt(std::int64_t position) const {
  const auto page = static_cast<std::size_t>(position / kPageTokens);
  const std::int64_t at = page < pages_.size() ? pages_[page] * kPageTokens + position % kPageTokens : position;
  return static_cast<unsigned char>(text_[static_cast<std::size_t>(at)]);
}

void TextOrder::Next(std::int64_t length, std::int64_t* tokens) {
  ESPALIER_CHECK(length >= 1 && length < size());
  if (position_ + length >= size()) GoTo(epoch_ + 1, 0);
  for (std::int64_t i = 0; i <= length; ++i) tokens[i] = TokenAt(position_ + i);
  position_ += length;
}

bool TextOrder::GoTo(std::int64_t epoch, std::int64_t position) {
  if (epoch < 0 || position < 0 || position >= size()) return false;
  if (epoch != epoch_) pages_ = ShuffledSamples(size() / kPageTokens, seed_, epoch);
  epoch_ = epoch;
  position_ = position;
  return true;
}

}  // namespace espalier::trainer
