#include "worker/trainer/data/data_files.h"

#include "worker/trainer/data/sample_batches.h"
#include "worker/trainer/data/standardise.h"

namespace espalier::trainer {

tl::unexpected<Error> Malformed(const std::filesystem::path& file, const std::string& what) {
  return MakeError(ErrorCode::kInvalidArgument, file.string() + ": " + what);
}

tl::unexpected<Error> Malformed(const std::filesystem::path& file, std::int64_t line, const std::string& what) {
  return MakeError(ErrorCode::kInvalidArgument, file.string() + ":" + std::to_string(line) + ": " + what);
}

std::filesystem::path FindFile(const std::filesystem::path& folder, const std::string& name) {
  for (const char* ending : {"", ".gz"}) {
    if (const std::filesystem::path path = folder / (name + ending); std::filesystem::is_regular_file(path)) {
      return path;
    }
  }
  return {};
}

Result<OpenBatches> ToBatches(LabeledSamples training, LabeledSamples validation, std::int64_t class_count,
                              const std::filesystem::path& validation_file) {
  if (training.inputs.sizes().slice(1) != validation.inputs.sizes().slice(1)) {
    return Malformed(validation_file, "its samples are of another size than those for training");
  }
  const auto data =
      std::make_shared<const Classification>(Standardised(std::move(training), std::move(validation), class_count));
  return [data](std::uint64_t seed) { return MakeSampleBatches(data, seed); };
}

}  // namespace espalier::trainer
