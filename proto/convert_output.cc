#include "base/text.h"
#include "proto/convert_node_protocol.h"
#include "proto/node_protocol_parts.h"

namespace espalier {
namespace {

tl::unexpected<Error> Wrong(std::string message) {
  return MakeError(ErrorCode::kInvalidArgument, std::move(message), "pieces");
}

// In order, not too much, and nothing that could not be stored.
Result<void> CheckPieces(const std::vector<OutputPiece>& pieces) {
  if (pieces.empty() || pieces.size() > kOutputPiecesMax) return Wrong("expected 1 to 32");
  std::size_t bytes = 0;
  std::int64_t end = 0;
  for (const OutputPiece& piece : pieces) {
    if (piece.step < Step{0} || piece.text.empty()) return Wrong("expected a step, and a text that is not empty");
    if (piece.position < end) return Wrong("expected them in order of position, without overlap");
    if (!IsValidText(piece.text)) return Wrong("expected UTF-8 without zero bytes");
    bytes += piece.text.size();
    end = piece.position + static_cast<std::int64_t>(piece.text.size());
  }
  if (bytes > kOutputBytesMax) return Wrong("expected at most 192 KiB together");
  return {};
}

}  // namespace

v1::PutOutputRequest ToProto(const RunOutput& output) {
  v1::PutOutputRequest message;
  Set(output.run, *message.mutable_run());
  message.set_incarnation(output.incarnation);
  for (const OutputPiece& piece : output.pieces) {
    v1::OutputPiece& part = *message.add_pieces();
    part.set_step(piece.step.value);
    part.set_position(piece.position);
    part.set_text(CleanText(piece.text));
  }
  return message;
}

Result<RunOutput> FromProto(const v1::PutOutputRequest& message) {
  if (!message.has_run()) return Missing("run");
  RunOutput output{.run = {}, .incarnation = message.incarnation(), .pieces = {}};
  ESPALIER_ASSIGN(output.run, FromProto(message.run()));
  for (const v1::OutputPiece& part : message.pieces()) {
    output.pieces.push_back({Step{part.step()}, part.position(), part.text()});
  }
  ESPALIER_RETURN_IF_ERROR(CheckPieces(output.pieces));
  return output;
}

v1::PutServerLogRequest ToProto(const ServerLogPart& part) {
  v1::PutServerLogRequest message;
  message.set_server(part.server);
  message.set_incarnation(part.incarnation);
  message.set_position(part.position);
  message.set_text(CleanText(part.text));
  return message;
}

Result<ServerLogPart> FromProto(const v1::PutServerLogRequest& message) {
  if (message.position() < 0) return MakeError(ErrorCode::kInvalidArgument, "expected at least 0", "position");
  const auto wrong = [](std::string what) { return MakeError(ErrorCode::kInvalidArgument, std::move(what), "text"); };
  if (message.text().empty()) return wrong("expected one that is not empty");
  if (message.text().size() > kServerLogPartBytesMax) return wrong("expected at most 64 KiB");
  if (!IsValidText(message.text())) return wrong("expected UTF-8 without zero bytes");
  return ServerLogPart{message.server(), message.incarnation(), message.position(), message.text()};
}

}  // namespace espalier
