// Images as they are trained on, changed at random: shifted, mirrored, with a hole. All chance comes from LibTorch's
// generator, which is part of a training's state; what is switched off draws nothing.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "worker/trainer/trainer.h"

namespace espalier::trainer {

struct Augmentation {
  std::int64_t crop = 0;    // each image is moved by up to so many pixels, to each side alike
  bool flip = false;        // half of the images are mirrored, left to right
  std::int64_t cutout = 0;  // the side of a square that is blotted out around a place of the image, up to its borders
                            // (T. DeVries and G. W. Taylor, "Improved Regularization of Convolutional Neural Networks
                            // with Cutout", 2017)
};

// As hyper-parameters, all sequences: crop, cutout, flip. By default nothing is changed.
std::vector<DeclaredHyperParameter> DeclareAugmentation();

// Takes over those that are given. Throws std::invalid_argument, naming the hyper-parameter, for a negative number.
void TakeOver(const HyperParameterValues& values, Augmentation& augmentation);

// Images (n x channels x height x width) so changed: what comes into view and what is blotted out is 0.
at::Tensor Augmented(const at::Tensor& images, const Augmentation& augmentation);

}  // namespace espalier::trainer
