// espalier-node CONFIG_FILE: the node manager of one server. Exit: 0 after SIGTERM, 1 when it cannot start, 2 on bad
// usage.
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "base/failpoint.h"
#include "base/log.h"
#include "proto/channel.h"
#include "worker/node/config.h"
#include "worker/node/gpu_library.h"
#include "worker/node/node_manager.h"
#include "worker/node/node_meter.h"
#include "worker/node/work_directory.h"
#include "worker/store/open_store.h"

namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int Refuse(const espalier::Error& error, int status) {
  std::cerr << "espalier-node: " << (error.field.empty() ? "" : error.field + ": ") << error.message << "\n";
  return status;
}

// Whatever becomes of it is no error: GPUs can be used without being watched. Null: there is no library.
std::unique_ptr<espalier::node::GpuLibrary> OpenGpus(espalier::node::Config& config) {
  using espalier::LogLevel;
  auto library = espalier::node::GpuLibrary::Open();
  if (!library.has_value()) {
    espalier::Log(LogLevel::kInfo, "GPUs are neither found nor watched", {{"reason", library.error().message}});
    return nullptr;
  }
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const auto gpus = espalier::node::VisibleGpus(
      (*library)->Gpus(), visible == nullptr ? std::nullopt : std::optional<std::string>(visible));
  if (config.names_devices || gpus.empty()) return *std::move(library);
  espalier::Log(LogLevel::kInfo, "trains on the GPUs that were found", {{"count", gpus.size()}});
  config.devices = espalier::node::DevicesOf(gpus);
  return *std::move(library);
}

// Before any thread starts, so that all of them leave these signals to the event loop.
void BlockSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT, SIGCHLD}) sigaddset(&signals, number);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 2) {
    std::cerr << "usage: espalier-node CONFIG_FILE\n";
    return 2;
  }
  BlockSignals();
  auto config = espalier::node::ReadConfig(arguments[1]);
  if (!config.has_value()) return Refuse(config.error(), 2);
  const auto master = espalier::OpenChannel(config->master_address, config->encryption);
  if (!master.has_value()) return Refuse(master.error(), 2);
  const auto armed =
      espalier::ArmFailpoints(Environment("ESPALIER_FAILPOINTS"), Environment("ESPALIER_FAILPOINT_MARKER"));
  if (!armed.has_value()) return Refuse(armed.error(), 2);
  espalier::LogTail log(espalier::node::kUnsentLogBytesMax);
  espalier::SetUpLog("node", espalier::LogLevel::kInfo, &log);
  // From then on a folder that is not there is a store that is away: something that is not mounted, say.
  if (!espalier::node::WorkDirectory::IsSetUp(config->work_directory)) {
    const auto created = espalier::CreateStore(config->checkpoints);
    if (!created.has_value()) return Refuse(created.error(), 1);
  }
  auto directory = espalier::node::WorkDirectory::Open(config->work_directory);
  if (!directory.has_value()) return Refuse(directory.error(), 1);
  if (config->staging_bytes == 0) {
    // On a full disk nothing but a state at a time, not any number.
    config->staging_bytes = std::max<std::int64_t>(1, directory->FreeBytes() / 2);
  }
  const auto store = espalier::OpenStore(config->checkpoints, directory->fetched());
  std::unique_ptr<espalier::node::NodeMeter> meter;
  if (!config->metrics_address.empty()) {
    auto opened = espalier::node::NodeMeter::Open(config->metrics_address);
    if (!opened.has_value()) return Refuse(opened.error(), 2);
    meter = *std::move(opened);
  }
  auto gpus = OpenGpus(*config);
  espalier::node::NodeManager(*config, *master, *directory, *store, std::move(gpus), log, meter.get()).Run();
  return 0;
}
