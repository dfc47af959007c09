// A sequence as a picture: steps to the right, values upwards, its segments parted by dashed lines. Pure.
#pragma once

#include <string>

#include "searchplan/sequence/sequence.h"

namespace espalier {

// An SVG document that stands alone, of the steps [from, to). Of very many steps only some are drawn.
// REQUIRES: 0 <= from < to <= the sequence's horizon.
std::string SequenceSvg(const Sequence& sequence, Step from, Step to, const std::string& title);

}  // namespace espalier
