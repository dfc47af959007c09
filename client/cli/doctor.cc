// espalier doctor
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include "base/clock.h"
#include "base/version.h"
#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/master_text.h"
#include "client/cli/server_access.h"

namespace espalier {
namespace {

enum class Verdict { kGood, kWarning, kProblem };

struct Finding {
  Verdict verdict = Verdict::kGood;
  std::string of;     // what was looked at
  std::string text;   // how it is
  std::string to_do;  // empty: nothing
};

constexpr double kClockSeconds = 5;              // further apart, times that people compare mislead
constexpr double kSlowDatabaseSeconds = 0.1;     // each answer waits for a commit, which takes longer than a query
constexpr double kFreeBytesMin = 1'000'000'000;  // of a disk

const char* NameOf(Verdict verdict) {
  return verdict == Verdict::kGood ? "ok" : verdict == Verdict::kWarning ? "warning" : "problem";
}

// Of the service on this machine.
Finding OfDataDirectory(const std::string& folder) {
  const std::string of = "data directory";
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(folder, error);
  if (error) {
    return {Verdict::kWarning, of, folder + " is not there",
            "start a service on this machine with espalier up, or name another: --server ADDRESS"};
  }
  const std::string text = folder + " has " + FormatBytes(static_cast<std::int64_t>(space.available)) + " free";
  if (static_cast<double>(space.available) >= kFreeBytesMin) return {Verdict::kGood, of, text, ""};
  return {Verdict::kProblem, of, text,
          "make room: the database and what is not in the store yet lie there; espalier checkpoint gc finds what "
          "nobody needs"};
}

std::string PrintClock(double ahead) {
  return FormatDuration(std::abs(ahead)) + (ahead > 0 ? " ahead of" : " behind") + " the master's";
}

Finding OfStore(const v1::GetMasterResponse& master) {
  const std::int64_t most = master.checkpoint_bytes_max();
  std::string text = "checkpoints take " + FormatBytes(master.checkpoint_bytes());
  if (most > 0) text += " of " + FormatBytes(most);
  if (most == 0 || master.checkpoint_bytes() <= most) return {Verdict::kGood, "store", text, ""};
  return {Verdict::kWarning, "store", text,
          "all of it is needed: let studies go (espalier study pin STUDY --keep none), or raise checkpoint_bytes"};
}

void OfMaster(const v1::GetMasterResponse& master, double now, std::vector<Finding>& findings) {
  findings.push_back({Verdict::kGood, "master", "leads on " + PrintMaster(master), ""});
  const std::string version(Version());
  if (master.version() != version) {
    findings.push_back({Verdict::kWarning, "version",
                        "the master is of version " + master.version() + ", this program of " + version,
                        "use the program that came with the server"});
  }
  if (const double ahead = now - SecondsOf(master.now()); std::abs(ahead) > kClockSeconds) {
    findings.push_back({Verdict::kWarning, "clock", "this machine's is " + PrintClock(ahead),
                        "let both follow the network's time: systemctl status systemd-timesyncd"});
  }
  if (!master.has_database_seconds()) {
    findings.push_back({Verdict::kProblem, "database", "does not answer: " + master.database_trouble(),
                        "the master's log says more; see that PostgreSQL runs and can be reached"});
    return;
  }
  std::string text = "answers within " + FormatDuration(master.database_seconds());
  if (master.has_database_bytes()) text += ", takes " + FormatBytes(master.database_bytes());
  const bool is_slow = master.database_seconds() > kSlowDatabaseSeconds;
  findings.push_back({is_slow ? Verdict::kWarning : Verdict::kGood, "database", text,
                      is_slow ? "every answer waits for a commit: look at its disk, its load, and the way to it" : ""});
  if (master.has_checkpoint_bytes()) findings.push_back(OfStore(master));
}

Finding OfServer(const v1::Server& server, const std::string& version) {
  const std::string of = "server " + server.name();
  const std::string logs = "espalier server logs " + server.name();
  if (!server.connected()) {
    return {Verdict::kWarning, of, "is not connected",
            server.has_drain() ? "" : "its runs are lost when its lease ends; see that its node manager runs"};
  }
  if (!server.trouble().empty()) return {Verdict::kProblem, of, server.trouble(), "see " + logs};
  if (server.device_kinds().empty()) {
    return {Verdict::kProblem, of, "offers nothing to train: none of its workers has said what it trains",
            "see " + logs};
  }
  if (!server.version().empty() && server.version() != version) {
    return {Verdict::kWarning, of, "its node manager is of version " + server.version() + ", the master of " + version,
            "install the one that came with the master"};
  }
  if (std::abs(server.clock_ahead_seconds()) > kClockSeconds) {
    return {Verdict::kWarning, of, "its clock is " + PrintClock(server.clock_ahead_seconds()),
            "let it follow the network's time"};
  }
  const std::string slots = std::to_string(server.busy_slot_count()) + " of " + std::to_string(server.slot_count()) +
                            (server.slot_count() == 1 ? " slot" : " slots") + " busy";
  if (server.draining()) {
    return {Verdict::kGood, of, slots + ", and drained",
            server.has_drain() ? "espalier server drain " + server.name() + " --off gives it runs again" : ""};
  }
  return {Verdict::kGood, of, slots, ""};
}

// What can be found out, until something is missing that the rest needs.
std::vector<Finding> Examine(CommandContext& context) {
  std::vector<Finding> findings;
  if (context.server.empty() && context.usual_server.empty()) {
    findings.push_back(OfDataDirectory(context.data_directory));
  }
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) {
    findings.push_back({Verdict::kProblem, "master", client.error().message, "see docs/operations.md"});
    return findings;
  }
  const Result<v1::GetMasterResponse> master = client->connection().GetMaster({});
  const double now = std::chrono::duration<double>(Now().time_since_epoch()).count();
  if (!master.has_value()) {
    findings.push_back({Verdict::kProblem, "master", master.error().message, ""});
    return findings;
  }
  OfMaster(*master, now, findings);
  const Result<v1::ListServersResponse> servers = client->connection().ListServers({});
  if (!servers.has_value()) {
    findings.push_back({Verdict::kProblem, "servers", servers.error().message, ""});
    return findings;
  }
  for (const v1::Server& server : servers->servers()) findings.push_back(OfServer(server, master->version()));
  const bool any = std::ranges::any_of(servers->servers(), [](const v1::Server& server) { return server.connected(); });
  if (!any) {
    findings.push_back({Verdict::kProblem, "servers", "none is connected: nothing is trained",
                        "start espalier-node on one, with master_address and token_file in its configuration"});
  }
  return findings;
}

int Run(CommandContext& context) {
  const std::vector<Finding> findings = Examine(context);
  if (context.output == OutputFormat::kJson) {
    Json all = Json::Array();
    for (const Finding& finding : findings) {
      all.Append(Json::Object({{"of", finding.of},
                               {"verdict", NameOf(finding.verdict)},
                               {"text", finding.text},
                               {"to_do", finding.to_do.empty() ? Json(nullptr) : Json(finding.to_do)}}));
    }
    PrintJson(context.out, all);
  } else {
    Table table({"", "of", "how it is"});
    for (const Finding& finding : findings) table.AddRow({NameOf(finding.verdict), finding.of, finding.text});
    table.Print(context.out);
    for (const Finding& finding : findings) {
      if (!finding.to_do.empty()) context.out << finding.of << ": " << finding.to_do << '\n';
    }
  }
  const bool has_problem =
      std::ranges::any_of(findings, [](const Finding& finding) { return finding.verdict == Verdict::kProblem; });
  return has_problem ? kExitRefused : kExitDone;
}

}  // namespace

Command DoctorCommand(CommandContext& context) {
  Command command{.name = "doctor",
                  .help = "What is wrong with the service, and what to do: database, store, servers, versions, clocks"};
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  command.run = [&context] { return Run(context); };
  return command;
}

}  // namespace espalier
