// The built-in trainer `transformer`: a small encoder over bytes in the manner of BERT (J. Devlin, M.-W. Chang, K. Lee
// and K. Toutanova, 2018): layers of self-attention and of two linear layers with GELU between, each normalised behind
// its shortcut. Places are told apart by the sines of A. Vaswani et al., "Attention Is All You Need" (2017), section
// 3.5, since texts may become longer on the way. Of lines with a label it tells the class from what stands at their
// beginning; of a text it tells each next byte, and no place sees those behind it. Hyper-parameters: layers, width and
// heads (initial; heads divides width, which is even), dropout, and those of every classifier.
#pragma once

#include "worker/trainer/models/classifier.h"

namespace espalier::trainer {

NetworkKind Transformer();

}  // namespace espalier::trainer
