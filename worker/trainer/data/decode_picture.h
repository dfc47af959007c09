// Pictures out of PNG and JPEG files: the one place that knows libpng and libjpeg-turbo.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace espalier::trainer {

// What no picture may be wider or higher than.
inline constexpr int kPictureSideMax = 16384;

struct Picture {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> pixels;  // red, green and blue of each, row by row; what is transparent lies on black
};

// Told by its first bytes. Error: kInvalidArgument: it is neither PNG nor JPEG, damaged, or too large; without the
// file's name, which the caller knows.
Result<Picture> DecodePicture(std::string_view bytes);

}  // namespace espalier::trainer
