// Images as they are trained on, changed at random: shifted, mirrored, with a hole. What is random about an image
// follows from its place in the training (draws.h); what is switched on or off, or changes its size, leaves the rest of
// it as it is.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "worker/trainer/data/draws.h"
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

// Images so changed, the first of which is at that place and the others behind it: what comes into view and what is
// blotted out is 0. Computed by this thread alone. REQUIRES: float32, n x channels x height x width, contiguous.
at::Tensor Augmented(const at::Tensor& images, const Augmentation& augmentation, const SamplePlace& first);

}  // namespace espalier::trainer
