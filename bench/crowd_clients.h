// Clients that are connected and listen: each with a connection and a stream of its own, which watches one study after
// the other, as it is told. One thread beside the owner's.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"

namespace espalier::bench {

class CrowdClients {
 public:
  // So many, of the users with these tokens in turn. Returns once all streams are open.
  CrowdClients(const std::string& address, const std::vector<std::string>& tokens, std::size_t count);
  // Ends all streams.
  ~CrowdClients();

  // Client `client` watches the study from its first event on, besides what it watches already.
  void Watch(std::size_t client, StudyId study);

  // That all were sent so far. Gives up where one of them came out of turn, or a stream has ended.
  std::int64_t events() const;

 private:
  struct Client;
  struct Parts;
  void Read();
  void Take(Client& client);

  std::unique_ptr<Parts> parts_;
};

}  // namespace espalier::bench
