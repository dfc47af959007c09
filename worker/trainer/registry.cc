#include "worker/trainer/registry.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>

#include "worker/trainer/data/data_folder.h"
#include "worker/trainer/data/digits.h"
#include "worker/trainer/data/prefetch.h"
#include "worker/trainer/load_library.h"
#include "worker/trainer/models/mlp.h"
#include "worker/trainer/models/mobilenet_v2.h"
#include "worker/trainer/models/resnet.h"
#include "worker/trainer/models/synthetic.h"
#include "worker/trainer/models/torchscript.h"
#include "worker/trainer/models/transformer.h"

namespace espalier::trainer {
namespace {

std::vector<NetworkKind> Networks() { return {Mlp(), MobileNetV2(), ResNet(), Transformer()}; }

Result<std::vector<DataSource>> FindData(const TrainerChoice& choice, FileDigests& digests) {
  if (choice.data.empty()) return std::vector<DataSource>{Digits()};
  std::vector<DataSource> found;
  for (const std::string& name : std::set(choice.data.begin(), choice.data.end())) {
    if (name == "digits") {
      found.push_back(Digits());
      continue;
    }
    auto source = FindDataFolder(name, name, digests);
    if (!source.has_value()) return InField("--data", source.error());
    found.push_back(*std::move(source));
  }
  return found;
}

std::vector<TrainerKind> OverData(const NetworkKind& network, const std::vector<DataSource>& data) {
  std::vector<TrainerKind> kinds;
  for (const DataSource& source : data) {
    if (Takes(network, source)) kinds.push_back(Classifier(network, source));
  }
  return kinds;
}

std::vector<TrainerKind> BuiltIn(const std::vector<DataSource>& data) {
  std::vector<TrainerKind> kinds{Synthetic()};
  for (const NetworkKind& network : Networks()) std::ranges::move(OverData(network, data), std::back_inserter(kinds));
  return kinds;
}

bool IsScript(const std::string& name) { return name.ends_with(".pt"); }
bool IsLibrary(const std::string& name) { return name.ends_with(".so"); }

// Those of one choice: a file, or the name of one that is built in.
Result<std::vector<TrainerKind>> Chosen(const std::string& name, const std::vector<DataSource>& data,
                                        FileDigests& digests) {
  if (IsScript(name) || IsLibrary(name)) {
    ESPALIER_ASSIGN(const std::string digest, digests.Of(name));
    if (IsLibrary(name)) return LoadLibrary(name, digest, data);
    const std::filesystem::path file = std::filesystem::absolute(name);
    return OverData(TorchScript(file.stem().string(), file, digest), data);
  }
  std::vector<TrainerKind> kinds = BuiltIn(data);
  std::erase_if(kinds, [&](const TrainerKind& kind) { return kind.name != name; });
  if (!kinds.empty()) return kinds;
  return MakeError(ErrorCode::kInvalidArgument, "no trainer '" + name + "' is built in that takes this data");
}

}  // namespace

Result<std::vector<TrainerKind>> ChooseTrainers(const TrainerChoice& choice) {
  FileDigests digests(choice.digest_memory);
  ESPALIER_ASSIGN(std::vector<DataSource> data, FindData(choice, digests));
  for (DataSource& source : data) source = Prefetched(std::move(source), choice.prefetch);
  std::vector<TrainerKind> kinds = choice.trainers.empty() ? BuiltIn(data) : std::vector<TrainerKind>();
  for (const std::string& name : std::set(choice.trainers.begin(), choice.trainers.end())) {
    auto chosen = Chosen(name, data, digests);
    if (!chosen.has_value()) return InField("--trainer", chosen.error());
    std::ranges::move(*chosen, std::back_inserter(kinds));
  }
  const auto name_and_data = [](const TrainerKind& kind) { return std::tie(kind.name, kind.data); };
  std::ranges::sort(kinds, {}, name_and_data);
  const auto twice = std::ranges::adjacent_find(kinds, {}, name_and_data);
  if (twice == kinds.end()) return kinds;
  return MakeError(ErrorCode::kInvalidArgument, "there are two trainers '" + twice->name + "'; rename one's file",
                   "--trainer");
}

}  // namespace espalier::trainer
