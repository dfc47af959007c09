#include "bench/figures.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iostream>
#include <numeric>
#include <thread>

#include "bench/output_of.h"

namespace espalier::bench {
namespace {

std::string Text(double value) {
  std::array<char, 40> text{};
  const double rounded = std::abs(value) >= 100 ? std::round(value) : std::round(value * 1000) / 1000;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), rounded).ptr};
}

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string Commit() {
  std::string commit = OutputOf({"git", "describe", "--always", "--dirty"}).value_or("");
  while (!commit.empty() && commit.back() == '\n') commit.pop_back();
  return commit;
}

std::string Machine() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  std::string model = "unknown CPU";
  while (std::getline(file, line)) {
    if (line.starts_with("model name")) model = line.substr(line.find(':') + 2);
  }
  return std::to_string(std::thread::hardware_concurrency()) + " cores, " + model;
}

}  // namespace

void Figures::Add(const std::string& name, double value, const std::string& goal) {
  values_.emplace_back(name, value);
  std::cerr << "  " << name << " = " << Text(value) << (goal.empty() ? "" : "   (to reach: " + goal + ")") << std::endl;
}

std::string Figures::AsJson(const std::string& bench) const {
  std::string figures;
  for (const auto& [name, value] : values_) {
    figures += (figures.empty() ? "\n    " : ",\n    ") + Quoted(name) + ": " + Text(value);
  }
  return "{\n  \"name\": " + Quoted(bench) + ",\n  \"figures\": {" + figures +
         "\n  },\n  \"machine\": " + Quoted(Machine()) + ",\n  \"commit\": " + Quoted(Commit()) + "\n}\n";
}

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double Percentile99(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() * 99 / 100];
}

double StandardError(const std::vector<double>& values) {
  const double mean = Mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const auto count = static_cast<double>(values.size());
  return count < 2 ? 0 : std::sqrt(squares / (count - 1) / count);
}

}  // namespace espalier::bench
