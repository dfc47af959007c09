#include "base/processor.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <fstream>

namespace espalier {
namespace {

constexpr std::array kLabels{"vendor_id", "cpu family", "model", "CPU implementer", "CPU part"};

}  // namespace

std::string AsWord(std::string text) {
  const auto is_space = [](unsigned char letter) { return std::isspace(letter) != 0; };
  text.erase(text.begin(), std::ranges::find_if_not(text, is_space));
  while (!text.empty() && is_space(static_cast<unsigned char>(text.back()))) text.pop_back();
  std::ranges::transform(text, text.begin(),
                         [&](unsigned char letter) { return is_space(letter) ? '-' : std::tolower(letter); });
  return text;
}

std::string ProcessorIn(std::istream& description) {
  std::string word;
  for (std::string line; std::getline(description, line) && !line.empty();) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || colon + 2 >= line.size()) continue;
    const std::string label = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    if (std::ranges::find(kLabels, label) == kLabels.end()) continue;
    word += (word.empty() ? "" : "-") + AsWord(line.substr(colon + 2));
  }
  return word;
}

std::string Processor() {
  if (const char* said = std::getenv(kProcessorVariable)) return AsWord(said);
  std::ifstream description("/proc/cpuinfo");
  return ProcessorIn(description);
}

}  // namespace espalier
