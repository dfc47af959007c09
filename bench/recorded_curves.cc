#include "bench/recorded_curves.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "bench/service.h"

namespace espalier::bench {

std::optional<RecordedCurves> ReadCurves(const std::string& problem) {
  const char* folder = std::getenv("ESPALIER_CURVES");
  if (folder == nullptr) return std::nullopt;
  std::ifstream file(std::string(folder) + "/" + problem + ".csv");
  if (!file) GiveUp("there are no curves of " + problem + " in " + folder);
  RecordedCurves curves;
  std::string line;
  std::getline(file, line);
  curves.table = line + "\n";
  while (std::getline(file, line)) {
    curves.table += line + "\n";
    std::istringstream cells(line);
    std::string step, loss, curve, accuracy;
    std::getline(std::getline(std::getline(std::getline(cells, step, ','), loss, ','), curve, ','), accuracy, ',');
    const std::size_t number = std::stoul(curve);
    if (curves.losses.size() <= number) {
      curves.losses.resize(number + 1);
      curves.accuracies.resize(number + 1);
    }
    curves.losses[number].push_back(std::strtod(loss.c_str(), nullptr));
    curves.accuracies[number].push_back(std::strtod(accuracy.c_str(), nullptr));
  }
  return curves;
}

std::size_t NumberIn(const worker::Values& values, const std::string& name) {
  const auto number = values.find(name);
  return number == values.end() ? 0 : static_cast<std::size_t>(std::get<std::int64_t>(number->second));
}

}  // namespace espalier::bench
