// What workers of this server can be made of, and what those of each runtime have said that they train. Of two runtimes
// that offer the same, the one named first trains it. Some are the server's own; others are of users' code, and come
// and go.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "worker/node/core/worker_words.h"

namespace espalier::node {

class Runtimes {
 public:
  // REQUIRES: names are not empty, and differ.
  explicit Runtimes(const std::vector<std::string>& names);

  struct Runtime {
    std::string name;
    std::optional<Description> description;  // of its worker that has described itself last
    std::set<Digest128> offers;              // of it
    bool is_tried = false;                   // a worker has described itself, or died before
    bool is_own = true;                      // of the server
  };
  const std::vector<Runtime>& all() const { return runtimes_; }
  // REQUIRES: it is one of all().
  const Runtime& Get(const std::string& name) const;

  void OnDescribed(const std::string& name, const Description& description);
  // One of users' code; nothing if there is one of that name.
  void Add(const std::string& name);
  void Remove(const std::string& name);

  // A worker has ended without a description.
  void OnNotDescribed(const std::string& name);
  // Null as long as no runtime has described that it offers this. O(runtimes log offers).
  const Runtime* Offering(Digest128 offer) const;
  // Of the server's own: some have described themselves, and none is still to be heard for the first time.
  bool are_known() const;
  // Of the server's own, each trainer once.
  const std::vector<ServerOffer>& Offers() const { return offers_; }

 private:
  void ListOffers();

  std::vector<Runtime> runtimes_;
  std::vector<ServerOffer> offers_;
};

}  // namespace espalier::node
