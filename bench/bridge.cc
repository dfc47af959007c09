// Optuna's trials on this service, through the Python package, beside Optuna alone.
#include <sstream>

#include "bench/benches.h"
#include "bench/output_of.h"
#include "bench/service.h"

namespace espalier::bench {

void RunBridge(Figures& figures, Size size) {
  Service service;
  service.StartNodeManager(1);
  const std::string printed = OutputOfScript("ESPALIER_BRIDGE_PYTHON", "ESPALIER_BRIDGE_SCRIPT",
                                             {service.address(), std::to_string(size.Of(400, 20))});
  std::istringstream numbers(printed);
  double alone_p50 = 0;
  double alone_p95 = 0;
  double bridged_p50 = 0;
  double bridged_p95 = 0;
  if (!(numbers >> alone_p50 >> alone_p95 >> bridged_p50 >> bridged_p95)) GiveUp("not understood: " + printed);
  figures.Add("optuna_alone_ms_p50", alone_p50);
  figures.Add("optuna_alone_ms_p95", alone_p95);
  figures.Add("bridged_ms_p50", bridged_p50);
  figures.Add("bridged_ms_p95", bridged_p95);
  figures.Add("bridge_ms_more_p95", bridged_p95 - alone_p95, "<= 5");
}

}  // namespace espalier::bench
