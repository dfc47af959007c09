// How much memory a message will take, before it is read: an empty message within another has two bytes on the wire and
// a hundred and more in memory, an empty text some dozens.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/zero_copy_stream.h>

#include <cstddef>

namespace espalier::master {

// The messages and texts within the message whose bytes these are, at every depth, unknown ones too; `most` if there
// are more. Bytes that are no such message are counted as far as they can be. O(bytes), and no memory.
std::size_t CountParts(google::protobuf::io::ZeroCopyInputStream& bytes, const google::protobuf::Descriptor& message,
                       std::size_t most);

}  // namespace espalier::master
