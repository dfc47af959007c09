#include "client/cli/slots_svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <sstream>

#include "client/cli/output.h"
#include "client/cli/svg.h"

namespace espalier {
namespace {

constexpr double kWidth = 1000;
constexpr double kLeft = 118;
constexpr double kPlotWidth = kWidth - kLeft - 26;
constexpr double kHeadHeight = 44;
constexpr double kLegendRow = 20;
constexpr double kLegendWidth = 210;
constexpr std::size_t kLegendMax = 24;
constexpr double kUtilizationHeight = 56;
constexpr double kPanelHead = 34;
constexpr double kPanelGap = 12;
constexpr double kPanelFoot = 30;
constexpr std::size_t kBinCount = 428;  // of two pixels each
constexpr double kNarrow = 3;           // pixels: runs that are narrower may be drawn as one
constexpr double kLaneTextHeight = 9;

// Told apart by most eyes, on white and on black. More studies than that begin again.
constexpr std::array<const char*, 10> kColours = {"#3b82c4", "#e07b28", "#3a9a5b", "#c9466b", "#8a63c9",
                                                  "#1aa3a3", "#b3932c", "#d873b4", "#7a8794", "#9a6a4b"};

constexpr const char* kStyle = R"(<style>
.paper{fill:#ffffff} .edge{stroke:#ffffff} .ink{fill:#1f2328} .faint{fill:#6a737d} .rule{stroke:#d7dce1} .idle{fill:#8a97a5;fill-opacity:0.15}
@media (prefers-color-scheme: dark){
.paper{fill:#15181d} .edge{stroke:#15181d} .ink{fill:#e6e9ed} .faint{fill:#9aa4ae} .rule{stroke:#3a424b}
}
</style>
)";

const char* ColourOf(std::size_t study) { return kColours[study % kColours.size()]; }

// The least of the usual distances so that there are at most ten ticks until the end.
double TimeTickDistance(double end) {
  constexpr std::array<double, 21> kDistances = {1,     2,     5,     10,    15,     30,     60,
                                                 120,   300,   600,   900,   1800,   3600,   7200,
                                                 14400, 21600, 43200, 86400, 172800, 432000, 864000};
  if (end <= kDistances.front()) return end / 5;
  const auto* const found =
      std::find_if(kDistances.begin(), kDistances.end(), [&](double each) { return end / each <= 10; });
  return found == kDistances.end() ? std::ceil(end / 864000 / 10) * 864000 : *found;
}

// In a unit that suits the whole axis.
std::string TickText(double seconds, double end) {
  struct Unit {
    double seconds;
    const char* name;
  };
  constexpr std::array<Unit, 4> kUnits = {{{86400, " d"}, {3600, " h"}, {60, " min"}, {1, " s"}}};
  for (const Unit& unit : kUnits) {
    if (end >= 2 * unit.seconds || unit.seconds == 1) return FormatNumber(seconds / unit.seconds) + unit.name;
  }
  return "";
}

std::string Shortened(const std::string& text, std::size_t length_max) {
  return text.size() <= length_max ? text : text.substr(0, length_max - 3) + "...";
}

class SlotsPainter {
 public:
  SlotsPainter(const std::string& title, const std::vector<std::string>& studies,
               const std::vector<SlotSchedule>& schedules)
      : title_(title), studies_(studies), schedules_(schedules), svg_(kWidth, Height()) {
    for (const SlotSchedule& schedule : schedules) end_ = std::max(end_, schedule.end.count());
    if (end_ <= 0) end_ = 1;
  }

  std::string Paint() {
    svg_.out() << kStyle << "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n";
    Text(24, 28, 17, "ink", title_, " font-weight=\"bold\"");
    PaintLegend();
    double y = kHeadHeight + LegendHeight();
    for (const SlotSchedule& schedule : schedules_) {
      PaintSchedule(schedule, y);
      y += HeightOf(schedule);
    }
    return svg_.Finish();
  }

 private:
  double X(double seconds) const { return kLeft + kPlotWidth * std::clamp(seconds / end_, 0.0, 1.0); }
  double LegendHeight() const {
    const double shown = static_cast<double>(std::min(studies_.size(), kLegendMax) + (studies_.size() > kLegendMax));
    return kLegendRow * std::ceil(shown / 4);
  }
  static std::size_t LaneCount(const SlotSchedule& schedule) { return std::min(schedule.slots.size(), kDrawnSlotsMax); }
  static double LaneHeight(const SlotSchedule& schedule) {
    return std::clamp(260.0 / static_cast<double>(std::max<std::size_t>(1, LaneCount(schedule))), 1.2, 22.0);
  }
  static double HeightOf(const SlotSchedule& schedule) {
    return kPanelHead + kUtilizationHeight + kPanelGap +
           LaneHeight(schedule) * static_cast<double>(LaneCount(schedule)) + kPanelFoot;
  }
  double Height() const {
    double height = kHeadHeight + LegendHeight() + 8;
    for (const SlotSchedule& schedule : schedules_) height += HeightOf(schedule);
    return height;
  }

  void Text(double x, double y, double size, const char* kind, const std::string& text, const std::string& more = "") {
    svg_.out() << "<text class=\"" << kind << "\" x=\"" << x << "\" y=\"" << y << "\" font-size=\"" << size << "\""
               << more << ">" << EscapedXml(text) << "</text>\n";
  }
  void Rule(double x1, double y1, double x2, double y2) {
    svg_.out() << "<line class=\"rule\" x1=\"" << x1 << "\" y1=\"" << y1 << "\" x2=\"" << x2 << "\" y2=\"" << y2
               << "\"/>\n";
  }

  void PaintLegend() {
    const std::size_t shown = std::min(studies_.size(), kLegendMax);
    const auto place = [](std::size_t i) {
      return std::pair(24 + kLegendWidth * static_cast<double>(i % 4),
                       kHeadHeight + kLegendRow * static_cast<double>(i / 4));
    };
    for (std::size_t i = 0; i < shown; ++i) {
      const auto [x, y] = place(i);
      svg_.out() << "<rect x=\"" << x << "\" y=\"" << y << "\" width=\"14\" height=\"11\" rx=\"2\" fill=\""
                 << ColourOf(i) << "\"/>\n";
      Text(x + 20, y + 10, 12, "ink", Shortened(studies_[i], 28));
    }
    if (shown == studies_.size()) return;
    const auto [x, y] = place(shown);
    Text(x, y + 10, 12, "faint", "and " + FormatCount(static_cast<std::int64_t>(studies_.size() - shown)) + " more");
  }

  void PaintSchedule(const SlotSchedule& schedule, double top) {
    const double chart = top + kPanelHead;
    const double lanes = chart + kUtilizationHeight + kPanelGap;
    const double bottom = lanes + LaneHeight(schedule) * static_cast<double>(LaneCount(schedule));
    Text(24, top + 20, 13, "ink", schedule.title);
    PaintAxis(chart, lanes, bottom);
    PaintUtilization(schedule, chart);
    PaintLanes(schedule, lanes);
    if (schedule.slots.size() > kDrawnSlotsMax) {
      Text(kLeft + kPlotWidth, top + 20, 11, "faint",
           "the first " + FormatCount(kDrawnSlotsMax) + " of " +
               FormatCount(static_cast<std::int64_t>(schedule.slots.size())) + " slots",
           " text-anchor=\"end\"");
    }
  }

  void PaintAxis(double chart, double lanes, double bottom) {
    const double distance = TimeTickDistance(end_);
    for (int i = 0; i * distance <= end_; ++i) {
      const double x = X(i * distance);
      Rule(x, chart, x, chart + kUtilizationHeight);
      Rule(x, lanes, x, bottom + 4);
      Text(x, bottom + 16, 11, "faint", TickText(i * distance, end_), " text-anchor=\"middle\"");
    }
  }

  // Of each study the slots that were held for it, one upon the other.
  void PaintUtilization(const SlotSchedule& schedule, double top) {
    const double bottom = top + kUtilizationHeight;
    std::map<std::size_t, std::vector<double>> held;
    const double bin = end_ / static_cast<double>(kBinCount);
    for (const HeldSlots& each : schedule.held) {
      for (const auto& [study, share] : each.shares) {
        std::vector<double>& bins = held.try_emplace(study, kBinCount, 0.0).first->second;
        const auto first = static_cast<std::size_t>(std::max(0.0, each.from.count() / bin));
        for (std::size_t i = first; i < kBinCount && static_cast<double>(i) * bin < each.until.count(); ++i) {
          const double from = std::max(each.from.count(), static_cast<double>(i) * bin);
          const double until = std::min(each.until.count(), static_cast<double>(i + 1) * bin);
          bins[i] += share * each.count * std::max(0.0, until - from) / bin;
        }
      }
    }
    svg_.out() << "<rect class=\"idle\" x=\"" << kLeft << "\" y=\"" << top << "\" width=\""
               << X(schedule.end.count()) - kLeft << "\" height=\"" << kUtilizationHeight << "\"/>\n";
    const double unit = kUtilizationHeight / static_cast<double>(std::max<std::size_t>(1, schedule.slots.size()));
    std::vector<double> base(kBinCount, 0.0);
    for (const auto& [study, bins] : held) {
      std::ostringstream there;
      std::string back;
      for (std::size_t i = 0; i < kBinCount; ++i) {
        const double x = kLeft + kPlotWidth * static_cast<double>(i) / static_cast<double>(kBinCount);
        const double next = kLeft + kPlotWidth * static_cast<double>(i + 1) / static_cast<double>(kBinCount);
        const double low = bottom - base[i] * unit;
        base[i] += bins[i];
        const double high = std::max(top, bottom - base[i] * unit);
        there << (i == 0 ? "M" : "L") << Rounded(x) << ' ' << Rounded(high) << " H" << Rounded(next);
        back = " L" + Rounded(next) + " " + Rounded(low) + " H" + Rounded(x) + back;
      }
      svg_.out() << "<path fill=\"" << ColourOf(study) << "\" d=\"" << there.str() << back << " Z\"/>\n";
    }
    Text(kLeft - 8, top + 9, 11, "faint", "100 %", " text-anchor=\"end\"");
    Text(kLeft - 8, bottom, 11, "faint", "0 %", " text-anchor=\"end\"");
    Text(kLeft - 8, (top + bottom) / 2 + 4, 11, "ink", "slots held", " text-anchor=\"end\"");
    Rule(kLeft, bottom, kLeft + kPlotWidth, bottom);
  }

  static std::string Rounded(double value) {
    std::ostringstream text;
    text << std::round(value * 10) / 10;
    return text.str();
  }

  // Pieces of one lane that are next to each other and drawn as one.
  struct Piece {
    double from = 0;
    double until = 0;
    const HeldSlots* first = nullptr;
    std::int64_t count = 0;
  };

  void PaintLanes(const SlotSchedule& schedule, double top) {
    const double height = LaneHeight(schedule);
    std::map<DrawnSlot, std::size_t> lane_of;
    for (std::size_t i = 0; i < LaneCount(schedule); ++i) lane_of.emplace(schedule.slots[i], i);
    std::vector<std::vector<const HeldSlots*>> lanes(LaneCount(schedule));
    for (const HeldSlots& each : schedule.held) {
      const auto lane = lane_of.find(each.slot);
      if (lane != lane_of.end()) lanes[lane->second].push_back(&each);
    }
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      const double y = top + height * static_cast<double>(i);
      svg_.out() << "<rect class=\"idle\" x=\"" << kLeft << "\" y=\"" << y + height * 0.06 << "\" width=\""
                 << X(schedule.end.count()) - kLeft << "\" height=\"" << height * 0.88 << "\"/>\n";
      std::ranges::sort(lanes[i], {}, [](const HeldSlots* each) { return each->from; });
      PaintLane(lanes[i], y + height * 0.06, height * 0.88);
    }
    PaintLaneLabels(schedule, top, height);
  }

  void PaintLane(const std::vector<const HeldSlots*>& held, double y, double height) {
    std::optional<Piece> open;
    const auto close = [&] {
      if (open) PaintPiece(*open, y, height);
      open.reset();
    };
    for (const HeldSlots* each : held) {
      const double from = X(each->from.count());
      const double until = X(each->until.count());
      const bool joins = open && until - from < kNarrow && open->until - open->from < kNarrow &&
                         from - open->until < 0.5 && SameStudies(*open->first, *each);
      if (!joins) {
        close();
        open = Piece{from, from, each, 0};
      }
      open->until = std::max(open->until, until);
      ++open->count;
    }
    close();
  }

  static bool SameStudies(const HeldSlots& a, const HeldSlots& b) {
    return std::ranges::equal(
        a.shares, b.shares, {}, [](const auto& share) { return share.first; },
        [](const auto& share) { return share.first; });
  }

  // A run for several studies in bands, as high as their shares.
  void PaintPiece(const Piece& piece, double y, double height) {
    const double width = std::max(0.6, piece.until - piece.from);
    const std::string label = piece.count == 1 ? piece.first->label : FormatCount(piece.count) + " runs";
    double total = 0;
    for (const auto& [study, share] : piece.first->shares) total += share;
    double band = y;
    svg_.out() << "<g class=\"edge\" stroke-width=\"" << (width > kNarrow && height > 4 ? 0.8 : 0) << "\"><title>"
               << EscapedXml(label) << "</title>";
    for (const auto& [study, share] : piece.first->shares) {
      const double part = total > 0 ? height * share / total : height / static_cast<double>(piece.first->shares.size());
      svg_.out() << "<rect x=\"" << piece.from << "\" y=\"" << band << "\" width=\"" << width << "\" height=\"" << part
                 << "\" fill=\"" << ColourOf(study) << "\"/>";
      band += part;
    }
    svg_.out() << "</g>\n";
  }

  // Of each lane its slot; where there is no room for that, of each server its name.
  void PaintLaneLabels(const SlotSchedule& schedule, double top, double height) {
    const std::size_t count = LaneCount(schedule);
    const double size = std::min(11.0, std::max(height * 0.8, kLaneTextHeight));
    for (std::size_t i = 0; i < count;) {
      std::size_t next = i + 1;
      if (height < kLaneTextHeight) {
        while (next < count && schedule.slots[next].server == schedule.slots[i].server) ++next;
      }
      const double block = height * static_cast<double>(next - i);
      const double y = top + height * static_cast<double>(i) + block / 2 + size * 0.36;
      const bool is_whole_server = height < kLaneTextHeight;
      const DrawnSlot& slot = schedule.slots[i];
      if (block >= kLaneTextHeight) {
        const std::string label =
            Shortened(slot.server, 15) + (is_whole_server ? "" : " " + std::to_string(slot.index));
        Text(kLeft - 8, y, size, "faint", label, " text-anchor=\"end\"");
      }
      i = next;
    }
  }

  const std::string title_;
  const std::vector<std::string>& studies_;
  const std::vector<SlotSchedule>& schedules_;
  double end_ = 0;
  SvgDocument svg_;
};

}  // namespace

double UtilizationOf(const SlotSchedule& schedule) {
  const double all = schedule.end.count() * static_cast<double>(schedule.slots.size());
  if (all <= 0) return 0;
  double held = 0;
  for (const HeldSlots& each : schedule.held) held += (each.until - each.from).count() * each.count;
  return std::min(1.0, held / all);
}

std::string SlotsSvg(const std::string& title, const std::vector<std::string>& studies,
                     const std::vector<SlotSchedule>& schedules) {
  return SlotsPainter(title, studies, schedules).Paint();
}

}  // namespace espalier
