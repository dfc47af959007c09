#include "bench/figures.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <thread>

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

// The first line of a command's output; empty if it fails.
std::string OutputOf(const char* command) {
  FILE* pipe = popen(command, "r");
  if (pipe == nullptr) return {};
  std::array<char, 200> line{};
  std::string text = std::fgets(line.data(), line.size(), pipe) == nullptr ? "" : line.data();
  pclose(pipe);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
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
         "\n  },\n  \"machine\": " + Quoted(Machine()) +
         ",\n  \"commit\": " + Quoted(OutputOf("git describe --always --dirty 2>/dev/null")) + "\n}\n";
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double Percentile99(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() * 99 / 100];
}

}  // namespace espalier::bench
