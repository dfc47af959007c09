#include "proto/convert_trainer_reference.h"

namespace espalier {

v1::TrainerReference ToProto(const TrainerReference& reference) {
  v1::TrainerReference message;
  message.set_entry(reference.entry);
  message.set_archive_sha256(reference.archive);
  message.set_python(reference.python);
  message.set_client_python(reference.client.path);
  message.set_machine(reference.client.machine);
  message.set_uid(reference.client.uid);
  message.set_folder(reference.folder);
  message.mutable_data()->Assign(reference.data.begin(), reference.data.end());
  for (const auto& [name, value] : reference.environment) {
    v1::EnvironmentVariable& variable = *message.add_environment();
    variable.set_name(name);
    variable.set_value(value);
  }
  message.set_data_seen(reference.data_seen);
  message.set_user(reference.user);
  message.set_team(reference.team);
  return message;
}

TrainerReference FromProto(const v1::TrainerReference& message) {
  TrainerReference reference{
      .entry = message.entry(),
      .archive = message.archive_sha256(),
      .python = message.python(),
      .client = {.path = message.client_python(), .machine = message.machine(), .uid = message.uid()},
      .folder = message.folder(),
      .data = {message.data().begin(), message.data().end()},
      .data_seen = message.data_seen(),
      .environment = {},
      .user = message.user(),
      .team = message.team()};
  for (const v1::EnvironmentVariable& variable : message.environment()) {
    reference.environment[variable.name()] = variable.value();
  }
  return reference;
}

}  // namespace espalier
