#include "worker/node/config.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <thread>

#include "base/token.h"
#include "espalier/config/v1/node_manager.pb.h"
#include "proto/config_file.h"

namespace espalier::node {
namespace {

constexpr std::size_t kNameBytesMax = 64;

bool NamesAFile(const std::string& name) {
  const auto is_plain = [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '-' || letter == '_' || letter == '.';
  };
  return !name.empty() && name.size() <= kNameBytesMax && std::all_of(name.begin(), name.end(), is_plain);
}

Result<std::vector<RuntimeProgram>> RuntimesOf(const config::v1::NodeManager& proto) {
  if (proto.runtimes().empty()) return MakeError(ErrorCode::kInvalidArgument, "at least one is required", "runtimes");
  std::vector<RuntimeProgram> runtimes;
  std::set<std::string> names;
  for (const config::v1::Runtime& runtime : proto.runtimes()) {
    if (!NamesAFile(runtime.name())) {
      return MakeError(ErrorCode::kInvalidArgument,
                       "expected 1 to 64 letters, digits, '-', '_' and '.', got '" + runtime.name() + "'",
                       "runtimes.name");
    }
    if (!names.insert(runtime.name()).second) {
      return MakeError(ErrorCode::kInvalidArgument, "'" + runtime.name() + "' is there twice", "runtimes.name");
    }
    if (runtime.command().empty()) return MakeError(ErrorCode::kInvalidArgument, "is required", "runtimes.command");
    runtimes.push_back({runtime.name(), {runtime.command().begin(), runtime.command().end()}});
  }
  return runtimes;
}

Result<void> CheckSlots(int slots, const char* field) {
  if (slots >= 0 && slots <= kDeviceSlotsMax) return {};
  return MakeError(ErrorCode::kInvalidArgument,
                   "expected 0 to " + std::to_string(kDeviceSlotsMax) + ", got " + std::to_string(slots), field);
}

// `index`: by which it is called if it has no name.
Result<LocalDevice> DeviceOf(const config::v1::Device& proto, int index) {
  const auto negative = [](const char* field) {
    return MakeError(ErrorCode::kInvalidArgument, "must not be negative", std::string("devices.") + field);
  };
  ESPALIER_RETURN_IF_ERROR(CheckSlots(proto.slots(), "devices.slots"));
  if (proto.threads() < 0) return negative("threads");
  if (proto.memory_bytes() < 0) return negative("memory_bytes");
  if (proto.gpu_memory_bytes() < 0) return negative("gpu_memory_bytes");
  const int compute = proto.compute_thousandths() == 0 ? kWholeDevice : proto.compute_thousandths();
  if (compute < kWholeDevice || compute > kComputeMax) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "expected " + std::to_string(kWholeDevice) + " to " + std::to_string(kComputeMax) + ", got " +
                         std::to_string(compute),
                     "devices.compute_thousandths");
  }
  LocalDevice device{.capacity = {.name = proto.name(), .slots = std::max(1, proto.slots()), .compute = compute},
                     .gpus = {},
                     .cores = {},
                     .threads = std::max(1, proto.threads()),
                     .memory_bytes = proto.memory_bytes()};
  Device& capacity = device.capacity;
  if (proto.has_gpus()) device.gpus = proto.gpus();
  if (!proto.gpus().empty()) capacity.type = DeviceType::kGpu;
  if (capacity.name.empty()) capacity.name = std::string(Name(capacity.type)) + "-" + std::to_string(index);
  if (capacity.type == DeviceType::kCores && proto.gpu_memory_bytes() > 0) {
    return MakeError(ErrorCode::kInvalidArgument, "is of GPUs, and the device names none", "devices.gpu_memory_bytes");
  }
  if (proto.memory_bytes() > kMemoryBytesMax / capacity.slots) {
    return MakeError(ErrorCode::kInvalidArgument, "is more than any server has", "devices.memory_bytes");
  }
  capacity.memory_bytes =
      capacity.type == DeviceType::kGpu ? proto.gpu_memory_bytes() : proto.memory_bytes() * capacity.slots;
  Result<std::vector<int>> cores = ParseCores(proto.cores());
  if (!cores.has_value()) return MakeError(cores.error().code, cores.error().message, "devices.cores");
  device.cores = *std::move(cores);
  capacity.host_cores = static_cast<int>(device.cores.size());
  return device;
}

int CoreCount() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

// Without devices: `slot_count` slots on whatever there is.
Result<std::vector<LocalDevice>> DevicesOf(const config::v1::NodeManager& proto) {
  ESPALIER_RETURN_IF_ERROR(CheckSlots(proto.slot_count(), "slot_count"));
  std::vector<LocalDevice> devices;
  for (const config::v1::Device& each : proto.devices()) {
    ESPALIER_ASSIGN(LocalDevice device, DeviceOf(each, static_cast<int>(devices.size())));
    devices.push_back(std::move(device));
  }
  if (devices.empty()) {
    const int slots = proto.slot_count() > 0 ? proto.slot_count() : std::min(CoreCount(), kDeviceSlotsMax);
    return std::vector<LocalDevice>{{.capacity = {.name = "cores-0", .slots = slots}, .gpus = {}, .cores = {}}};
  }
  ESPALIER_RETURN_IF_ERROR(CheckDevices(CapacitiesOf(devices)));
  const int slot_count = SlotCountOf(CapacitiesOf(devices));
  if (proto.slot_count() > 0 && proto.slot_count() != slot_count) {
    return MakeError(ErrorCode::kInvalidArgument, "the devices have " + std::to_string(slot_count) + " slots",
                     "slot_count");
  }
  return devices;
}

Result<StoreLocation> StoreLocationOf(const std::string& text) {
  Result<StoreLocation> location = ParseStoreLocation(text);
  if (!location.has_value()) location.error().field = "checkpoint_directory";
  return location;
}

Result<UserCodeRules> UserCodeOf(const config::v1::NodeManager& proto) {
  UserCodeRules rules{.kind = UserCode::kNone, .of = {proto.user_code_of().begin(), proto.user_code_of().end()}};
  if (proto.user_code() == config::v1::USER_CODE_LISTED) rules.kind = UserCode::kListed;
  if (proto.user_code() == config::v1::USER_CODE_OWN_JOBS) rules.kind = UserCode::kOwnJobs;
  const bool fits = rules.kind == UserCode::kNone     ? rules.of.empty()
                    : rules.kind == UserCode::kListed ? !rules.of.empty()
                                                      : rules.of.size() == 1;
  if (!fits) {
    return MakeError(
        ErrorCode::kInvalidArgument,
        "expected whose code runs: one user for USER_CODE_OWN_JOBS, one or more for USER_CODE_LISTED, none "
        "for USER_CODE_NONE",
        "user_code_of");
  }
  for (const config::v1::Interpreter& python : proto.pythons()) {
    if (!NamesAFile(python.name())) {
      return MakeError(ErrorCode::kInvalidArgument,
                       "expected 1 to 64 letters, digits, '-', '_' and '.', got '" + python.name() + "'",
                       "pythons.name");
    }
    if (!python.path().starts_with('/')) {
      return MakeError(ErrorCode::kInvalidArgument, "expected an absolute path, got '" + python.path() + "'",
                       "pythons.path");
    }
    rules.pythons.push_back({python.name(), python.path()});
  }
  return rules;
}

}  // namespace

Result<Config> ReadConfig(const std::filesystem::path& file) {
  espalier::config::v1::NodeManager proto;
  ESPALIER_RETURN_IF_ERROR(ReadConfigFile(file, proto));
  ESPALIER_RETURN_IF_ERROR(RequireText(proto.master_address(), "master_address"));
  ESPALIER_RETURN_IF_ERROR(RequireText(proto.server(), "server"));
  ESPALIER_RETURN_IF_ERROR(RequireText(proto.checkpoint_directory(), "checkpoint_directory"));
  ESPALIER_RETURN_IF_ERROR(RequireText(proto.work_directory(), "work_directory"));
  if (proto.warm_workers() < 0) return MakeError(ErrorCode::kInvalidArgument, "must not be negative", "warm_workers");
  if (!(proto.stop_seconds() >= 0))
    return MakeError(ErrorCode::kInvalidArgument, "must not be negative", "stop_seconds");
  Config config;
  config.master_address = proto.master_address();
  config.server = proto.server();
  ESPALIER_ASSIGN(config.devices, DevicesOf(proto));
  config.names_devices = proto.slot_count() > 0 || !proto.devices().empty();
  config.host_cores = std::min(CoreCount(), kHostCoresMax);
  config.host_memory_bytes =
      std::clamp<std::int64_t>(sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE), 0, kMemoryBytesMax);
  ESPALIER_ASSIGN(config.checkpoints, StoreLocationOf(proto.checkpoint_directory()));
  config.work_directory = std::filesystem::absolute(proto.work_directory());
  ESPALIER_ASSIGN(config.runtimes, RuntimesOf(proto));
  if (proto.warm_workers() > 0) config.warm_workers = proto.warm_workers();
  if (proto.staging_bytes() < 0) {
    return MakeError(ErrorCode::kInvalidArgument, "must not be negative", "staging_bytes");
  }
  config.staging_bytes = proto.staging_bytes();
  if (proto.stop_seconds() > 0) config.stop_within = Seconds(proto.stop_seconds());
  ESPALIER_ASSIGN(config.user_code, UserCodeOf(proto));
  config.encryption = {.ca_file = proto.ca_file(),
                       .certificate_file = proto.certificate_file(),
                       .key_file = proto.key_file(),
                       .server_name = proto.server_name(),
                       .plaintext = proto.plaintext()};
  config.metrics_address = proto.metrics_address();
  if (!proto.token_file().empty()) {
    ESPALIER_ASSIGN(config.token, ReadTokenFile(proto.token_file()));
  }
  return config;
}

}  // namespace espalier::node
