#include "worker/trainer/data/sample_batches.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <span>
#include <utility>

#include "base/check.h"
#include "worker/trainer/data/augmentation.h"
#include "worker/trainer/data/sample_order.h"
#include "worker/trainer/data/saved_place.h"

namespace espalier::trainer {
namespace {

// A part of what is evaluated on: small enough for the memory of a slot.
constexpr std::int64_t kValidationBatch = 250;

class SampleBatches : public Batches {
 public:
  SampleBatches(std::shared_ptr<const Classification> data, std::uint64_t seed)
      : data_(std::move(data)),
        seed_(seed),
        order_(data_->training.labels.size(0), seed),
        offsets_(OfEachNumber(data_->offset)),
        factors_(OfEachNumber(data_->factor)) {
    ESPALIER_CHECK(data_->training.inputs[0].is_contiguous() && data_->training.labels.is_contiguous());
  }

  Form form() const override { return {data_->training.inputs.sizes().slice(1).vec(), data_->class_count}; }

  void Setup(const HyperParameterValues& changed_values) override { TakeOver(changed_values, augmentation_); }

  Batch Next(std::int64_t size) override {
    const SamplePlace first{seed_, order_.epoch(), order_.position()};
    const auto samples = order_.Next(size);
    return {Augmented(InputsOf(samples), augmentation_, first), LabelsOf(samples)};
  }

  std::int64_t epoch() const override { return order_.epoch(); }

  void Validate(const std::function<void(const Batch&)>& take) const override {
    const auto& [inputs, labels] = data_->validation;
    for (std::int64_t from = 0; from < labels.size(0); from += kValidationBatch) {
      const std::int64_t to = std::min(from + kValidationBatch, labels.size(0));
      take({Prepared(inputs.slice(0, from, to)), labels.slice(0, from, to)});
    }
  }

  void Save(const std::string& prefix, State& state) const override { SavePlace(order_, prefix, state); }
  void Load(const State& state, const std::string& prefix) override { LoadPlace(state, prefix, order_); }

 private:
  at::Tensor Prepared(const at::Tensor& inputs) const {
    return (inputs.to(at::kFloat) - data_->offset) * data_->factor;
  }

  at::Tensor OfEachNumber(const at::Tensor& scale) const {
    return scale.expand(data_->training.inputs.sizes().slice(1)).contiguous();
  }

  // Prepared, by this thread alone.
  at::Tensor InputsOf(std::span<const std::int64_t> samples) const {
    const at::Tensor& all = data_->training.inputs;
    std::vector<std::int64_t> shape = all.sizes().vec();
    shape[0] = static_cast<std::int64_t>(samples.size());
    at::Tensor inputs = at::empty(shape, at::TensorOptions(at::kFloat));
    if (all.scalar_type() == at::kByte) {
      Prepare<std::uint8_t>(samples, inputs);
    } else {
      Prepare<float>(samples, inputs);
    }
    return inputs;
  }

  template <class Stored>
  void Prepare(std::span<const std::int64_t> samples, at::Tensor& inputs) const {
    const auto* const offsets = offsets_.data_ptr<float>();
    const auto* const factors = factors_.data_ptr<float>();
    auto* prepared = inputs.data_ptr<float>();
    for (const std::int64_t sample : samples) {
      const auto* const stored = data_->training.inputs.data_ptr<Stored>() + sample * data_->training.inputs.stride(0);
      for (std::int64_t i = 0; i < offsets_.numel(); ++i) {
        prepared[i] = (static_cast<float>(stored[i]) - offsets[i]) * factors[i];
      }
      prepared += offsets_.numel();
    }
  }

  at::Tensor LabelsOf(std::span<const std::int64_t> samples) const {
    at::Tensor labels = at::empty({static_cast<std::int64_t>(samples.size())}, at::TensorOptions(at::kLong));
    const auto* const all = data_->training.labels.data_ptr<std::int64_t>();
    std::ranges::transform(samples, labels.data_ptr<std::int64_t>(), [&](std::int64_t sample) { return all[sample]; });
    return labels;
  }

  const std::shared_ptr<const Classification> data_;
  const std::uint64_t seed_;
  SampleOrder order_;
  const at::Tensor offsets_;  // as the data's, of each number of an input
  const at::Tensor factors_;
  Augmentation augmentation_;  // of images alone: no other data declares its hyper-parameters
};

}  // namespace

std::unique_ptr<Batches> MakeSampleBatches(std::shared_ptr<const Classification> data, std::uint64_t seed) {
  return std::make_unique<SampleBatches>(std::move(data), seed);
}

}  // namespace espalier::trainer
