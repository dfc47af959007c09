// What trainers do with the values of hyper-parameters: take over those that are given, refuse those that cannot be.
#pragma once

#include <cstdint>
#include <string>

#include "worker/trainer/trainer.h"

namespace espalier::trainer {

// Throws std::invalid_argument: "NAME: expected EXPECTED, got GOT".
[[noreturn]] void Refuse(const std::string& name, const std::string& expected, const std::string& got);

// Each throws as Refuse does if the value is not as the function's name says, and else returns it.
std::int64_t AtLeast(std::int64_t least, const std::string& name, std::int64_t value);
double NotNegative(const std::string& name, double value);
double BelowOne(const std::string& name, double value);  // and at least 0

// Sets `target` to the value of that name, where there is one. Throws std::bad_variant_access if it has another type.
template <class T>
void TakeOver(const HyperParameterValues& values, const std::string& name, T& target) {
  if (const auto it = values.find(name); it != values.end()) target = std::get<T>(it->second);
}

// The value of that name. Throws std::out_of_range if there is none, std::bad_variant_access if it has another type.
template <class T>
T ValueOf(const HyperParameterValues& values, const std::string& name) {
  return std::get<T>(values.at(name));
}

}  // namespace espalier::trainer
