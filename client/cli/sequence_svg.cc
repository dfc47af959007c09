#include "client/cli/sequence_svg.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "client/cli/svg.h"
#include "searchplan/sequence/message_text.h"

namespace espalier {
namespace {

constexpr double kLeft = 72;
constexpr double kTop = 44;
constexpr double kPlotWidth = 560;
constexpr double kPlotHeight = 200;
constexpr double kBottom = kTop + kPlotHeight;
constexpr std::int64_t kDrawnStepsMax = 2000;
constexpr std::size_t kPartedSegmentsMax = 40;
constexpr std::int64_t kDottedStepsMax = 60;

struct Drawn {
  Step step;
  Step next;  // the next one that is drawn, or the end
  const Function* function;
  double y = 0;  // of the values drawn; of text and booleans the place among them
};

// 1, 2 or 5 times a power of ten: three to eight of them in the range.
double ValueTickDistance(double range) {
  const double power = std::pow(10.0, std::floor(std::log10(range / 3)));
  for (const double factor : {5, 2}) {
    if (range / (factor * power) >= 3) return factor * power;
  }
  return power;
}

std::string PrintTick(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

class Painter {
 public:
  Painter(const Sequence& sequence, Step from, Step to)
      : sequence_(sequence), from_(from), to_(to), svg_(kLeft + kPlotWidth + 24, kBottom + 44) {
    const std::int64_t stride = (to - from - 1) / kDrawnStepsMax + 1;
    for (Step step = from; step < to; step = step + stride) {
      drawn_.push_back({step, std::min(to, step + stride), &FunctionAt(sequence, step), PlaceOf(At(sequence, step))});
    }
    const auto less = [](const Drawn& a, const Drawn& b) { return a.y < b.y; };
    const auto [least, most] = std::minmax_element(drawn_.begin(), drawn_.end(), less);
    low_ = least->y;
    high_ = most->y;
    const double margin = high_ > low_ ? (high_ - low_) * 0.06 : std::max(0.5, std::abs(high_) * 0.1);
    low_ -= margin;
    high_ += margin;
  }

  std::string Paint(const std::string& title) {
    svg_.Text(kLeft, 24, 13, "#212529", title, " font-family=\"monospace\"");
    PaintStepAxis();
    PaintValueAxis();
    PaintParts();
    PaintCurve();
    return svg_.Finish();
  }

 private:
  double PlaceOf(const Value& value) {
    if (const auto* floating = std::get_if<double>(&value)) return *floating;
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
    const auto known = std::find(categories_.begin(), categories_.end(), value);
    const auto place = static_cast<double>(known - categories_.begin());
    if (known == categories_.end()) categories_.push_back(value);
    return place;
  }

  double X(Step step) const {
    return kLeft + kPlotWidth * static_cast<double>(step - from_) / static_cast<double>(to_ - from_);
  }
  double Y(double value) const { return kBottom - kPlotHeight * ((value - low_) / (high_ - low_)); }

  void PaintStepAxis() {
    const std::int64_t distance = TickDistance(to_ - from_);
    const std::int64_t first = (from_.value + distance - 1) / distance * distance;
    for (std::int64_t step = first; step <= to_.value; step += distance) {
      svg_.Line(X(Step{step}), kTop, X(Step{step}), kBottom, "#f1f3f5");
      svg_.Text(X(Step{step}), kBottom + 16, 11, "#868e96", std::to_string(step), " text-anchor=\"middle\"");
    }
    svg_.Text(kLeft + kPlotWidth / 2, kBottom + 34, 12, "#868e96", "step", " text-anchor=\"middle\"");
  }

  void PaintValueTick(double value, const std::string& text) {
    svg_.Line(kLeft, Y(value), kLeft + kPlotWidth, Y(value), "#e9ecef");
    svg_.Text(kLeft - 8, Y(value) + 4, 11, "#868e96", text, " text-anchor=\"end\"");
  }

  void PaintValueAxis() {
    for (std::size_t i = 0; i < categories_.size(); ++i) PaintValueTick(static_cast<double>(i), Print(categories_[i]));
    if (!categories_.empty()) return;
    const double distance = ValueTickDistance(high_ - low_);
    if (!std::isfinite(distance) || distance <= 0) return;
    const double first = std::ceil(low_ / distance);
    for (int i = 0; (first + i) * distance <= high_ && i < 20; ++i) {
      PaintValueTick((first + i) * distance, PrintTick((first + i) * distance + 0.0));
    }
  }

  void PaintParts() {
    if (sequence_.segments.size() > kPartedSegmentsMax) return;
    for (const Segment& segment : sequence_.segments) {
      if (segment.start <= from_ || segment.start >= to_) continue;
      svg_.out() << "<path d=\"M" << X(segment.start) << ' ' << kTop << " V" << kBottom
                 << "\" stroke=\"#adb5bd\" stroke-dasharray=\"3 3\"/>\n";
    }
  }

  // A line for each function; what stays the same is drawn to the step at which it ends.
  void PaintCurve() {
    svg_.out() << "<path fill=\"none\" stroke=\"#1c7ed6\" stroke-width=\"1.8\" stroke-linejoin=\"round\" d=\"";
    const Function* before = nullptr;
    for (std::size_t i = 0; i < drawn_.size(); ++i) {
      const Drawn& each = drawn_[i];
      svg_.out() << (each.function == before ? 'L' : 'M') << X(each.step) << ' ' << Y(each.y) << ' ';
      const bool last = i + 1 == drawn_.size() || drawn_[i + 1].function != each.function;
      const bool constant = std::holds_alternative<Constant>(each.function->primitive);
      if (last && (constant || each.function != before)) svg_.out() << 'H' << X(each.next) << ' ';
      before = each.function;
    }
    svg_.out() << "\"/>\n";
    if (to_ - from_ > kDottedStepsMax) return;
    for (const Drawn& each : drawn_) {
      svg_.out() << "<circle cx=\"" << X(each.step) << "\" cy=\"" << Y(each.y) << "\" r=\"2.2\" fill=\"#1c7ed6\"/>\n";
    }
  }

  const Sequence& sequence_;
  const Step from_;
  const Step to_;
  std::vector<Drawn> drawn_;
  std::vector<Value> categories_;  // of text and booleans, as they first appear
  double low_ = 0;
  double high_ = 0;
  SvgDocument svg_;
};

}  // namespace

std::string SequenceSvg(const Sequence& sequence, Step from, Step to, const std::string& title) {
  return Painter(sequence, from, to).Paint(Shortened(title));
}

}  // namespace espalier
