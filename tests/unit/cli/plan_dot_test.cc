// Plans in Graphviz's language, read back by Boost.Graph's own parser of it.
#include "client/cli/plan_dot.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/graphviz.hpp>
#include <catch2/catch.hpp>

#include "tests/unit/cli/plan_response.h"

namespace espalier {
namespace {

using testing::AddNode;
using testing::AddStage;

struct Drawn {
  std::string id;
  std::string label;
  std::string colour;
};
using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, Drawn>;

Graph Read(const std::string& dot) {
  Graph graph;
  boost::dynamic_properties properties(boost::ignore_other_properties);
  properties.property("node_id", boost::get(&Drawn::id, graph));
  properties.property("label", boost::get(&Drawn::label, graph));
  properties.property("color", boost::get(&Drawn::colour, graph));
  INFO(dot);
  REQUIRE(boost::read_graphviz(dot, graph, properties));
  return graph;
}

// What Graphviz shows of a label.
std::string Shown(std::string label) {
  std::string shown;
  for (std::size_t i = 0; i < label.size(); ++i) {
    if (label.compare(i, 5, "&amp;") == 0) {
      shown += '&';
      i += 4;
    } else if (label[i] == '\\') {
      ++i;
      REQUIRE(i < label.size());
      REQUIRE((label[i] == 'l' || label[i] == '\\'));
      shown += label[i] == 'l' ? '\n' : '\\';
    } else {
      shown += label[i];
    }
  }
  return shown;
}

// By what is shown: whether it is on the critical path.
std::map<std::string, bool> Boxes(const Graph& graph) {
  std::map<std::string, bool> boxes;
  for (const auto vertex : boost::make_iterator_range(boost::vertices(graph))) {
    boxes[Shown(graph[vertex].label)] = !graph[vertex].colour.empty();
  }
  return boxes;
}

void AddClaims(v1::PlanNode& node, std::int64_t step, const std::string& state, std::int64_t count) {
  v1::PlanClaims& claims = *node.add_claims();
  claims.set_step(step);
  claims.set_state(state);
  claims.set_count(count);
}

// A root that is trained to 10, running to 20 and wanted to 60; a child at 40 that takes long.
v1::GetPlanResponse SomePlan() {
  v1::GetPlanResponse plan;
  v1::PlanNode& root = AddNode(plan, 0, 0, "0.1");
  root.mutable_costs()->set_step_seconds(1);
  root.set_trial_count(2);
  root.add_checkpoint_steps(5);
  root.add_checkpoint_steps(10);
  AddStage(root, 0, 10, "trained");
  v1::PlacedStage& placed = *AddStage(root, 10, 20, "running").mutable_placed_on();
  placed.set_run_id(7);
  placed.set_server("gpu-1");
  AddStage(root, 20, 60, "waiting");
  AddStage(root, 60, 80, "planned");
  AddClaims(root, 10, "done", 2);
  AddClaims(root, 50, "waiting", 1);
  AddClaims(root, 60, "waiting", 1);
  v1::PlanNode& child = AddNode(plan, 1, 40, "0.01");
  child.mutable_costs()->set_step_seconds(3);
  AddStage(child, 40, 50, "waiting");
  AddClaims(child, 50, "waiting", 1);
  return plan;
}

}  // namespace

TEST_CASE("a plan's graph has its nodes, and its stages cut at branches and waiting claims, the critical path marked") {
  const v1::GetPlanResponse plan = SomePlan();
  const Graph graph = Read(PlanDot(MakeStageGraph(plan), "study"));
  CHECK(Boxes(graph) ==
        std::map<std::string, bool>{{"node 1 from 0\nlr = 0.1\ncheckpoints: 5, 10\nclaims at 10: 2 done\n"
                                     "claims at 50: 1 waiting\nclaims at 60: 1 waiting\n2 trials\n",
                                     false},
                                    {"node 2 from 40\nlr = 0.01\nclaims at 50: 1 waiting\n1 trial\n", false},
                                    {"0..10 trained\n", false},
                                    {"10..20 running\n10 s left\nrun 7 on gpu-1/0\n", true},
                                    {"20..40 waiting\n20 s left\n", true},
                                    {"40..50 waiting\n10 s left\n", false},
                                    {"50..60 waiting\n10 s left\n", false},
                                    {"60..80 planned\n", false},
                                    {"40..50 waiting\n30 s left\n", true}});
  CHECK(boost::num_edges(graph) == 8);  // a tree
}

TEST_CASE("what follows in a plan's graph is what is trained next") {
  const v1::GetPlanResponse plan = SomePlan();
  const Graph graph = Read(PlanDot(MakeStageGraph(plan), "study"));
  std::set<std::string> followers;
  for (const auto edge : boost::make_iterator_range(boost::edges(graph))) {
    const auto first_line = [&](auto vertex) {
      const std::string shown = Shown(graph[vertex].label);
      return shown.substr(0, shown.find('\n'));
    };
    followers.insert(first_line(boost::source(edge, graph)) + " -> " + first_line(boost::target(edge, graph)));
  }
  CHECK(followers == std::set<std::string>{"node 1 from 0 -> 0..10 trained", "0..10 trained -> 10..20 running",
                                           "10..20 running -> 20..40 waiting", "20..40 waiting -> 40..50 waiting",
                                           "40..50 waiting -> 50..60 waiting", "50..60 waiting -> 60..80 planned",
                                           "20..40 waiting -> node 2 from 40", "node 2 from 40 -> 40..50 waiting"});
}

TEST_CASE("where no step was ever measured, the critical path has the most steps") {
  v1::GetPlanResponse plan = SomePlan();
  for (v1::PlanNode& node : *plan.mutable_nodes()) node.clear_costs();
  const StageGraph graph = MakeStageGraph(plan);
  std::vector<std::int64_t> critical;
  for (const GraphStage& stage : graph.stages) {
    CHECK_FALSE(stage.seconds.has_value());
    if (stage.critical) critical.push_back(stage.to);
  }
  CHECK(critical == std::vector<std::int64_t>{20, 40, 50, 60});
}

TEST_CASE("names in a plan's graph cannot say anything but themselves") {
  for (const std::string name :
       {"\"]; evil [label=\"", "ends in a backslash\\", "\\\"", "\\N \\G \\l \\n", "<b>bold</b>", "&lt;&amp;", "{a|b}",
        "// no comment", "/*", "#", "Größe 学習率", "-> 2;"}) {
    v1::GetPlanResponse plan;
    v1::PlanNode& node = AddNode(plan, 0, 0, name);
    AddStage(node, 0, 4, "running").mutable_placed_on()->set_server(name);
    const Graph graph = Read(PlanDot(MakeStageGraph(plan), name));
    CHECK(Boxes(graph) == std::map<std::string, bool>{{"node 1 from 0\nlr = " + name + "\n1 trial\n", false},
                                                      {"0..4 running\na run of others on " + name + "/0\n", true}});
  }
}

TEST_CASE("characters that control terminals do not pass into a plan's graph") {
  CHECK(QuotedDot(std::string("a\x1b[2Jb\0c\r\x7f", 10)) == R"("a?[2Jb?c??\l")");
}

TEST_CASE("a study without trials has an empty graph") {
  CHECK(boost::num_vertices(Read(PlanDot(MakeStageGraph({}), "nothing"))) == 0);
}

}  // namespace espalier
