#include "worker/trainer/models/transformer.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/modules/transformerlayer.h>

#include <cmath>
#include <limits>

#include "worker/trainer/data/batches.h"
#include "worker/trainer/data/tokens.h"
#include "worker/trainer/models/network.h"
#include "worker/trainer/models/values.h"

namespace espalier::trainer {
namespace {

struct TransformerShape {
  std::int64_t layers = 0;
  std::int64_t width = 0;
  std::int64_t heads = 0;
};

// A row for each of the first `length` places: sines and cosines in turns, of wave lengths from 2 pi to 10,000 times
// that.
at::Tensor Places(std::int64_t length, std::int64_t width) {
  at::Tensor places = at::empty({length, width});
  auto rows = places.accessor<float, 2>();
  for (std::int64_t column = 0; column < width; column += 2) {
    const double slowness = std::pow(10000.0, static_cast<double>(column) / static_cast<double>(width));
    for (std::int64_t place = 0; place < length; ++place) {
      const double angle = static_cast<double>(place) / slowness;
      rows[place][column] = static_cast<float>(std::sin(angle));
      rows[place][column + 1] = static_cast<float>(std::cos(angle));
    }
  }
  return places;
}

// What is added to the attention of a place (row) to another: nothing up to itself, behind it as little as can be.
at::Tensor MaskOfLaterPlaces(std::int64_t length) {
  return at::full({length, length}, -std::numeric_limits<float>::infinity()).triu(1);
}

class TransformerNetwork : public ModuleNetwork {
 public:
  TransformerNetwork(const TransformerShape& shape, const Form& form)
      : labels_places_(form.labels_places),
        embedding_(register_module("embedding", torch::nn::Embedding(form.token_count, shape.width))),
        norm_(register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({shape.width})))),
        dropout_(register_module("dropout", torch::nn::Dropout(0.0))),
        layers_(register_module("layers", torch::nn::ModuleList())) {
    for (std::int64_t i = 0; i < shape.layers; ++i) {
      layers_->push_back(
          torch::nn::TransformerEncoderLayer(torch::nn::TransformerEncoderLayerOptions(shape.width, shape.heads)
                                                 .dim_feedforward(4 * shape.width)
                                                 .dropout(0)
                                                 .activation(torch::kGELU)));
    }
    last_ = register_module("last", torch::nn::Linear(shape.width, form.class_count));
  }

  at::Tensor Forward(const at::Tensor& inputs) override {
    const std::int64_t length = inputs.size(1);
    const at::Tensor embedded = embedding_->forward(inputs);
    const at::Tensor places = Places(length, embedded.size(2)).to(embedded.options());
    // LibTorch's layers take places first, samples second.
    at::Tensor hidden = dropout_->forward(norm_->forward(embedded + places)).transpose(0, 1);
    const at::Tensor mask = labels_places_ ? MaskOfLaterPlaces(length).to(embedded.options()) : at::Tensor();
    const at::Tensor is_padding = labels_places_ ? at::Tensor() : inputs.eq(kPaddingToken);
    for (std::size_t i = 0; i < layers_->size(); ++i) hidden = LayerAt(i).forward(hidden, mask, is_padding);
    return last_->forward(labels_places_ ? hidden.transpose(0, 1) : hidden[0]);
  }

  void Setup(const HyperParameterValues& changed_values) override {
    double dropout = dropout_->options.p();
    TakeOver(changed_values, "dropout", dropout);
    BelowOne("dropout", dropout);
    dropout_->options.p(dropout);
    for (std::size_t i = 0; i < layers_->size(); ++i) {
      torch::nn::TransformerEncoderLayerImpl& layer = LayerAt(i);
      for (torch::nn::Dropout* each : {&layer.dropout, &layer.dropout1, &layer.dropout2}) (*each)->options.p(dropout);
      layer.self_attn->options.dropout(dropout);
    }
  }

 private:
  torch::nn::TransformerEncoderLayerImpl& LayerAt(std::size_t i) {
    return layers_->at<torch::nn::TransformerEncoderLayerImpl>(i);
  }

  const bool labels_places_;
  torch::nn::Embedding embedding_;
  torch::nn::LayerNorm norm_;
  torch::nn::Dropout dropout_;
  torch::nn::ModuleList layers_;
  torch::nn::Linear last_{nullptr};
};

std::unique_ptr<Network> MakeTransformer(const HyperParameterValues& values, const Form& form) {
  const TransformerShape shape{.layers = AtLeast(1, "layers", ValueOf<std::int64_t>(values, "layers")),
                               .width = AtLeast(2, "width", ValueOf<std::int64_t>(values, "width")),
                               .heads = AtLeast(1, "heads", ValueOf<std::int64_t>(values, "heads"))};
  if (shape.width % 2 != 0) Refuse("width", "an even number", std::to_string(shape.width));
  if (shape.width % shape.heads != 0) {
    Refuse("heads", "a divisor of the width, " + std::to_string(shape.width), std::to_string(shape.heads));
  }
  return std::make_unique<TransformerNetwork>(shape, form);
}

}  // namespace

NetworkKind Transformer() {
  return {.name = "transformer",
          .version = "transformer-1",
          .takes = {DataKind::kText, DataKind::kLabeledLines},
          .hyper_parameters = {{.name = "dropout", .default_value = 0.1},
                               {.name = "heads", .default_value = std::int64_t{4}, .initial = true},
                               {.name = "layers", .default_value = std::int64_t{2}, .initial = true},
                               {.name = "width", .default_value = std::int64_t{64}, .initial = true}},
          .batch_size = 32,
          .optimizer = {.kind = "adamw", .learning_rate = 0.001, .weight_decay = 0.01},
          .make = MakeTransformer};
}

}  // namespace espalier::trainer
