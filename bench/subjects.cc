#include "bench/subjects.h"

#include <cstdlib>

#include "bench/service.h"

namespace espalier::bench {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) GiveUp(std::string("run this bench by bench/run, which sets ") + name);
  return value;
}

// What is trained in Python by the class of that name in the script of ESPALIER_BENCH_TRAINER, which is its bare loop,
// too.
Subject InPython(const std::string& trainer) {
  const std::string script = Environment("ESPALIER_BENCH_TRAINER");
  const std::vector<std::string> python{"env", "PYTHONPATH=" + Environment("ESPALIER_BENCH_PACKAGE"),
                                        "PYTHONHASHSEED=0", Environment("ESPALIER_PYTORCH")};
  Subject subject{.name = "python", .trainer = trainer, .data = "", .runtime = {trainer, python}, .bare_loop = python};
  for (const std::string& word : {std::string("-m"), std::string("espalier.worker"), script + ":" + trainer}) {
    subject.runtime.command.push_back(word);
  }
  subject.bare_loop.push_back(script);
  return subject;
}

}  // namespace

Subject WideInCpp() {
  return {.name = "cpp",
          .trainer = "mlp",
          .data = "digits",
          .runtime = {"built-in", {ProgramBesideThisOne("espalier-worker"), "--trainer", "mlp", "--data", "digits"}},
          .bare_loop = {ProgramBesideThisOne("espalier-bare-loop")}};
}

Subject WideInPython(const std::string& trainer) { return InPython(trainer); }

Subject ResNetInCpp() {
  const std::string data = Environment("ESPALIER_TEST_DATA") + "/cifar10-subset";
  return {.name = "cpp",
          .trainer = "resnet",
          .data = data,
          .runtime = {"built-in", {ProgramBesideThisOne("espalier-worker"), "--trainer", "resnet", "--data", data}},
          .bare_loop = {}};
}

Subject ResNetInPython() { return InPython("OnGpu"); }

}  // namespace espalier::bench
