#include "client/cli/plan_dot.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/graphviz.hpp>
#include <map>
#include <ostream>
#include <sstream>

#include "client/cli/output.h"
#include "client/cli/plan_layout.h"

namespace espalier {
namespace {

using Attributes = std::map<std::string, std::string>;  // the values quoted where they have to be
using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, Attributes, Attributes>;
using Vertex = Graph::vertex_descriptor;

constexpr char kCritical[] = "\"#c92a2a\"";

std::string Steps(const google::protobuf::RepeatedField<std::int64_t>& steps) {
  std::string text;
  for (const std::int64_t step : steps) text += (text.empty() ? "" : ", ") + std::to_string(step);
  return text;
}

std::string NodeText(const v1::PlanNode& node) {
  std::ostringstream text;
  text << "node " << node.plan_node_id() << " from " << node.start_step() << '\n';
  for (const auto& [name, function] :
       std::map<std::string, std::string>(node.functions().begin(), node.functions().end())) {
    text << name << " = " << function << '\n';
  }
  if (node.checkpoint_steps_size() > 0) text << "checkpoints: " << Steps(node.checkpoint_steps()) << '\n';
  for (const v1::PlanClaims& claims : node.claims()) {
    text << "claims at " << claims.step() << ": " << claims.count() << ' ' << claims.state() << '\n';
  }
  text << node.trial_count() << (node.trial_count() == 1 ? " trial" : " trials");
  return text.str();
}

std::string StageText(const GraphStage& stage) {
  std::ostringstream text;
  text << stage.from << ".." << stage.to << ' ' << stage.view->state();
  if (stage.seconds) text << '\n' << FormatDuration(*stage.seconds) << " left";
  if (stage.view->has_placed_on()) {
    const v1::PlacedStage& placed = stage.view->placed_on();
    text << '\n'
         << (placed.run_id() == 0 ? "a run of others" : "run " + std::to_string(placed.run_id())) << " on "
         << placed.server() << '/' << placed.slot();
  }
  return text.str();
}

std::string Fill(const std::string& state) {
  if (state == "trained") return "\"#b2f2bb\"";
  if (state == "reused") return "\"#d0bfff\"";
  if (state == "running") return "\"#ffd8a8\"";
  return state == "waiting" ? "\"#d0ebff\"" : "\"#f1f3f5\"";
}

void AddColour(Attributes& attributes, bool critical) {
  if (!critical) return;
  attributes["color"] = kCritical;
  attributes["penwidth"] = "2.5";
}

Graph DrawnGraph(const StageGraph& stages) {
  Graph graph;
  std::map<std::int64_t, Vertex> boxes;  // by plan node
  for (const GraphNode& node : stages.nodes) {
    const Attributes attributes{{"label", QuotedDot(NodeText(*node.node))}, {"shape", "box"}};
    boxes[node.node->plan_node_id()] = boost::add_vertex(attributes, graph);
  }
  const auto first_stage = boost::num_vertices(graph);
  const auto vertex_of = [&](int stage) { return first_stage + static_cast<std::size_t>(stage); };
  for (const GraphStage& stage : stages.stages) {
    Attributes attributes{{"label", QuotedDot(StageText(stage))},
                          {"shape", "box"},
                          {"style", "\"rounded,filled\""},
                          {"fillcolor", Fill(stage.view->state())}};
    AddColour(attributes, stage.critical);
    boost::add_vertex(attributes, graph);
  }
  const auto add_edge = [&](Vertex from, Vertex to, bool critical) {
    Attributes attributes;
    AddColour(attributes, critical);
    boost::add_edge(from, to, attributes, graph);
  };
  for (const GraphNode& node : stages.nodes) {
    if (node.hangs_from >= 0) add_edge(vertex_of(node.hangs_from), boxes.at(node.node->plan_node_id()), node.critical);
  }
  for (std::size_t i = 0; i < stages.stages.size(); ++i) {
    const GraphStage& stage = stages.stages[i];
    const GraphStage* before = stage.before < 0 ? nullptr : &stages.stages[static_cast<std::size_t>(stage.before)];
    const bool follows = before != nullptr && before->node == stage.node;
    const bool critical = stage.critical && before != nullptr && before->critical;
    add_edge(follows ? vertex_of(stage.before) : boxes.at(stage.node->plan_node_id()), vertex_of(static_cast<int>(i)),
             critical);
  }
  return graph;
}

void Write(std::ostream& out, const Attributes& attributes) {
  if (attributes.empty()) return;
  out << '[';
  const char* separator = "";
  for (const auto& [name, value] : attributes) out << std::exchange(separator, ", ") << name << '=' << value;
  out << ']';
}

}  // namespace

std::string QuotedDot(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '\n') {
      quoted += "\\l";
    } else if (c == '&') {
      quoted += "&amp;";  // Graphviz knows XML's names of characters
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      quoted += '?';
    } else {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
  }
  return quoted + "\\l\"";
}

std::string PlanDot(const StageGraph& stages, const std::string& title) {
  const Graph graph = DrawnGraph(stages);
  std::ostringstream out;
  boost::write_graphviz(
      out, graph, [&](std::ostream& line, Vertex vertex) { Write(line, graph[vertex]); },
      [&](std::ostream& line, const Graph::edge_descriptor& edge) { Write(line, graph[edge]); },
      [&](std::ostream& lines) {
        lines << "graph [label=" << QuotedDot(title) << ", labelloc=t, labeljust=l];\n"
              << "node [fontname=Helvetica, fontsize=10];\n";
      });
  return out.str();
}

}  // namespace espalier
