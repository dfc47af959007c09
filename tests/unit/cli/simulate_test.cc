// `espalier simulate FILE...`: what it reads, and what it says of studies.
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "client/simulation/simulation_files.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/cli/run_command.h"

namespace espalier::testing {
namespace {

// A folder with study files of four trials of 80 steps, which train 40 + 3 * 40 + 80 steps together.
struct StudyFiles {
  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return (folder / name).string();
  }
  std::string Study(const std::string& name, const std::string& metric = "score") {
    return Write(name + ".yaml", "study: " + name + R"yaml(
trainer: synthetic
step: epoch
hyper_parameters: {lr: [0.1, "MultiStep(0.1, [40], gamma=0.1)", "MultiStep(0.1, [40], gamma=0.5)", 0.2]}
metric: {name: )yaml" + metric + R"yaml(, goal: max}
tuner: {grid: {steps: 80}}
)yaml");
  }
  nlohmann::json Simulate(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "simulate");
    arguments.insert(arguments.end(), {"--output", "json"});
    const Outcome outcome = RunCommand(arguments);
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    return nlohmann::json::parse(outcome.out);
  }
  std::string WhyNot(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "simulate");
    const Outcome outcome = RunCommand(arguments);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.out.empty());
    return outcome.err;
  }

  TemporaryFolder folder{"/tmp/espalier-simulate-XXXXXX"};
};

constexpr int kAlone = 4 * 80;
constexpr int kShared = 40 + 3 * 40 + 80;

}  // namespace

TEST_CASE("studies are simulated together under each policy and scope that is asked for") {
  StudyFiles files;
  const nlohmann::json all = files.Simulate({files.Study("one"), files.Study("two"), "--slots", "4", "--policy",
                                             "critical_path,breadth_first", "--share", "team,study,nobody"});
  REQUIRE(all.size() == 6);
  const std::vector<std::pair<std::string, int>> trained{
      {"team", kShared}, {"study", 2 * kShared}, {"nobody", 2 * kAlone}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const nlohmann::json& row = all[i];
    INFO(row.dump());
    CHECK(row["policy"] == (i < 3 ? "critical_path" : "breadth_first"));
    CHECK(row["share"] == trained[i % 3].first);
    CHECK(row["slots"] == 4);
    CHECK(row["steps"]["claimed"] == 2 * kAlone);
    CHECK(row["steps"]["unique"] == trained[i % 3].second);
    CHECK(row["steps"]["trained"] == trained[i % 3].second);
    CHECK(row["merge_rate"].get<double>() == Approx(2.0 * kAlone / trained[i % 3].second));
    CHECK(row["bound_seconds"] < row["end_to_end_seconds"]);
    CHECK(row["device_hours"].get<double>() * 3600 > trained[i % 3].second * 0.9);
    REQUIRE(row["studies"].size() == 2);
    CHECK(row["studies"][1]["name"] == "two");
    CHECK(row["studies"][1]["trials"] == 4);
  }
}

TEST_CASE("runs save where it pays, or by a fixed period") {
  StudyFiles files;
  const std::string study = files.Study("one");
  const auto saved = [&](std::vector<std::string> more) -> int {
    more.insert(more.begin(),
                {study, "--policy", "critical_path_not_preempting"});  // a run that is preempted saves, too
    return files.Simulate(more)[0]["states_saved"];
  };
  const int where_it_pays = saved({});
  CHECK(where_it_pays >= 1 + 4);  // where trials part, and at their ends
  CHECK(where_it_pays < kShared / 10);
  CHECK(saved({"--save-every", "10"}) == kShared / 10);
}

TEST_CASE("the same simulation of studies is the same, and another seed another one") {
  StudyFiles files;
  const std::string study = files.Study("one");
  const nlohmann::json first = files.Simulate({study, "--seed", "3"});
  CHECK(files.Simulate({study, "--seed", "3"}) == first);
  CHECK(files.Simulate({study, "--seed", "4"}) != first);
}

TEST_CASE("servers come from a file, with slots and speeds, and studies at the times that another says") {
  StudyFiles files;
  const std::string servers = files.Write("servers.yaml", "- {slots: 1}\n- {slots: 2, speed: 4, count: 2}\n");
  const std::string arrivals = files.Write("arrivals.yaml", "two: 30m\n");
  const nlohmann::json row = files.Simulate(
      {files.Study("one"), files.Study("two"), "--servers", servers, "--arrivals", arrivals, "--share", "nobody"})[0];
  CHECK(row["slots"] == 5);
  CHECK(row["studies"][0]["arrives_at_seconds"] == 0);
  CHECK(row["studies"][1]["arrives_at_seconds"] == 1800);
  CHECK(row["end_to_end_seconds"].get<double>() ==
        Approx(1800 + row["studies"][1]["end_to_end_seconds"].get<double>()));
}

TEST_CASE("where servers have prices, a simulation costs what they are rented for, and what of that is used") {
  StudyFiles files;
  const std::vector<std::string> studies = {files.Study("one"), files.Study("two"), "--share", "nobody"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), studies.begin(), studies.end());
    return more;
  };
  const std::string priced =
      files.Write("priced.yaml", "- {slots: 1, price: 7.2}\n- {slots: 2, price: 36, speed: 4}\n");
  const nlohmann::json row = files.Simulate(with({"--servers", priced}))[0];
  const double rented = row["cost_rented"];
  const double used = row["cost_used"];
  CHECK(rented == Approx((7.2 + 36) * row["end_to_end_seconds"].get<double>() / 3600));
  // A second of the slow slot costs 0.002, one of a fast slot 0.005.
  const double slot_seconds = row["device_hours"].get<double>() * 3600;
  CHECK(used > 0.002 * slot_seconds);
  CHECK(used < 0.005 * slot_seconds);
  CHECK(used == Approx(row["studies"][0]["cost_used"].get<double>() + row["studies"][1]["cost_used"].get<double>()));
  const std::string of_one_price = files.Write("gpus.yaml", "- {slots: 2, gpus: 2, price: 14.4}\n");
  const nlohmann::json one = files.Simulate(with({"--servers", of_one_price}))[0];
  CHECK(one["cost_used"].get<double>() == Approx(0.001 * one["device_hours"].get<double>() * 3600));

  CHECK(files.Simulate(with({}))[0]["cost_rented"].is_null());
  const auto table = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = with(std::move(more));
    arguments.insert(arguments.begin(), "simulate");
    return RunCommand(arguments).out;
  };
  CHECK_THAT(table({"--servers", priced}), Catch::Contains("cost rented") && Catch::Contains("cost used"));
  CHECK_THAT(table({}), !Catch::Contains("cost"));
}

TEST_CASE("the file of arrivals says whose studies are, and teams share the slots") {
  StudyFiles files;
  const std::string arrivals = files.Write("arrivals.yaml", "two: {after: 5s, team: vision}\n");
  const nlohmann::json row = files.Simulate({files.Study("one"), files.Study("two"), "--arrivals", arrivals})[0];
  CHECK(row["studies"][0]["team"] == "team");
  CHECK(row["studies"][1]["team"] == "vision");
  CHECK(row["studies"][1]["arrives_at_seconds"] == 5);
  CHECK(row["steps"]["trained"] == 2 * row["studies"][0]["steps"]["trained"].get<int>());  // nothing is shared
}

TEST_CASE("each simulated study takes its own metric from the table") {
  StudyFiles files;
  std::string table = "step,lr,score,loss\n";
  for (const char* row : {"80,0.1,0.1,4", "80,0.010000000000000002,0.2,3", "80,0.05,0.9,2", "80,0.2,0.3,1"}) {
    table += std::string(row) + "\n";
  }
  const std::string metrics = files.Write("metrics.csv", table);
  files.Simulate({files.Study("one", "score"), files.Study("two", "loss"), "--metrics", metrics});
  CHECK_THAT(files.WhyNot({files.Study("one", "score"), files.Study("two", "accuracy"), "--metrics", metrics}),
             Catch::Contains("--metrics: " + metrics + ": there is no column 'accuracy'"));
}

TEST_CASE("a table's train_loss is what policies that go by the loss of training see") {
  StudyFiles files;
  const std::string study = files.Write("four.yaml", R"yaml(study: four
trainer: synthetic
step: epoch
hyper_parameters: {lr: [0.1, 0.2, 0.3, 0.4]}
metric: {name: score, goal: max}
tuner: {grid: {steps: 80}}
)yaml");
  // On one slot, in slices of 30 steps; who has the highest loss goes on.
  const auto states_saved = [&](int at_first, int with_each_step) {
    std::string table = "step,lr,score,train_loss\n";
    for (int step = 1; step <= 80; ++step) {
      for (const char* lr : {"0.1", "0.2", "0.3", "0.4"}) {
        table += std::to_string(step) + "," + lr + ",1," + std::to_string(at_first + step * with_each_step) + "\n";
      }
    }
    const std::string metrics = files.Write("metrics.csv", table);
    return files.Simulate({study, "--metrics", metrics, "--policy", "slaq", "--slots", "1"})[0]["states_saved"]
        .get<int>();
  };
  // Whoever trains has the most after a slice, or whoever waits.
  CHECK(states_saved(100, -1) > states_saved(100, 1) + 1);
  const std::string wrong = files.Write("wrong.csv", "step,lr,score,train_loss\n80,0.1,1,much\n");
  CHECK_THAT(files.WhyNot({study, "--metrics", wrong}), Catch::Contains("row 2: train_loss: a number is expected"));
}

TEST_CASE("steps take what a table says of their values, on servers of whatever speed") {
  StudyFiles files;
  const std::string study = files.Write("sizes.yaml", R"yaml(study: sizes
trainer: synthetic
step: epoch
hyper_parameters: {lr: [0.1], bs: ["MultiStep(64, [40], gamma=2)"]}
metric: {name: score, goal: max}
tuner: {grid: {steps: 80}}
)yaml");
  const std::string steps = files.Write("steps.csv", "bs,seconds\n64,10\n128,2.5\n");
  const auto seconds = [&](const std::string& servers) {
    return files.Simulate({study, "--step-seconds", steps, "--servers", files.Write("servers.yaml", servers)})[0]
        .at("end_to_end_seconds")
        .get<double>();
  };
  CHECK(seconds("- {slots: 1}") == Approx(40 * 10 + 40 * 2.5).epsilon(0.05));
  CHECK(seconds("- {slots: 1, speed: 2}") == Approx(20 * 10 + 20 * 2.5).epsilon(0.05));
  CHECK(files.Simulate({study, "--step-seconds", "0.5"})[0].at("end_to_end_seconds").get<double>() ==
        Approx(40).epsilon(0.1));

  const std::string short_one = files.Write("short.csv", "bs,seconds\n64,10\n");
  CHECK_THAT(files.WhyNot({study, "--step-seconds", short_one}),
             Catch::Contains("the table of steps has no row with bs=128"));
  const std::string wrong = files.Write("wrong.csv", "bs,seconds\n64,10\n128,0\n");
  CHECK_THAT(files.WhyNot({study, "--step-seconds", wrong}),
             Catch::Contains("--step-seconds: " + wrong + ": row 3: seconds: a number from"));
  CHECK_THAT(files.WhyNot({study, "--step-seconds", "0"}), Catch::Contains("--step-seconds: got 0; expected"));
  CHECK_THAT(files.WhyNot({study, "--step-seconds", files.Write("none.csv", "bs,seconds\n")}),
             Catch::Contains("it has no row but its head"));
}

TEST_CASE("simulated trainings share GPUs as a table of steps says that they can") {
  StudyFiles files;
  const std::string study = files.Write("light.yaml", R"yaml(study: light
trainer: synthetic
step: epoch
hyper_parameters: {lr: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]}
metric: {name: score, goal: max}
tuner: {grid: {steps: 80}}
)yaml");
  const std::string steps = files.Write("steps.csv", "seconds,utilization,memory_bytes\n10,0.25,8e9\n");
  const auto simulate = [&](const std::string& servers) {
    return files.Simulate({study, "--step-seconds", steps, "--servers", files.Write("servers.yaml", servers),
                           "--policy", "hypersack"})[0];
  };
  const nlohmann::json one_each = simulate("- {slots: 1, gpus: 2}");
  const nlohmann::json shared = simulate("- {slots: 4, gpus: 2, compute_thousandths: 2000, memory_bytes: 80e9}");
  const nlohmann::json small = simulate("- {slots: 4, gpus: 2, compute_thousandths: 2000, memory_bytes: 9e9}");
  CHECK(one_each["slots"] == 2);
  CHECK(one_each["bound_seconds"].get<double>() == Approx(4 * 800).epsilon(0.05));
  CHECK(shared["bound_seconds"].is_null());
  CHECK(shared["studies"][0]["bound_seconds"].is_null());
  CHECK(shared["slots"] == 8);
  const double alone = one_each["end_to_end_seconds"].get<double>();
  CHECK(alone == Approx(4 * 800).epsilon(0.05));
  CHECK(shared["end_to_end_seconds"].get<double>() < 0.7 * alone);
  CHECK(small["end_to_end_seconds"].get<double>() == Approx(alone).epsilon(0.1));  // two do not fit into its memory
}

TEST_CASE("what a simulation cannot go by is refused, naming the option or the file's line") {
  StudyFiles files;
  const std::string study = files.Study("one");
  const auto with = [&](const std::string& option, const std::string& value) {
    return files.WhyNot({study, option, value});
  };
  CHECK_THAT(with("--policy", "critical_path,best"), Catch::Contains("--policy: ") && Catch::Contains("breadth_first"));
  CHECK_THAT(with("--policy", ""), Catch::Contains("--policy: "));
  CHECK_THAT(with("--share", "nobody,"), Catch::Contains("--share: "));
  CHECK_THAT(with("--share", "nobody,all"), Catch::Contains("--share: ") && Catch::Contains("everyone"));
  CHECK_THAT(with("--servers", "/nonexistent"), Catch::Contains("/nonexistent:1: cannot be read (No such file"));
  CHECK_THAT(with("--arrivals", "/nonexistent"), Catch::Contains("/nonexistent:1: cannot be read (No such file"));
  CHECK_THAT(with("--metrics", "/nonexistent"),
             Catch::Contains("--metrics: /nonexistent: cannot be read (No such file"));
  CHECK_THAT(with("--slots", "0"), Catch::Contains("--slots"));
  CHECK_THAT(files.WhyNot({study, files.Write("wrong.yaml", "study: x\ntrainer: 7\n")}),
             Catch::Contains("wrong.yaml:"));
  CHECK_THAT(files.WhyNot({}), Catch::Contains("expected one of FILE..., --trace FILE, --seeds N, --studies N"));
}

TEST_CASE("a mistake in a file of servers is named with its line and what is expected") {
  for (const auto& [text, line, what] : std::vector<std::tuple<std::string, int, std::string>>{
           {"", 1, "expected a list of servers"},
           {"slots: 3", 1, "expected a list of servers"},
           {"[]", 1, "expected a list of servers"},
           {"- {slots: 1}\n- {speed: 2}", 2, "[1].slots: missing"},
           {"- {slots: 1}\n- {slots: 1001}", 2, "[1].slots: got 1001; expected a whole number from 1 to 1000"},
           {"- {slots: 1.5}", 1, "[0].slots: got 1.5"},
           {"- {slots: 1, count: 0}", 1, "[0].count: got 0"},
           {"- {slots: 1, count: 10000}\n- {slots: 1}", 2, "[1]: expected at most 10000 servers"},
           {"- {slots: 1, speed: 0}", 1, "[0].speed: got 0; expected a number from 0.001 to 1000"},
           {"- {slots: 1, sped: 2}", 1, "did you mean speed"},
           {"- {slots: 1, price: -1}", 1, "[0].price: got -1; expected a number from 0.0 to 1e+09"},
           {"- {slots: 1, price: 2$}", 1, "[0].price: got"},
           {"- {slots: 1, gpus: 0}", 1, "[0].gpus: got 0"},
           {"- {slots: 1, gpus: 1, compute_thousandths: 900}", 1, "[0].compute_thousandths: got 900"},
           {"- {slots: 1, gpus: 1, memory_bytes: 0}", 1, "[0].memory_bytes: got 0"},
           {"- {slots: 1, memory_bytes: 1e9}", 1, "[0].memory_bytes: is of GPUs; add gpus: N"},
           {"- 4", 1, "[0]"}}) {
    INFO(text);
    const auto servers = ParseServers("servers.yaml", text);
    REQUIRE_FALSE(servers.has_value());
    CHECK_THAT(Print(servers.error()),
               Catch::StartsWith("servers.yaml:" + std::to_string(line) + ": ") && Catch::Contains(what));
  }
}

TEST_CASE("a mistake in a file of arrivals is named with its line and what is expected") {
  for (const auto& [text, line, what] : std::vector<std::tuple<std::string, int, std::string>>{
           {"- one", 1, "mapping"},
           {"onw: 3m", 1, "did you mean one"},
           {"two: 3m\none: soon", 2, "one: got soon; expected a time such as 90s, 30m or 2h"},
           {"one: {after: 3m, tame: a}", 1, "one.tame: unknown key"},
           {"one: {team: []}", 1, "one.team: got"},
           {"one: 3m\none: 4m", 2, "one: it is there twice"}}) {
    INFO(text);
    const auto arrivals = ParseArrivals("arrivals.yaml", text, {"one", "two"});
    REQUIRE_FALSE(arrivals.has_value());
    CHECK_THAT(Print(arrivals.error()),
               Catch::StartsWith("arrivals.yaml:" + std::to_string(line) + ": ") && Catch::Contains(what));
  }
}

}  // namespace espalier::testing
