#include "client/cli/svg.h"

namespace espalier {

std::string EscapedXml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::int64_t TickDistance(std::int64_t end) {
  std::int64_t power = 1;
  while (end / power > 100) power *= 10;
  for (const std::int64_t factor : {1, 2, 5}) {
    if (end / (factor * power) <= 10) return factor * power;
  }
  return 10 * power;
}

SvgDocument::SvgDocument(double width, double height) {
  out_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width << ' ' << height << "\" width=\"" << width
       << "\" height=\"" << height << "\" font-family=\"Helvetica, Arial, sans-serif\">\n"
       << "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
}

void SvgDocument::Text(double x, double y, double size, std::string_view fill, std::string_view text,
                       std::string_view more) {
  out_ << "<text x=\"" << x << "\" y=\"" << y << "\" font-size=\"" << size << "\" fill=\"" << fill << "\"" << more
       << ">" << EscapedXml(text) << "</text>\n";
}

void SvgDocument::Line(double x1, double y1, double x2, double y2, std::string_view stroke) {
  out_ << "<line x1=\"" << x1 << "\" y1=\"" << y1 << "\" x2=\"" << x2 << "\" y2=\"" << y2 << "\" stroke=\"" << stroke
       << "\"/>\n";
}

std::string SvgDocument::Finish() {
  out_ << "</svg>\n";
  return out_.str();
}

}  // namespace espalier
