#include "worker/trainer/models/mobilenet_v2.h"

#include <torch/nn/functional/activation.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "worker/trainer/data/batches.h"
#include "worker/trainer/models/network.h"
#include "worker/trainer/models/values.h"

namespace espalier::trainer {
namespace {

// The paper's table 2: blocks of one kind, with the stride of the first.
struct BlockGroup {
  std::int64_t expansion;
  std::int64_t channels;
  std::int64_t count;
  std::int64_t stride;
};
constexpr std::array<BlockGroup, 7> kGroups{
    {{1, 16, 1, 1}, {6, 24, 2, 1}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}}};
constexpr std::int64_t kStemChannels = 32;
constexpr std::int64_t kLastChannels = 1280;

// The multiple of 8 nearest to channels * width, but at least 8 and nine tenths of it.
std::int64_t Widened(std::int64_t channels, double width) {
  const double wanted = static_cast<double>(channels) * width;
  const std::int64_t nearest = std::max<std::int64_t>(8, static_cast<std::int64_t>(wanted + 4) / 8 * 8);
  return static_cast<double>(nearest) < 0.9 * wanted ? nearest + 8 : nearest;
}

// A convolution, its normalisation and, unless it is a bottleneck, ReLU6.
class ConvUnit : public torch::nn::Module {
 public:
  ConvUnit(const torch::nn::Conv2dOptions& options, bool is_bottleneck)
      : is_bottleneck_(is_bottleneck),
        conv_(register_module("conv", torch::nn::Conv2d(options))),
        norm_(register_module("norm", torch::nn::BatchNorm2d(options.out_channels()))) {
    torch::nn::init::kaiming_normal_(conv_->weight, 0, torch::kFanOut, torch::kReLU);
  }

  at::Tensor forward(const at::Tensor& input) {
    const at::Tensor output = norm_->forward(conv_->forward(input));
    return is_bottleneck_ ? output : torch::nn::functional::relu6(output);
  }

 private:
  const bool is_bottleneck_;
  torch::nn::Conv2d conv_;
  torch::nn::BatchNorm2d norm_;
};

ConvUnit Pointwise(std::int64_t from, std::int64_t to, bool is_bottleneck = false) {
  return {torch::nn::Conv2dOptions(from, to, 1).bias(false), is_bottleneck};
}

ConvUnit Depthwise(std::int64_t channels, std::int64_t stride) {
  return {torch::nn::Conv2dOptions(channels, channels, 3).stride(stride).padding(1).groups(channels).bias(false),
          false};
}

// Widens, filters each channel by itself, narrows; beside a shortcut where the shape stays.
class InvertedResidual : public torch::nn::Module {
 public:
  InvertedResidual(std::int64_t from, std::int64_t to, std::int64_t stride, std::int64_t expansion)
      : has_shortcut_(stride == 1 && from == to) {
    const std::int64_t inner = from * expansion;
    if (expansion != 1) units_->push_back(Pointwise(from, inner));
    units_->push_back(Depthwise(inner, stride));
    units_->push_back(Pointwise(inner, to, /*is_bottleneck=*/true));
    register_module("units", units_);
  }

  at::Tensor forward(const at::Tensor& input) {
    const at::Tensor output = units_->forward(input);
    return has_shortcut_ ? input + output : output;
  }

 private:
  const bool has_shortcut_;
  torch::nn::Sequential units_;
};

class MobileNetV2Network : public ModuleNetwork {
 public:
  MobileNetV2Network(double width, std::int64_t image_channels, std::int64_t class_count) {
    std::int64_t channels = Widened(kStemChannels, width);
    features_->push_back(ConvUnit(torch::nn::Conv2dOptions(image_channels, channels, 3).padding(1).bias(false), false));
    for (const BlockGroup& group : kGroups) {
      const std::int64_t to = Widened(group.channels, width);
      for (std::int64_t i = 0; i < group.count; ++i) {
        features_->push_back(InvertedResidual(channels, to, i == 0 ? group.stride : 1, group.expansion));
        channels = to;
      }
    }
    const std::int64_t last_channels = Widened(kLastChannels, std::max(1.0, width));
    features_->push_back(Pointwise(channels, last_channels));
    register_module("features", features_);
    last_ = register_module("last", torch::nn::Linear(last_channels, class_count));
    torch::nn::init::normal_(last_->weight, 0, 0.01);
    torch::nn::init::zeros_(last_->bias);
  }

  at::Tensor Forward(const at::Tensor& inputs) override {
    const at::Tensor features = features_->forward(inputs).mean({2, 3});
    // Without dropout nothing is drawn from the random generator.
    return last_->forward(dropout_ > 0 && is_training() ? torch::dropout(features, dropout_, true) : features);
  }

  void Setup(const HyperParameterValues& changed_values) override {
    TakeOver(changed_values, "dropout", dropout_);
    BelowOne("dropout", dropout_);
  }

 private:
  torch::nn::Sequential features_;
  torch::nn::Linear last_{nullptr};
  double dropout_ = 0;
};

std::unique_ptr<Network> MakeMobileNetV2(const HyperParameterValues& values, const Form& form) {
  const auto width = ValueOf<double>(values, "width");
  if (!(width > 0 && width <= 16)) Refuse("width", "a number above 0, at most 16", std::to_string(width));
  return std::make_unique<MobileNetV2Network>(width, form.input_shape.front(), form.class_count);
}

}  // namespace

NetworkKind MobileNetV2() {
  return {.name = "mobilenet_v2",
          .version = "mobilenet_v2-1",
          .takes = {DataKind::kImages},
          .hyper_parameters = {{.name = "dropout", .default_value = 0.0},
                               {.name = "width", .default_value = 1.0, .initial = true}},
          .batch_size = 128,
          .optimizer = {.learning_rate = 0.05, .weight_decay = 4e-5, .momentum = 0.9},
          .make = MakeMobileNetV2};
}

}  // namespace espalier::trainer
