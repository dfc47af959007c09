#include "worker/trainer/models/resnet.h"

#include <ATen/ops/constant_pad_nd.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include "worker/trainer/data/batches.h"
#include "worker/trainer/models/network.h"
#include "worker/trainer/models/values.h"

namespace espalier::trainer {
namespace {

constexpr std::int64_t kFirstChannels = 16;

torch::nn::Conv2d Conv3x3(std::int64_t from, std::int64_t to, std::int64_t stride) {
  torch::nn::Conv2d conv(torch::nn::Conv2dOptions(from, to, 3).stride(stride).padding(1).bias(false));
  torch::nn::init::kaiming_normal_(conv->weight, 0, torch::kFanOut, torch::kReLU);
  return conv;
}

// Two convolutions beside a shortcut, which leaves out pixels and adds empty channels where their number doubles.
class BasicBlock : public torch::nn::Module {
 public:
  BasicBlock(std::int64_t from, std::int64_t to)
      : stride_(from == to ? 1 : 2),
        added_channels_(to - from),
        conv1_(register_module("conv1", Conv3x3(from, to, stride_))),
        bn1_(register_module("bn1", torch::nn::BatchNorm2d(to))),
        conv2_(register_module("conv2", Conv3x3(to, to, 1))),
        bn2_(register_module("bn2", torch::nn::BatchNorm2d(to))) {}

  at::Tensor forward(const at::Tensor& input) {
    const at::Tensor inner = torch::relu(bn1_->forward(conv1_->forward(input)));
    return torch::relu(bn2_->forward(conv2_->forward(inner)) + Shortcut(input));
  }

 private:
  at::Tensor Shortcut(const at::Tensor& input) const {
    if (added_channels_ == 0) return input;
    const at::Tensor fewer = input.slice(2, 0, {}, 2).slice(3, 0, {}, 2);
    return at::constant_pad_nd(fewer, {0, 0, 0, 0, added_channels_ / 2, added_channels_ / 2});
  }

  const std::int64_t stride_;
  const std::int64_t added_channels_;
  torch::nn::Conv2d conv1_;
  torch::nn::BatchNorm2d bn1_;
  torch::nn::Conv2d conv2_;
  torch::nn::BatchNorm2d bn2_;
};

class ResNetNetwork : public ModuleNetwork {
 public:
  ResNetNetwork(std::int64_t blocks_per_stage, std::int64_t image_channels, std::int64_t class_count)
      : conv1_(register_module("conv1", Conv3x3(image_channels, kFirstChannels, 1))),
        bn1_(register_module("bn1", torch::nn::BatchNorm2d(kFirstChannels))) {
    std::int64_t channels = kFirstChannels;
    for (const std::int64_t to : {kFirstChannels, 2 * kFirstChannels, 4 * kFirstChannels}) {
      for (std::int64_t i = 0; i < blocks_per_stage; ++i) {
        blocks_->push_back(BasicBlock(channels, to));
        channels = to;
      }
    }
    register_module("blocks", blocks_);
    last_ = register_module("last", torch::nn::Linear(channels, class_count));
  }

  at::Tensor Forward(const at::Tensor& inputs) override {
    const at::Tensor features = blocks_->forward(torch::relu(bn1_->forward(conv1_->forward(inputs))));
    return last_->forward(features.mean({2, 3}));
  }

 private:
  torch::nn::Conv2d conv1_;
  torch::nn::BatchNorm2d bn1_;
  torch::nn::Sequential blocks_;
  torch::nn::Linear last_{nullptr};
};

std::unique_ptr<Network> MakeResNet(const HyperParameterValues& values, const Form& form) {
  const auto depth = ValueOf<std::int64_t>(values, "depth");
  if (depth < 8 || depth % 6 != 2) Refuse("depth", "6n + 2 with n of at least 1", std::to_string(depth));
  return std::make_unique<ResNetNetwork>((depth - 2) / 6, form.input_shape.front(), form.class_count);
}

}  // namespace

NetworkKind ResNet() {
  return {.name = "resnet",
          .version = "resnet-1",
          .takes = {DataKind::kImages},
          .hyper_parameters = {{.name = "depth", .default_value = std::int64_t{20}, .initial = true}},
          .batch_size = 128,
          .optimizer = {.learning_rate = 0.1, .weight_decay = 1e-4, .momentum = 0.9},
          .make = MakeResNet};
}

}  // namespace espalier::trainer
