// espalier sequence show EXPR [--steps A:B] [--type TYPE] [--plot FILE.svg]
#include <charconv>
#include <fstream>
#include <memory>
#include <ostream>

#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/sequence_svg.h"
#include "client/study_file/study_file.h"

namespace espalier {
namespace {

constexpr std::int64_t kValueCountMax = 1'000'000;

struct Options {
  std::string expression;
  std::string steps = "0:20";
  std::string type;
  std::string plot;
};

struct StepRange {
  Step from;
  Step to;  // not included
};

Result<StepRange> ParseRange(const std::string& text) {
  StepRange range;
  const char* end = text.data() + text.size();
  const auto from = std::from_chars(text.data(), end, range.from.value);
  const bool colon = from.ec == std::errc() && from.ptr != end && *from.ptr == ':';
  const auto to = colon ? std::from_chars(from.ptr + 1, end, range.to.value) : from;
  if (!colon || to.ec != std::errc() || to.ptr != end || range.from.value < 0 || range.to <= range.from ||
      range.to > kStepMax || range.to - range.from > kValueCountMax) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "got " + text + "; expected A:B with 0 <= A < B (B not included), at most a million steps",
                     "--steps");
  }
  return range;
}

Result<Sequence> CompileOption(const Options& options, Step horizon) {
  ESPALIER_ASSIGN(const Expression expression, ParseExpression(options.expression));
  if (options.type.empty()) return CompileGuessed(expression, horizon);
  const Result<ValueType> type = ParseValueType(options.type);
  if (!type.has_value()) return InField("--type", type.error());
  return Compile(expression, *type, horizon);
}

void PrintSequenceJson(std::ostream& out, const Sequence& sequence, const StepRange& range) {
  Json segments = Json::Array();
  for (const Segment& segment : sequence.segments) {
    segments.Append(Json::Object({{"start", segment.start.value}, {"function", Print(segment.function)}}));
  }
  Json values = Json::Array();
  for (Step step = range.from; step < range.to; step = step + 1) values.Append(ToJson(At(sequence, step)));
  PrintJson(out, Json::Object({{"canonical", PrintCanonical(sequence)},
                               {"digest", ToHex(DigestOf(sequence))},
                               {"type", Name(sequence.type)},
                               {"segments", std::move(segments)},
                               {"values", std::move(values)}}));
}

void PrintSequence(std::ostream& out, const Sequence& sequence, const StepRange& range) {
  out << "canonical  " << PrintCanonical(sequence) << '\n';
  out << "digest     " << ToHex(DigestOf(sequence)) << '\n';
  out << "type       " << Name(sequence.type) << "\n\n";
  Table segments({"from step", "function"});
  for (const Segment& segment : sequence.segments) {
    segments.AddRow({std::to_string(segment.start.value), Print(segment.function)});
  }
  segments.Print(out);
  out << '\n';
  Table values({"step", "value"});
  for (Step step = range.from; step < range.to; step = step + 1) {
    values.AddRow({std::to_string(step.value), Print(At(sequence, step))});
  }
  values.Print(out);
}

Result<void> WritePlot(const Options& options, const Sequence& sequence, const StepRange& range) {
  std::ofstream file(options.plot);
  file << SequenceSvg(sequence, range.from, range.to, options.expression);
  if (file.flush()) return {};
  return MakeError(ErrorCode::kInternal, "cannot write " + options.plot, "--plot");
}

int Run(CommandContext& context, const Options& options) {
  const Result<StepRange> range = ParseRange(options.steps);
  const Result<Sequence> sequence =
      range.has_value() ? CompileOption(options, range->to) : tl::unexpected<Error>(range.error());
  if (!sequence.has_value()) {
    Fail(context, sequence.error());
    return kExitUsage;
  }
  if (!options.plot.empty()) {
    const Result<void> written = WritePlot(options, *sequence, *range);
    if (!written.has_value()) return Fail(context, written.error());
    context.err << "wrote " << options.plot << '\n';
  }
  if (context.output == OutputFormat::kJson) {
    PrintSequenceJson(context.out, *sequence, *range);
  } else {
    PrintSequence(context.out, *sequence, *range);
  }
  return kExitDone;
}

}  // namespace

Command SequenceShowCommand(CommandContext& context) {
  const auto options = std::make_shared<Options>();
  Command command{
      .name = "show",
      .help = "A sequence's canonical form, digest, segments and values. Needs no server.",
      .arguments = {{"EXPR", &options->expression, "such as \"Warmup(0.01, 5, Cosine(0.1, 0, 75))\""}},
      .options = {{"--steps", &options->steps, "the values from step A up to, not including, B (default 0:20)", "A:B"},
                  {"--type", &options->type, "what the values are, where the expression leaves it open",
                   "boolean|integer|floating|text"},
                  {"--plot", &options->plot, "draw these steps into this file, too", "FILE.svg"}}};
  AddOutputOption(command, context);
  command.run = [&context, options] { return Run(context, *options); };
  return command;
}

}  // namespace espalier
