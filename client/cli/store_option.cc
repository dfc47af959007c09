#include "client/cli/store_option.h"

#include "client/local_service.h"

namespace espalier {

void AddStoreOption(Command& command, std::string& place) {
  command.options.push_back({.name = "--store",
                             .target = &place,
                             .help = "where the checkpoints are: a folder, or gfapi://HOST/VOLUME/PATH (else as "
                                     "`espalier up` has it)",
                             .placeholder = "PLACE"});
}

Result<StoreProgram> FindStore(const CommandContext& context, const std::string& place) {
  if (!place.empty()) return StoreProgram(place);
  ESPALIER_ASSIGN(std::string own, StorePlaceOf(context.data_directory, "--store"));
  return StoreProgram(std::move(own));
}

}  // namespace espalier
