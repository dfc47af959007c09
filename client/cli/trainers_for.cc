#include "client/cli/trainers_for.h"

#include <ostream>

#include "client/cli/server_access.h"
#include "client/describe_trainer.h"

namespace espalier {

Result<std::vector<v1::TrainerDescription>> TrainersFor(CommandContext& context, Connection& connection,
                                                        StudyFile& file) {
  file.specification.described = true;
  if (!file.code) return RegisteredTrainers(connection);
  const auto say = [&](const std::string& waiting) { context.err << waiting << std::endl; };
  return DescribeTrainer(connection, *file.code, file.specification, say);
}

int FailTrainer(CommandContext& context, const StudyFile& file, const Error& error) {
  if (error.code == ErrorCode::kInvalidArgument) return FailFile(context, AtField(file, error));
  return Fail(context, error);
}

}  // namespace espalier
