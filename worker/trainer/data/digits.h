// The built-in data set `digits`: 1,797 images of 8x8 pixels (DIGITS.md says where they are from). Every fifth image is
// for validation, the others for training, in the file's order.
#pragma once

#include "worker/trainer/data/data_source.h"

namespace espalier::trainer {

DataSource Digits();

}  // namespace espalier::trainer
