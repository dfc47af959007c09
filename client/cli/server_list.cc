// espalier server list
#include <algorithm>

#include "base/clock.h"
#include "client/cli/bill_output.h"
#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/master_text.h"
#include "client/cli/server_access.h"

namespace espalier {
namespace {

const char* StateOf(const v1::Server& server) {
  if (!server.connected()) return "away";
  if (!server.draining()) return "connected";
  return server.run_count() > 0 ? "draining" : "drained";
}

Json DrainOf(const v1::Server& server) {
  if (!server.has_drain()) return nullptr;
  return Json::Object({{"by", server.drain().user()},
                       {"why", server.drain().why().empty() ? Json(nullptr) : Json(server.drain().why())},
                       {"since", SecondsOf(server.drain().since())}});
}

// Why it takes no runs.
std::string PrintDrain(const v1::Server& server) {
  if (!server.has_drain()) return server.name() + " is being stopped";
  const double seconds = std::chrono::duration<double>(Now().time_since_epoch()).count();
  std::string text = server.name() + " is drained by " + server.drain().user() + ", for " +
                     FormatDuration(std::max(0.0, seconds - SecondsOf(server.drain().since())));
  if (!server.drain().why().empty()) text += ": " + server.drain().why();
  return text;
}

std::string_view NameOf(v1::DeviceType type) { return type == v1::DEVICE_TYPE_GPU ? "gpu" : "cores"; }

// What is not known is null.
Json Known(std::int64_t count) { return count == 0 ? Json(nullptr) : Json(count); }

Json DevicesOf(const v1::Server& server) {
  Json devices = Json::Array();
  for (const v1::Device& device : server.devices()) {
    devices.Append(Json::Object({{"name", device.name()},
                                 {"type", NameOf(device.type())},
                                 {"slots", device.slot_count()},
                                 {"memory_bytes", Known(device.memory_bytes())},
                                 {"cores", Known(device.host_cores())}}));
  }
  return devices;
}

// "gpu-0 (2 slots, 16.0 GiB)"
std::string PrintDevice(const v1::Device& device) {
  std::string text = device.name() + " (" + std::to_string(device.slot_count());
  text += device.slot_count() == 1 ? " slot" : " slots";
  if (device.memory_bytes() > 0) text += ", " + FormatBytes(device.memory_bytes());
  return text + ")";
}

int Run(CommandContext& context) {
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  const Result<v1::ListServersResponse> response = client->connection().ListServers({});
  if (!response.has_value()) return Fail(context, response.error());
  if (context.output == OutputFormat::kJson) {
    Json servers = Json::Array();
    for (const v1::Server& server : response->servers()) {
      servers.Append(Json::Object({{"name", server.name()},
                                   {"connected", server.connected()},
                                   {"state", StateOf(server)},
                                   {"draining", server.draining()},
                                   {"drain", DrainOf(server)},
                                   {"trouble", server.trouble().empty() ? Json(nullptr) : Json(server.trouble())},
                                   {"slots", server.slot_count()},
                                   {"busy_slots", server.busy_slot_count()},
                                   {"devices", DevicesOf(server)},
                                   {"host_cores", Known(server.host_cores())},
                                   {"host_memory_bytes", Known(server.host_memory_bytes())},
                                   {"runs_under_way", server.run_count()},
                                   {"device_kinds", Json::ArrayOf(server.device_kinds())},
                                   {"running_runs", Json::ArrayOf(server.running_run_ids())}}));
    }
    PrintJson(context.out, servers);
    return kExitDone;
  }
  const auto joined = [](const auto& texts) {
    std::string text;
    for (const std::string& each : texts) text += (text.empty() ? "" : "; ") + each;
    return text;
  };
  Table table({"name", "state", "slots", "busy", "devices", "device kinds"});
  for (const v1::Server& server : response->servers()) {
    std::vector<std::string> devices;
    for (const v1::Device& device : server.devices()) devices.push_back(PrintDevice(device));
    table.AddRow({server.name(), StateOf(server), std::to_string(server.slot_count()),
                  std::to_string(server.busy_slot_count()), joined(devices), joined(server.device_kinds())});
  }
  table.Print(context.out);
  for (const v1::Server& server : response->servers()) {
    if (server.draining()) context.out << PrintDrain(server) << '\n';
    if (!server.trouble().empty()) context.out << "warning: " << server.name() << ": " << server.trouble() << '\n';
  }
  if (const auto master = client->connection().GetMaster({}); master.has_value()) {
    context.out << "led by the master on " << PrintMaster(*master) << '\n';
  }
  PrintBill(context.out, *response);
  return kExitDone;
}

}  // namespace

Command ServerListCommand(CommandContext& context) {
  Command command{.name = "list", .help = "The servers, their slots and what runs on them"};
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  command.run = [&context] { return Run(context); };
  return command;
}

}  // namespace espalier
