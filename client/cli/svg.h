// Pieces of pictures: what every SVG document of the command line is made of. Pure.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>

namespace espalier {

// With what XML gives a meaning written so that it stands for itself.
std::string EscapedXml(std::string_view text);

// 1, 2 or 5 times a power of ten, so that there are at most ten ticks from 0 to end.
std::int64_t TickDistance(std::int64_t end);

// A document that stands alone, written element by element.
class SvgDocument {
 public:
  SvgDocument(double width, double height);

  void Text(double x, double y, double size, std::string_view fill, std::string_view text, std::string_view more = "");
  void Line(double x1, double y1, double x2, double y2, std::string_view stroke);

  // For what has no function of its own here.
  std::ostream& out() { return out_; }

  // REQUIRES: called once, nothing is written after it.
  std::string Finish();

 private:
  std::ostringstream out_;
};

}  // namespace espalier
