// espalier trial logs TRIAL [--follow]
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
  std::int64_t trial = 0;
  bool follow = false;
};

// What a trial's runs have printed, read on from where the last reading ended.
class Printed {
 public:
  Printed(Connection& connection, std::int64_t trial) : connection_(connection) { request_.set_trial_id(trial); }

  // All that there is now, piece by piece; whether more may come.
  Result<bool> ReadOn(const std::function<void(const v1::PrintedPiece&)>& take) {
    while (true) {
      ESPALIER_ASSIGN(const v1::GetTrialOutputResponse response, connection_.GetTrialOutput(request_));
      for (const v1::PrintedPiece& piece : response.pieces()) take(piece);
      request_.set_after(response.next());
      if (response.pieces().empty()) return response.more();
    }
  }

 private:
  Connection& connection_;
  v1::GetTrialOutputRequest request_;
};

// Says where a piece comes from when that changes, and where something was left out.
class TextPrinter {
 public:
  explicit TextPrinter(std::ostream& out) : out_(out) {}

  void Print(const v1::PrintedPiece& piece) {
    if (piece.run_id() != run_) {
      EndLine();
      out_ << "--- run " << piece.run_id() << " on " << piece.server() << "/" << piece.slot();
      if (piece.step() > 0) out_ << ", from step " << piece.step();
      out_ << " ---\n";
    }
    run_ = piece.run_id();
    const auto [known, is_new] = ends_.try_emplace(run_, 0);
    if (piece.position() > known->second) {
      EndLine();
      out_ << "--- " << FormatBytes(piece.position() - known->second)
           << " are not kept, or belong to other trials ---\n";
    }
    known->second = piece.position() + static_cast<std::int64_t>(piece.text().size());
    out_ << piece.text() << std::flush;
    line_is_open_ = !piece.text().ends_with('\n');
  }

  void EndLine() {
    if (std::exchange(line_is_open_, false)) out_ << '\n';
  }

 private:
  std::ostream& out_;
  std::int64_t run_ = 0;
  std::map<std::int64_t, std::int64_t> ends_;  // by run
  bool line_is_open_ = false;
};

Json ToJson(const v1::PrintedPiece& piece) {
  return Json::Object({{"run", piece.run_id()},
                       {"server", piece.server()},
                       {"slot", piece.slot()},
                       {"step", piece.step()},
                       {"position", piece.position()},
                       {"text", piece.text()}});
}

// What is printed last reaches the master a moment after its step was reported.
constexpr std::chrono::seconds kPause{1};
constexpr int kReadingsBehindTheEnd = 3;

Result<void> Show(CommandContext& context, Printed& printed, bool follow) {
  if (context.output == OutputFormat::kJson) {
    Json pieces = Json::Array();
    ESPALIER_RETURN_IF_ERROR(printed.ReadOn([&](const v1::PrintedPiece& piece) { pieces.Append(ToJson(piece)); }));
    PrintJson(context.out, pieces);
    return {};
  }
  TextPrinter printer(context.out);
  for (int left = kReadingsBehindTheEnd;;) {
    ESPALIER_ASSIGN(const bool more, printed.ReadOn([&](const v1::PrintedPiece& piece) { printer.Print(piece); }));
    if (!follow || (!more && --left == 0)) break;
    std::this_thread::sleep_for(kPause);
  }
  printer.EndLine();
  return {};
}

int Run(CommandContext& context, const Options& options) {
  if (options.follow && context.output == OutputFormat::kJson) {
    context.err << "espalier: --follow prints text, not JSON\n";
    return kExitUsage;
  }
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  Printed printed(client->connection(), options.trial);
  const Result<void> shown = Show(context, printed, options.follow);
  if (!shown.has_value()) return Fail(context, shown.error());
  return kExitDone;
}

}  // namespace

Command TrialLogsCommand(CommandContext& context) {
  const auto options = std::make_shared<Options>();
  Command command{
      .name = "logs",
      .help = "What was printed on the way to a trial's steps: standard output, standard error, tracebacks",
      .arguments = {{"TRIAL", &options->trial, "its id, as `espalier trial list` shows it"}},
      .options = {{.name = "--follow", .target = &options->follow, .help = "go on until nothing of the trial waits"}}};
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  command.run = [&context, options] { return Run(context, *options); };
  return command;
}

}  // namespace espalier
