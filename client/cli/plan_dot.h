// A search plan and its stages in Graphviz's language (graphviz.org/doc/info/lang.html), for `dot -Tsvg`. Pure.
#pragma once

#include <string>
#include <string_view>

#include "client/cli/stage_graph.h"

namespace espalier {

// A directed graph that stands alone: a box for each plan node, a rounded one for each stage, an arrow from each to
// what follows it; the critical path is red. Whatever the title and the plan's names hold, they are shown as they are,
// but for characters that control terminals, each of which becomes a question mark.
std::string PlanDot(const StageGraph& graph, const std::string& title);

// As a quoted string that Graphviz reads as a label saying just this, lines flush left.
std::string QuotedDot(std::string_view text);

}  // namespace espalier
