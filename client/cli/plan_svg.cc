#include "client/cli/plan_svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "client/cli/svg.h"

namespace espalier {
namespace {

constexpr double kLeft = 24;
constexpr double kTop = 84;
constexpr double kPlotWidth = 760;
constexpr double kLabelWidth = 460;
constexpr std::size_t kLabelCharactersMax = 78;

struct StateStyle {
  const char* state;
  const char* fill;
  const char* stroke;
};

// The first style is also that of states which are not known here.
constexpr std::array<StateStyle, 5> kStyles = {{{"planned", "#f1f3f5", "#ced4da"},
                                                {"trained", "#2b8a5e", "#1f6f4a"},
                                                {"running", "#f59f00", "#c77f00"},
                                                {"waiting", "#74c0fc", "#4a9fe0"},
                                                {"reused", "#9775fa", "#7950f2"}}};
constexpr std::array<std::size_t, 5> kLegendOrder = {1, 4, 2, 3, 0};

const StateStyle& StyleOf(const std::string& state) {
  const auto style =
      std::find_if(kStyles.begin(), kStyles.end(), [&](const StateStyle& known) { return state == known.state; });
  return style == kStyles.end() ? kStyles[0] : *style;
}

std::string Shortened(const std::string& text) {
  return text.size() <= kLabelCharactersMax ? text : text.substr(0, kLabelCharactersMax - 3) + "...";
}

class Painter {
 public:
  Painter(const PlanLayout& layout, const std::string& title)
      : layout_(layout),
        title_(title),
        row_height_(std::clamp(1100.0 / std::max(1, layout.row_count), 9.0, 20.0)),
        bar_height_(row_height_ * 0.62),
        svg_(kLeft + kPlotWidth + kLabelWidth, Bottom() + 34) {}

  std::string Paint() {
    PaintHead();
    PaintAxis();
    for (const PlacedNode& node : layout_.nodes) PaintBranch(node);
    for (const PlacedNode& node : layout_.nodes) PaintStages(node);
    for (const PlacedNode& node : layout_.nodes) PaintCheckpoints(node);
    PaintLabels();
    return svg_.Finish();
  }

 private:
  double X(std::int64_t step) const {
    return kLeft + kPlotWidth * static_cast<double>(step) / static_cast<double>(layout_.end);
  }
  double MiddleOf(int row) const { return kTop + row_height_ * (row + 0.5); }
  double Bottom() const { return kTop + row_height_ * std::max(1, layout_.row_count); }

  void PaintHead() {
    svg_.Text(kLeft, 30, 18, "#212529", title_, " font-weight=\"bold\"");
    double x = kLeft;
    for (const std::size_t index : kLegendOrder) {
      const StateStyle& style = kStyles[index];
      svg_.out() << "<rect x=\"" << x << "\" y=\"44\" width=\"22\" height=\"11\" rx=\"2\" fill=\"" << style.fill
                 << "\" stroke=\"" << style.stroke << "\"/>\n";
      svg_.Text(x + 28, 53.5, 12, "#495057", style.state);
      x += 100;
    }
    svg_.out() << "<circle cx=\"" << x + 6 << "\" cy=\"49.5\" r=\"3.2\" fill=\"#ffffff\" stroke=\"#212529\"/>\n";
    svg_.Text(x + 16, 53.5, 12, "#495057", "checkpoint");
  }

  void PaintAxis() {
    const std::int64_t distance = TickDistance(layout_.end);
    for (std::int64_t step = 0; step <= layout_.end; step += distance) {
      svg_.Line(X(step), kTop - 4, X(step), Bottom(), "#e9ecef");
      svg_.Text(X(step), kTop - 9, 11, "#868e96", std::to_string(step), " text-anchor=\"middle\"");
    }
    svg_.Text(kLeft + kPlotWidth / 2, Bottom() + 20, 12, "#868e96", "steps", " text-anchor=\"middle\"");
  }

  // From the parent's row down to the node's own, where it leaves.
  void PaintBranch(const PlacedNode& node) {
    if (node.parent < 0) return;
    const PlacedNode& parent = layout_.nodes[static_cast<std::size_t>(node.parent)];
    if (parent.row == node.row) return;
    const double x = X(node.node->start_step());
    svg_.out() << "<path d=\"M" << x << ' ' << MiddleOf(parent.row) << " V" << MiddleOf(node.row)
               << " h1.5\" fill=\"none\" "
               << "stroke=\"#868e96\" stroke-width=\"1\"/>\n";
  }

  void PaintStages(const PlacedNode& node) {
    const double y = MiddleOf(node.row) - bar_height_ / 2;
    for (const v1::StageView& stage : node.node->stages()) {
      const StateStyle& style = StyleOf(stage.state());
      svg_.out() << "<rect x=\"" << X(stage.from_step()) << "\" y=\"" << y << "\" width=\""
                 << std::max(0.5, X(stage.to_step()) - X(stage.from_step())) << "\" height=\"" << bar_height_
                 << "\" rx=\"1.5\" fill=\"" << style.fill << "\" stroke=\"" << style.stroke
                 << "\" stroke-width=\"0.7\"><title>"
                 << EscapedXml("steps " + std::to_string(stage.from_step()) + " to " + std::to_string(stage.to_step()) +
                               ", " + stage.state() + "; trials: " + std::to_string(node.node->trial_count()) + "; " +
                               FunctionsText(*node.node))
                 << "</title></rect>\n";
    }
  }

  void PaintCheckpoints(const PlacedNode& node) {
    for (const std::int64_t step : node.node->checkpoint_steps()) {
      svg_.out() << "<circle cx=\"" << X(step) << "\" cy=\"" << MiddleOf(node.row) << "\" r=\"" << bar_height_ * 0.24
                 << "\" fill=\"#ffffff\" stroke=\"#212529\" stroke-width=\"0.8\"/>\n";
    }
  }

  // Beside each row: what is new in it, from where on.
  void PaintLabels() {
    std::map<int, std::string> labels;
    for (const PlacedNode& node : layout_.nodes) {
      std::string& label = labels[node.row];
      const std::int64_t start = node.node->start_step();
      if (start > 0) label += (label.empty() ? "from " : "; from ") + std::to_string(start) + ": ";
      label += FunctionsText(*node.node);
    }
    const double size = std::clamp(row_height_ * 0.7, 7.0, 11.0);
    for (const auto& [row, label] : labels) {
      svg_.out() << "<g><title>" << EscapedXml(label) << "</title>";
      svg_.Text(kLeft + kPlotWidth + 12, MiddleOf(row) + size * 0.36, size, "#343a40", Shortened(label));
      svg_.out() << "</g>\n";
    }
  }

  const PlanLayout& layout_;
  const std::string title_;
  const double row_height_;
  const double bar_height_;
  SvgDocument svg_;
};

}  // namespace

std::string PlanSvg(const PlanLayout& layout, const std::string& title) { return Painter(layout, title).Paint(); }

}  // namespace espalier
