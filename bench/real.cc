// Networks and data as users have them: a grid study on the stage tree, and once more with each trial trained alone, in
// turns, shared first and last: so a machine that gets slower or faster meanwhile favours neither. What is saved should
// be what the merge rate says.
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/benches.h"
#include "bench/output_of.h"
#include "bench/service.h"
#include "client/client.h"
#include "client/connection.h"

namespace espalier::bench {
namespace {

constexpr int kRealSlots = 2;

struct RealStudy {
  std::string name;    // of its figures
  std::string file;    // in bench/studies
  std::string folder;  // of its data, in the folder that ESPALIER_TEST_DATA names
  int turns = 1;       // >= 1: of short steps it takes more of them until the machine's moods even out
};

// The study file with other values for some of its lines, which begin so.
std::string Edited(const std::string& file, const std::map<std::string, std::string>& values) {
  std::ifstream lines("bench/studies/" + file);
  if (!lines) GiveUp("there is no bench/studies/" + file + "; run this in the repository");
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    for (const auto& [beginning, value] : values) {
      if (line.starts_with(beginning + ":")) line = beginning + ": " + value;
    }
    text += line + "\n";
  }
  return text;
}

class RealService {
 public:
  explicit RealService(const std::string& data)
      : client_((service_.StartNodeManager(
                     kRealSlots,
                     {{"built-in", {ProgramBesideThisOne("espalier-worker"), "--trainer", "resnet", "--data", data}}}),
                 Need(Client::Connect(service_.address())))) {}

  v1::StudySummary Run(const std::string& name, const std::string& text) {
    const std::string file = service_.NewFile(name + ".yaml");
    std::ofstream(file) << text;
    if (!Espalier({"study", "run", file})) GiveUp("the study " + name + " did not end well");
    v1::GetStudyRequest show;
    show.set_name(name);
    return Need(client_.connection().GetStudy(show)).study();
  }

  // Whether all trials of the two have the same results and states, bit for bit.
  bool AreAlike(const std::string& one, const std::string& other) {
    const auto compared = Espalier({"study", "compare", one, other, "--output", "json"});
    return compared.has_value() && compared->find("\"identical\": true") != std::string::npos;
  }

 private:
  std::optional<std::string> Espalier(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), ProgramBesideThisOne("espalier"));
    arguments.insert(arguments.end(), {"--server", service_.address()});
    return OutputOf(arguments);
  }

  Service service_;
  Client client_;
};

// What the same study came to, turn by turn.
struct Turns {
  std::vector<double> slot_seconds;
  std::vector<double> elapsed_seconds;
  std::vector<double> merge_rates;  // time-weighted
  std::int64_t wasted_steps = 0;
  v1::StudySummary last;

  void Add(v1::StudySummary study) {
    slot_seconds.push_back(study.slot_seconds());
    elapsed_seconds.push_back(study.elapsed_seconds());
    merge_rates.push_back(study.time_weighted_merge_rate());
    wasted_steps += study.steps().wasted();
    last = std::move(study);
  }
};

void Measure(Figures& figures, const RealStudy& study, const std::string& data,
             std::map<std::string, std::string> edits) {
  RealService service(data);
  edits["data"] = data;
  edits["study"] = "warming";  // workers start and read their data: neither of the two is to pay that alone
  edits["share"] = "nobody";
  edits["tuner"] = "{grid: {steps: 1}}";
  service.Run("warming", Edited(study.file, edits));
  edits.erase("tuner");
  const auto run = [&](const std::string& name, int turn, Turns& turns) {
    edits["study"] = name + "-" + std::to_string(turn);
    if (name == "alone") edits["share"] = "nobody";
    if (name == "shared") edits.erase("share");
    turns.Add(service.Run(edits["study"], Edited(study.file, edits)));
  };
  Turns shared;
  Turns alone;
  run("shared", 0, shared);
  for (int turn = 1; turn <= study.turns; ++turn) {
    run("alone", turn, alone);
    run("shared", turn, shared);
  }
  const auto add = [&](const std::string& name, double value, const std::string& goal = "") {
    figures.Add(study.name + "_" + name, value, goal);
  };
  std::int64_t trials = 0;
  for (const auto& [state, count] : shared.last.trials_by_state()) trials += count;
  add("trials", static_cast<double>(trials));
  add("merge_rate", shared.last.merge_rate());
  add("time_weighted_merge_rate", Mean(shared.merge_rates));
  add("slot_seconds_shared", Mean(shared.slot_seconds));
  add("slot_seconds_alone", Mean(alone.slot_seconds));
  const double saved = Mean(alone.slot_seconds) / Mean(shared.slot_seconds);
  add("slot_seconds_alone_over_shared", saved);
  add("share_of_time_weighted_merge_rate", saved / Mean(shared.merge_rates), "0.95 to 1.05");
  add("elapsed_seconds_shared", Mean(shared.elapsed_seconds));
  add("elapsed_seconds_alone", Mean(alone.elapsed_seconds));
  add("wasted_steps", static_cast<double>(shared.wasted_steps + alone.wasted_steps), "0");
  add("same_results", service.AreAlike(shared.last.name(), alone.last.name()) ? 1 : 0, "1");
}

}  // namespace

void RunReal(Figures& figures, Size size) {
  const RealStudy cifar{"cifar10_resnet20", "resnet20-cifar10.yaml", "cifar10-subset", 2};
  const RealStudy mnist{"mnist_resnet8", "resnet8-mnist.yaml", "mnist", 6};
  if (size.small) {
    Measure(figures, {"digits_resnet8", mnist.file, ""}, "digits", {{"step", "1 update"}, {"  bs", "20"}});
    return;
  }
  const char* const folder = std::getenv("ESPALIER_TEST_DATA");
  if (folder == nullptr) GiveUp("ESPALIER_TEST_DATA is to name a folder with " + cifar.folder + " and " + mnist.folder);
  for (const RealStudy& study : {cifar, mnist}) Measure(figures, study, std::string(folder) + "/" + study.folder, {});
}

}  // namespace espalier::bench
