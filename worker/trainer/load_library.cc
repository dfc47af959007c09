#include "worker/trainer/load_library.h"

#include <dlfcn.h>

#include "worker/trainer/torch_library.h"

namespace espalier::trainer {
namespace {

tl::unexpected<Error> Unloadable(const std::filesystem::path& file, const std::string& why) {
  return MakeError(ErrorCode::kInvalidArgument, "cannot load " + file.string() + ": " + why);
}

}  // namespace

Result<std::vector<TrainerKind>> LoadLibrary(const std::filesystem::path& file, const std::string& digest,
                                             const std::vector<DataSource>& data) {
  // A name without a slash would be looked for elsewhere. It stays for the life of the process.
  void* const library = dlopen(std::filesystem::absolute(file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Unloadable(file, dlerror());
  const auto* const interface = static_cast<const char*>(dlsym(library, "espalier_trainer_interface"));
  auto* const trainers_over = static_cast<TrainersOver* const*>(dlsym(library, "espalier_trainers"));
  if (interface == nullptr || trainers_over == nullptr) {
    return Unloadable(file, "it is no library of trainers: it lacks ESPALIER_TRAINERS(...)");
  }
  if (interface != std::string_view(ESPALIER_TRAINER_INTERFACE)) {
    return Unloadable(file, "it was built for '" + std::string(interface) + "', this worker for '" +
                                ESPALIER_TRAINER_INTERFACE + "'; build it again");
  }
  std::vector<TrainerKind> trainers;
  try {
    trainers = (*trainers_over)(data);
  } catch (const std::exception& error) {
    return Unloadable(file, error.what());
  }
  for (TrainerKind& trainer : trainers) trainer.code_digest += " " + digest;
  return trainers;
}

}  // namespace espalier::trainer
