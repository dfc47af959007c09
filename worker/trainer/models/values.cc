#include "worker/trainer/models/values.h"

#include <stdexcept>

namespace espalier::trainer {

void Refuse(const std::string& name, const std::string& expected, const std::string& got) {
  throw std::invalid_argument(name + ": expected " + expected + ", got " + got);
}

std::int64_t AtLeast(std::int64_t least, const std::string& name, std::int64_t value) {
  if (value < least) Refuse(name, "a whole number of at least " + std::to_string(least), std::to_string(value));
  return value;
}

double NotNegative(const std::string& name, double value) {
  if (!(value >= 0)) Refuse(name, "a number of at least 0", std::to_string(value));
  return value;
}

double BelowOne(const std::string& name, double value) {
  if (!(value >= 0 && value < 1)) Refuse(name, "at least 0 and below 1", std::to_string(value));
  return value;
}

}  // namespace espalier::trainer
