#include "master/rpc/message_parts.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

namespace espalier::master {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::internal::WireFormatLite;

constexpr int kDepthMax = 100;  // as when it is read

class PartCounter {
 public:
  PartCounter(google::protobuf::io::ZeroCopyInputStream& bytes, std::size_t most) : input_(&bytes), most_(most) {}

  // Counts on to the end of a message. False: there is no more to count.
  bool Count(const Descriptor& message, int depth) {
    while (const std::uint32_t tag = input_.ReadTag()) {
      if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
        if (!WireFormatLite::SkipField(&input_, tag)) return false;
        continue;
      }
      std::uint32_t length = 0;
      if (count_ == most_ || !input_.ReadVarint32(&length)) return false;
      ++count_;
      const auto* field = message.FindFieldByNumber(WireFormatLite::GetTagFieldNumber(tag));
      if (field == nullptr || field->message_type() == nullptr || depth == kDepthMax) {
        if (!input_.Skip(static_cast<int>(length))) return false;
        continue;
      }
      const auto limit = input_.PushLimit(static_cast<int>(length));
      if (!Count(*field->message_type(), depth + 1)) return false;
      input_.PopLimit(limit);
    }
    return true;
  }

  std::size_t count() const { return count_; }

 private:
  google::protobuf::io::CodedInputStream input_;
  const std::size_t most_;
  std::size_t count_ = 0;
};

}  // namespace

std::size_t CountParts(google::protobuf::io::ZeroCopyInputStream& bytes, const Descriptor& message, std::size_t most) {
  PartCounter counter(bytes, most);
  counter.Count(message, 0);
  return counter.count();
}

}  // namespace espalier::master
