#include "worker/trainer/data/text_batches.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/rand.h>

#include <algorithm>
#include <optional>

#include "worker/trainer/data/saved_place.h"
#include "worker/trainer/data/text_order.h"
#include "worker/trainer/data/tokens.h"
#include "worker/trainer/models/values.h"

namespace espalier::trainer {
namespace {

constexpr std::int64_t kDefaultLength = 64;

// Rows of length + 1 tokens: each is trained to tell the next.
Batch FromWindows(const at::Tensor& windows) {
  const std::int64_t length = windows.size(1) - 1;
  return {windows.narrow(1, 0, length).contiguous(), windows.narrow(1, 1, length).contiguous()};
}

class TextBatches : public Batches {
 public:
  TextBatches(const Texts& texts, std::uint64_t seed) : texts_(texts), first_(texts.first->bytes(), seed) {
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
    const at::Tensor windows = at::empty({count, length_ + 1}, at::TensorOptions(at::kLong));
    // Without a share nothing is drawn.
    const at::Tensor draws = mix_ > 0 ? at::rand({count}, at::TensorOptions(at::kDouble)) : at::Tensor();
    for (std::int64_t i = 0; i < count; ++i) {
      const bool of_second = mix_ > 0 && draws.data_ptr<double>()[i] < mix_;
      (of_second ? *second_ : first_).Next(length_, windows.data_ptr<std::int64_t>() + i * (length_ + 1));
    }
    taken_ += count * length_;
    EndEpochWhereNoSampleIsLeft();
    return FromWindows(windows);
  }

  std::int64_t epoch() const override { return epoch_; }

  void Validate(const std::function<void(const Batch&)>& take) const override {
    const std::string_view text = texts_.validation->bytes();
    const auto labels = static_cast<std::int64_t>(text.size()) - 1;
    const std::int64_t batch = ValidationBatch(length_);
    for (std::int64_t from = 0; from < labels;) {
      // Whole windows; at the end one that is shorter.
      const std::int64_t length = std::min(length_, labels - from);
      const std::int64_t count = std::min(batch, (labels - from) / length);
      const at::Tensor windows = at::empty({count, length + 1}, at::TensorOptions(at::kLong));
      for (std::int64_t i = 0; i < count; ++i, from += length) {
        const std::string_view window =
            text.substr(static_cast<std::size_t>(from), static_cast<std::size_t>(length + 1));
        std::ranges::transform(window, windows.data_ptr<std::int64_t>() + i * (length + 1),
                               [](char byte) { return static_cast<unsigned char>(byte); });
      }
      take(FromWindows(windows));
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

  void EndEpochWhereNoSampleIsLeft() {
    if (taken_ + length_ < SizeOf(*texts_.first)) return;
    taken_ = 0;
    ++epoch_;
  }

  const Texts texts_;
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
