#include "worker/trainer/data/line_batches.h"

#include <ATen/ops/empty.h>

#include <algorithm>

#include "worker/trainer/data/sample_order.h"
#include "worker/trainer/data/saved_place.h"
#include "worker/trainer/data/tokens.h"
#include "worker/trainer/models/values.h"

namespace espalier::trainer {
namespace {

constexpr std::int64_t kDefaultLineLength = 64;

class LineBatches : public Batches {
 public:
  LineBatches(std::shared_ptr<const LabeledLines> lines, std::uint64_t seed)
      : lines_(std::move(lines)), order_(static_cast<std::int64_t>(lines_->training.size()), seed) {}

  Form form() const override { return {.class_count = lines_->class_count, .token_count = kLineTokens}; }

  void Setup(const HyperParameterValues& changed_values) override {
    TakeOver(changed_values, "length", length_);
    AtLeast(2, "length", length_);
  }

  Batch Next(std::int64_t size) override {
    std::vector<LabeledLine> chosen;
    for (const std::int64_t line : order_.Next(size)) {
      chosen.push_back(lines_->training[static_cast<std::size_t>(line)]);
    }
    return ToBatch(chosen);
  }

  std::int64_t epoch() const override { return order_.epoch(); }

  void Validate(const std::function<void(const Batch&)>& take) const override {
    const std::span<const LabeledLine> lines(lines_->validation);
    const auto batch = static_cast<std::size_t>(ValidationBatch(length_));
    for (std::size_t from = 0; from < lines.size(); from += batch) {
      take(ToBatch(lines.subspan(from, std::min(batch, lines.size() - from))));
    }
  }

  void Save(const std::string& prefix, State& state) const override { SavePlace(order_, prefix, state); }
  void Load(const State& state, const std::string& prefix) override { LoadPlace(state, prefix, order_); }

 private:
  Batch ToBatch(std::span<const LabeledLine> lines) const {
    std::size_t longest = 0;
    for (const LabeledLine& line : lines) longest = std::max(longest, line.text.size());
    const std::int64_t length = std::min(static_cast<std::int64_t>(longest) + 1, length_);
    const auto count = static_cast<std::int64_t>(lines.size());
    const at::Tensor tokens = at::empty({count, length}, at::TensorOptions(at::kLong));
    const at::Tensor labels = at::empty({count}, at::TensorOptions(at::kLong));
    std::fill_n(tokens.data_ptr<std::int64_t>(), tokens.numel(), kPaddingToken);
    for (std::int64_t i = 0; i < count; ++i) {
      const LabeledLine& line = lines[static_cast<std::size_t>(i)];
      std::int64_t* const row = tokens.data_ptr<std::int64_t>() + i * length;
      row[0] = kBeginningToken;
      std::ranges::transform(line.text.substr(0, static_cast<std::size_t>(length - 1)), row + 1,
                             [](char byte) { return static_cast<unsigned char>(byte); });
      labels.data_ptr<std::int64_t>()[i] = line.label;
    }
    return {tokens, labels};
  }

  const std::shared_ptr<const LabeledLines> lines_;
  SampleOrder order_;
  std::int64_t length_ = kDefaultLineLength;
};

}  // namespace

std::vector<DeclaredHyperParameter> DeclareLines() { return {{.name = "length", .default_value = kDefaultLineLength}}; }

std::unique_ptr<Batches> MakeLineBatches(std::shared_ptr<const LabeledLines> lines, std::uint64_t seed) {
  return std::make_unique<LineBatches>(std::move(lines), seed);
}

}  // namespace espalier::trainer
