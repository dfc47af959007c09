// espalier checkpoint gc [--remove]
#include <map>
#include <memory>
#include <ostream>

#include "base/clock.h"
#include "client/cli/checkpoint_listing.h"
#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/server_access.h"
#include "client/cli/store_option.h"

namespace espalier {
namespace {

struct Options {
  std::string store;
  std::int64_t older_than_hours = 24;
  bool remove = false;
};

// The store is listed first: what is stored from then on is no matter of this.
Result<std::vector<StoredFile>> OldOrphans(const StoreProgram& store, Connection& connection, Time before) {
  ESPALIER_ASSIGN(const std::vector<StoredFile> files, store.List());
  std::map<std::string, StoredFile> old;
  std::vector<std::string> names;
  for (const StoredFile& file : files) {
    if (file.written_at >= before) continue;
    names.push_back(file.name);
    old.emplace(file.name, file);
  }
  ESPALIER_ASSIGN(const std::vector<std::string> orphans, FindOrphansAmong(connection, names));
  std::vector<StoredFile> found;
  for (const std::string& orphan : orphans) found.push_back(old.at(orphan));
  return found;
}

void Print(CommandContext& context, const Options& options, const std::vector<StoredFile>& orphans) {
  std::int64_t bytes = 0;
  for (const StoredFile& file : orphans) bytes += file.bytes;
  if (context.output == OutputFormat::kJson) {
    Json files = Json::Array();
    for (const StoredFile& file : orphans) files.Append(Json::Object({{"file", file.name}, {"bytes", file.bytes}}));
    return PrintJson(context.out, Json::Object({{"removed", options.remove}, {"bytes", bytes}, {"files", files}}));
  }
  for (const StoredFile& file : orphans) context.out << file.name << ", " << FormatBytes(file.bytes) << '\n';
  context.out << (options.remove ? "removed: " : "would be removed: ")
              << FormatCount(static_cast<std::int64_t>(orphans.size())) << " files that nobody needs, "
              << FormatBytes(bytes) << ", older than " << options.older_than_hours << " hours\n";
  if (!options.remove && !orphans.empty()) context.err << "espalier: nothing was removed; --remove does it\n";
}

int Run(CommandContext& context, const Options& options) {
  const Result<StoreProgram> store = FindStore(context, options.store);
  if (!store.has_value()) return Fail(context, store.error());
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  const Time before = Now() - std::chrono::hours(options.older_than_hours);
  const auto orphans = OldOrphans(*store, client->connection(), before);
  if (!orphans.has_value()) return Fail(context, orphans.error());
  if (options.remove) {
    std::vector<std::string> names;
    for (const StoredFile& file : *orphans) names.push_back(file.name);
    const Result<void> removed = store->Remove(names);
    if (!removed.has_value()) return Fail(context, removed.error());
  }
  Print(context, options, *orphans);
  return kExitDone;
}

}  // namespace

Command CheckpointGcCommand(CommandContext& context) {
  const auto options = std::make_shared<Options>();
  Command command{
      .name = "gc",
      .help = "Find files in the store that nobody needs, left by kills and failures (for administrators)",
      .options = {
          {.name = "--remove", .target = &options->remove, .help = "remove them; without it, only say which they are"},
          {.name = "--older-than",
           .target = &options->older_than_hours,
           .help = "leave alone what was written in the last N hours (24): a server that was lost "
                   "may still report it",
           .placeholder = "HOURS",
           .at_least = 0}}};
  AddStoreOption(command, options->store);
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  command.run = [&context, options] { return Run(context, *options); };
  return command;
}

}  // namespace espalier
