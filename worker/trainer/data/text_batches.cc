#include "worker/trainer/data/text_batches.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "worker/trainer/data/draws.h"
#include "worker/trainer/data/saved_place.h"
#include "worker/trainer/data/text_order.h"
#include "worker/trainer/data/tokens.h"
#include "worker/trainer/models/values.h"

namespace espalier::trainer {
namespace {

constexpr std::int64_t kDefaultLength = 64;

Batch Unwritten(std::int64_t count, std::int64_t length) {
  return {at::empty({count, length}, at::TensorOptions(at::kLong)),
          at::empty({count, length}, at::TensorOptions(at::kLong))};
}

std::vector<std::int64_t> ToTokens(std::string_view text) {
  std::vector<std::int64_t> tokens(text.size());
  std::ranges::transform(text, tokens.begin(), [](char byte) { return static_cast<unsigned char>(byte); });
  return tokens;
}

// Row `i`, of which each token is trained to tell the next. `window`: one token more than a row has.
void Write(std::span<const std::int64_t> window, std::int64_t i, Batch& batch) {
  const std::int64_t length = batch.inputs.size(1);
  std::ranges::copy(window.first(window.size() - 1), batch.inputs.data_ptr<std::int64_t>() + i * length);
  std::ranges::copy(window.last(window.size() - 1), batch.labels.data_ptr<std::int64_t>() + i * length);
}

class TextBatches : public Batches {
 public:
  TextBatches(const Texts& texts, std::uint64_t seed) : texts_(texts), seed_(seed), first_(texts.first->bytes(), seed) {
    if (texts.second != nullptr) second_.emplace(texts.second->bytes(), seed);
  }

  Form form() const override { return {.class_count = kByteTokens, .token_count = kByteTokens, .labels_places = true}; }

  void Setup(const HyperParameterValues& changed_values) override {
    TakeOver(changed_values, "length", length_);
    TakeOver(changed_values, "mix", mix_);
    AtLeast(1, "length", length_);
    for (const auto& text : {texts_.first, texts_.second}) {
      if (text != nullptr && length_ >= SizeOf(*text)) {
        Refuse("length", "fewer than the text's " + std::to_string(SizeOf(*text)) + " tokens", std::to_string(length_));
      }
    }
    if (!(mix_ >= 0 && mix_ <= 1)) Refuse("mix", "a share, 0 to 1", std::to_string(mix_));
    EndEpochWhereNoSampleIsLeft();
  }

  Batch Next(std::int64_t size) override {
    const std::int64_t count = std::min(size, (SizeOf(*texts_.first) - 1 - taken_) / length_);
    Batch batch = Unwritten(count, length_);
    std::vector<std::int64_t> window(static_cast<std::size_t>(length_ + 1));
    for (std::int64_t i = 0; i < count; ++i, taken_ += length_) {
      (IsOfSecond() ? *second_ : first_).Next(length_, window.data());
      Write(window, i, batch);
    }
    EndEpochWhereNoSampleIsLeft();
    return batch;
  }

  std::int64_t epoch() const override { return epoch_; }

  void Validate(const std::function<void(const Batch&)>& take) const override {
    const std::string_view text = texts_.validation->bytes();
    const auto labels = static_cast<std::int64_t>(text.size()) - 1;
    const std::int64_t batch_size = ValidationBatch(length_);
    for (std::int64_t from = 0; from < labels;) {
      // Whole windows; at the end one that is shorter.
      const std::int64_t length = std::min(length_, labels - from);
      const std::int64_t count = std::min(batch_size, (labels - from) / length);
      Batch batch = Unwritten(count, length);
      for (std::int64_t i = 0; i < count; ++i, from += length) {
        const std::string_view window =
            text.substr(static_cast<std::size_t>(from), static_cast<std::size_t>(length + 1));
        Write(ToTokens(window), i, batch);
      }
      take(batch);
    }
  }

  void Save(const std::string& prefix, State& state) const override {
    state[prefix + "epoch"] = WholeNumber(epoch_);
    state[prefix + "tokens"] = WholeNumber(taken_);
    SavePlace(first_, prefix + "first.", state);
    if (second_.has_value()) SavePlace(*second_, prefix + "second.", state);
  }

  void Load(const State& state, const std::string& prefix) override {
    epoch_ = ReadWholeNumber(state, prefix + "epoch");
    taken_ = ReadWholeNumber(state, prefix + "tokens");
    if (epoch_ < 0 || taken_ < 0 || taken_ >= SizeOf(*texts_.first)) RefusePlace(prefix + "tokens");
    LoadPlace(state, prefix + "first.", first_);
    if (second_.has_value()) LoadPlace(state, prefix + "second.", *second_);
    EndEpochWhereNoSampleIsLeft();
  }

 private:
  static std::int64_t SizeOf(const FileBytes& text) { return static_cast<std::int64_t>(text.bytes().size()); }

  // The next sample. It follows from its place: the tokens before it in this epoch.
  bool IsOfSecond() const { return mix_ > 0 && DrawsOfSample({seed_, epoch_, taken_}).NextShare() < mix_; }

  void EndEpochWhereNoSampleIsLeft() {
    if (taken_ + length_ < SizeOf(*texts_.first)) return;
    taken_ = 0;
    ++epoch_;
  }

  const Texts texts_;
  const std::uint64_t seed_;
  TextOrder first_;
  std::optional<TextOrder> second_;
  std::int64_t epoch_ = 0;
  std::int64_t taken_ = 0;  // tokens in this epoch, from both texts
  std::int64_t length_ = kDefaultLength;
  double mix_ = 0;
};

}  // namespace

std::vector<DeclaredHyperParameter> DeclareText(bool has_second) {
  std::vector<DeclaredHyperParameter> declared{{.name = "length", .default_value = kDefaultLength}};
  if (has_second) declared.push_back({.name = "mix", .default_value = 0.0});
  return declared;
}

std::unique_ptr<Batches> MakeTextBatches(const Texts& texts, std::uint64_t seed) {
  return std::make_unique<TextBatches>(texts, seed);
}

}  // namespace espalier::trainer
