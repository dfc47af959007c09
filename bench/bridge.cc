// Optuna's trials on this service, through the Python package, beside Optuna alone.
#include <cstdlib>
#include <sstream>

#include "bench/benches.h"
#include "bench/output_of.h"
#include "bench/service.h"

namespace espalier::bench {

void RunBridge(Figures& figures, Size size) {
  const char* const python = std::getenv("ESPALIER_BRIDGE_PYTHON");
  const char* const script = std::getenv("ESPALIER_BRIDGE_SCRIPT");
  if (python == nullptr || script == nullptr) GiveUp("run this bench by bench/run: it installs what it needs");
  Service service;
  service.StartMaster();
  service.StartNodeManager(1);
  const auto printed = OutputOf({python, script, service.address(), std::to_string(size.Of(400, 20))});
  if (!printed) GiveUp(std::string(script) + " failed");
  std::istringstream numbers(*printed);
  double alone_p50 = 0;
  double alone_p95 = 0;
  double bridged_p50 = 0;
  double bridged_p95 = 0;
  if (!(numbers >> alone_p50 >> alone_p95 >> bridged_p50 >> bridged_p95)) GiveUp("not understood: " + *printed);
  figures.Add("optuna_alone_ms_p50", alone_p50);
  figures.Add("optuna_alone_ms_p95", alone_p95);
  figures.Add("bridged_ms_p50", bridged_p50);
  figures.Add("bridged_ms_p95", bridged_p95);
  figures.Add("bridge_ms_more_p95", bridged_p95 - alone_p95, "<= 5");
}

}  // namespace espalier::bench
