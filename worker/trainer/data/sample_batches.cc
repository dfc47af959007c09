#include "worker/trainer/data/sample_batches.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <utility>

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
      : data_(std::move(data)), order_(data_->training.labels.size(0), seed) {}

  Form form() const override { return {data_->training.inputs.sizes().slice(1).vec(), data_->class_count}; }

  void Setup(const HyperParameterValues& changed_values) override { TakeOver(changed_values, augmentation_); }

  Batch Next(std::int64_t size) override {
    const auto samples = order_.Next(size);
    const at::Tensor indices = at::from_blob(const_cast<std::int64_t*>(samples.data()),
                                             {static_cast<std::int64_t>(samples.size())}, at::TensorOptions(at::kLong));
    return {Augmented(Prepared(data_->training.inputs.index_select(0, indices)), augmentation_),
            data_->training.labels.index_select(0, indices)};
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

  const std::shared_ptr<const Classification> data_;
  SampleOrder order_;
  Augmentation augmentation_;  // of images alone: no other data declares its hyper-parameters
};

}  // namespace

std::unique_ptr<Batches> MakeSampleBatches(std::shared_ptr<const Classification> data, std::uint64_t seed) {
  return std::make_unique<SampleBatches>(std::move(data), seed);
}

}  // namespace espalier::trainer
