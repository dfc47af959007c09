// What the benches of whole trainings train, each once in C++ (a built-in trainer) and once in Python: a wide network,
// whose state is as large as it is made (mlp, wide_mlp.py), and a residual one on images (resnet, resnet.py).
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
  std::vector<std::string> bare_loop;  // the command that trains without a worker; its arguments are missing
};

// Each gives up where there is no interpreter with PyTorch, or no data. A bare loop takes HIDDEN UPDATES STEPS SEED.
Subject WideInCpp();
// `trainer`: Wide or WideFromInit.
Subject WideInPython(const std::string& trainer = "Wide");
// It has no bare loop.
Subject ResNetInCpp();
// Its bare loop takes HOW DEPTH UPDATES STEPS.
Subject ResNetInPython();

}  // namespace espalier::bench
