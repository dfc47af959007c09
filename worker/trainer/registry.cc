#include "worker/trainer/registry.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "worker/trainer/data/data_folder.h"
#include "worker/trainer/data/digits.h"
#include "worker/trainer/models/mlp.h"
#include "worker/trainer/models/mobilenet_v2.h"
#include "worker/trainer/models/resnet.h"
#include "worker/trainer/models/synthetic.h"
#include "worker/trainer/models/transformer.h"

namespace espalier::trainer {
namespace {

std::vector<NetworkKind> Networks() { return {Mlp(), MobileNetV2(), ResNet(), Transformer()}; }

Result<std::vector<DataSource>> FindData(const TrainerChoice& choice) {
  if (choice.data.empty()) return std::vector<DataSource>{Digits()};
  std::vector<DataSource> found;
  FileDigests digests(choice.digest_memory);
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

std::vector<TrainerKind> AllTrainers(const std::vector<DataSource>& data) {
  std::vector<TrainerKind> kinds{Synthetic()};
  for (const NetworkKind& network : Networks()) {
    for (const DataSource& source : data) {
      if (Takes(network, source)) kinds.push_back(Classifier(network, source));
    }
  }
  std::ranges::sort(kinds, {}, [](const TrainerKind& kind) { return std::tie(kind.name, kind.data); });
  return kinds;
}

}  // namespace

Result<std::vector<TrainerKind>> ChooseTrainers(const TrainerChoice& choice) {
  ESPALIER_ASSIGN(const std::vector<DataSource> data, FindData(choice));
  const std::vector<TrainerKind> all = AllTrainers(data);
  if (choice.trainers.empty()) return all;
  for (const std::string& name : choice.trainers) {
    if (std::ranges::find(all, name, &TrainerKind::name) == all.end()) {
      return MakeError(ErrorCode::kInvalidArgument, "no trainer '" + name + "' is built in that takes this data",
                       "--trainer");
    }
  }
  std::vector<TrainerKind> chosen;
  std::ranges::copy_if(all, std::back_inserter(chosen), [&](const TrainerKind& kind) {
    return std::ranges::find(choice.trainers, kind.name) != choice.trainers.end();
  });
  return chosen;
}

}  // namespace espalier::trainer
