// What the benches of whole trainings train: a wide network, whose state is as large as it is made, once in C++ (the
// built-in mlp) and once in Python (wide_mlp.py).
#pragma once

#include <string>
#include <vector>

#include "client/cli/up/config_files.h"

namespace espalier::bench {

struct Subject {
  std::string name;     // "cpp", "python": figures begin so
  std::string trainer;  // as studies name it
  std::string data;
  WorkerRuntime runtime;
  std::vector<std::string> bare_loop;  // the command that takes HIDDEN UPDATES STEPS SEED; empty: there is none
};

Subject InCpp();
// `trainer`: Wide or WideFromInit. Gives up where there is no interpreter with PyTorch.
Subject InPython(const std::string& trainer = "Wide");

}  // namespace espalier::bench
