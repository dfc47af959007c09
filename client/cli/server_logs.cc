// espalier server logs NAME [--lines N] [--follow]
#include <algorithm>
#include <map>
#include <memory>
#include <ostream>
#include <thread>

#include "client/cli/commands.h"
#include "client/cli/server_access.h"
#include "client/json.h"

namespace espalier {
namespace {

struct Options {
  std::string name;
  std::int64_t lines = 0;  // 0: all
  bool follow = false;
};

// Where the last `count` lines begin.
std::size_t BeginOfLastLines(const std::string& text, std::int64_t count) {
  std::size_t begin = text.size();
  for (std::int64_t left = count; begin > 0 && left > 0; --left) {
    begin = begin > 1 ? text.rfind('\n', begin - 2) + 1 : 0;  // npos + 1 is 0
  }
  return begin;
}

// A server's log, read on from where the last reading ended.
class ServerLog {
 public:
  ServerLog(Connection& connection, const std::string& server) : connection_(connection) {
    request_.set_server(server);
  }

  Result<std::vector<v1::ServerLogPiece>> ReadOn() {
    std::vector<v1::ServerLogPiece> pieces;
    while (true) {
      ESPALIER_ASSIGN(const v1::GetServerLogResponse response, connection_.GetServerLog(request_));
      if (response.pieces().empty()) return pieces;
      pieces.insert(pieces.end(), response.pieces().begin(), response.pieces().end());
      request_.set_after(response.next());
    }
  }

  // The pieces' text, and where something between them is not kept.
  std::string TextOf(const std::vector<v1::ServerLogPiece>& pieces) {
    std::string text;
    for (const v1::ServerLogPiece& piece : pieces) {
      const auto [end, is_new] = ends_.try_emplace(piece.incarnation(), 0);
      if (piece.position() > end->second) {
        text += "--- " + FormatBytes(piece.position() - end->second) + " are not kept ---\n";
      }
      end->second = piece.position() + static_cast<std::int64_t>(piece.text().size());
      text += piece.text();
      if (!text.ends_with('\n')) text += '\n';
    }
    return text;
  }

 private:
  Connection& connection_;
  v1::GetServerLogRequest request_;
  std::map<std::string, std::int64_t> ends_;  // by node manager
};

Json ToJson(const v1::ServerLogPiece& piece) {
  return Json::Object({{"incarnation", piece.incarnation()}, {"position", piece.position()}, {"text", piece.text()}});
}

constexpr std::chrono::seconds kPause{1};

Result<void> Show(CommandContext& context, ServerLog& log, const Options& options) {
  ESPALIER_ASSIGN(std::vector<v1::ServerLogPiece> pieces, log.ReadOn());
  if (context.output == OutputFormat::kJson) {
    Json all = Json::Array();
    for (const v1::ServerLogPiece& piece : pieces) all.Append(ToJson(piece));
    PrintJson(context.out, all);
    return {};
  }
  const std::string text = log.TextOf(pieces);
  context.out << (options.lines > 0 ? text.substr(BeginOfLastLines(text, options.lines)) : text) << std::flush;
  while (options.follow) {
    std::this_thread::sleep_for(kPause);
    ESPALIER_ASSIGN(pieces, log.ReadOn());
    context.out << log.TextOf(pieces) << std::flush;
  }
  return {};
}

int Run(CommandContext& context, const Options& options) {
  if (options.follow && context.output == OutputFormat::kJson) {
    context.err << "espalier: --follow prints text, not JSON\n";
    return kExitUsage;
  }
  if (options.lines > 0 && context.output == OutputFormat::kJson) {
    context.err << "espalier: --lines prints text, not JSON\n";
    return kExitUsage;
  }
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  ServerLog log(client->connection(), options.name);
  const Result<void> shown = Show(context, log, options);
  if (!shown.has_value()) return Fail(context, shown.error());
  return kExitDone;
}

}  // namespace

Command ServerLogsCommand(CommandContext& context) {
  const auto options = std::make_shared<Options>();
  Command command{.name = "logs",
                  .help = "What a server's node manager has logged (for administrators): its last 256 KiB, for 30 days",
                  .arguments = {{"NAME", &options->name, "as `espalier server list` shows it"}},
                  .options = {{.name = "--lines",
                               .target = &options->lines,
                               .help = "the last so many lines alone",
                               .placeholder = "N",
                               .at_least = 1},
                              {.name = "--follow", .target = &options->follow, .help = "go on until Ctrl-C"}}};
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  command.run = [&context, options] { return Run(context, *options); };
  return command;
}

}  // namespace espalier
