#include <algorithm>
#include <catch2/catch.hpp>

#include "client/cli/plan_layout.h"
#include "client/cli/plan_svg.h"
#include "tests/unit/cli/plan_response.h"

namespace espalier {
namespace {

using testing::AddNode;
using testing::AddStage;

std::vector<int> Rows(const PlanLayout& layout) {
  std::vector<int> rows(layout.nodes.size());
  for (const PlacedNode& node : layout.nodes) rows[static_cast<std::size_t>(node.node->plan_node_id() - 1)] = node.row;
  return rows;
}

std::size_t Count(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("a plan has one row for each way to the end, later branches nearer to their parent") {
  v1::GetPlanResponse plan;
  AddStage(AddNode(plan, 0, 0, "0.1"), 0, 80, "trained");  // goes on past both branches
  AddStage(AddNode(plan, 1, 20, "Exponential(0.1, 0.9)"), 20, 80, "running");
  AddStage(AddNode(plan, 1, 40, "0.01"), 40, 60, "trained");  // ends where its child goes on
  AddStage(AddNode(plan, 3, 60, "0.001"), 60, 120, "waiting");
  AddStage(AddNode(plan, 0, 0, "0.2"), 0, 15, "trained");  // another root
  const PlanLayout layout = LayOut(plan);
  CHECK(layout.row_count == 4);
  CHECK(layout.end == 120);
  CHECK(Rows(layout) == std::vector<int>{0, 2, 1, 1, 3});
}

TEST_CASE("the picture of a plan has a bar for each stage, a mark for each checkpoint, and escapes text") {
  v1::GetPlanResponse plan;
  v1::PlanNode& root = AddNode(plan, 0, 0, "\"a<b&c\"");
  AddStage(root, 0, 40, "trained");
  AddStage(root, 40, 80, "planned");
  root.add_checkpoint_steps(40);
  AddStage(AddNode(plan, 1, 40, "0.01"), 40, 60, "waiting");
  const std::string svg = PlanSvg(LayOut(plan), "study <1>");
  CHECK(Count(svg, "<title>steps") == 3);
  CHECK(Count(svg, "<circle") == 2);  // one in the legend
  CHECK(Count(svg, "study &lt;1&gt;") == 1);
  CHECK(Count(svg, "a<b") == 0);
  CHECK(Count(svg, "from 40: lr = 0.01") == 2);  // and in full, for who points at it
  CHECK(Count(svg, "<g>") == Count(svg, "</g>"));
}

TEST_CASE("a study without trials has an empty picture") {
  CHECK(LayOut({}).row_count == 0);
  CHECK(Count(PlanSvg(LayOut({}), "nothing"), "</svg>") == 1);
}

}  // namespace espalier
