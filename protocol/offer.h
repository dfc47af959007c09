// What a server offers to train, and what it is: as its node manager says, and as the master matches it by digest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/digest.h"
#include "protocol/checked_trainer.h"
#include "protocol/device.h"
#include "searchplan/sequence/training_identity.h"

namespace espalier {

// One trainer with one data set. Its digests are its identity: the same name with other digests is another offer.
struct Offer {
  std::string trainer;            // as study files name it
  std::string code_digest;        // of the code; built-in trainers declare a version, so that rebuilding keeps sharing
  std::string data;               // as study files name it; empty: the trainer brings its own
  std::string data_digest;        // of the training data
  std::string evaluation_digest;  // evaluation identity: of the validation data and the evaluation settings
  Schema schema;
  std::vector<std::string> metrics;  // that an evaluation returns
  friend bool operator==(const Offer&, const Offer&) = default;
};

// A training by this offer.
TrainingIdentity TrainingOf(const Offer& offer, StepMeaning step);

// A plan is trained only by an offer whose TrainerDigest is that of its training identity.
Digest128 TrainerDigest(const Offer& offer);

// Of the whole offer, evaluation and metrics included.
Digest128 DigestOf(const Offer& offer);

// An offer as a server makes it.
struct ServerOffer {
  Offer offer;
  std::string device_kind;  // as the workers that train it describe it
  friend bool operator==(const ServerOffer&, const ServerOffer&) = default;
};

// What a server has made of a trainer reference that it was told of (protocol/trainer_reference.h).
struct DescribedReference {
  Digest128 reference;
  std::int64_t asked = 0;           // as the orders said when it was described, or refused
  std::vector<ServerOffer> offers;  // empty: it is refused
  std::string refused;              // why, for people
  friend bool operator==(const DescribedReference&, const DescribedReference&) = default;
};

// What a node manager says of its server when it registers.
struct Registration {
  std::string server;                  // unique among servers
  std::string incarnation;             // unique to this start of the node manager; see WorkDirectoryIdOf
  std::vector<Device> devices = {};    // slot 0 is the first one's first
  int host_cores = 0;                  // of the server; 0: not known
  std::int64_t host_memory_bytes = 0;  // likewise
  std::vector<ServerOffer> offers;
  bool draining = false;  // it is being stopped: its runs save and end, and it takes no new ones
  std::string trouble;    // what keeps checkpoints from the store, or runs from going on, for people; empty: nothing
  std::vector<DescribedReference> references = {};  // each once; not those that are still looked at
  std::string version = {};                         // of the node manager; empty: not known
  std::vector<CheckedTrainer> checked = {};         // of the checks that are wanted of it, those that are done
  friend bool operator==(const Registration&, const Registration&) = default;
};

// What all starts of node managers in one work directory have in common: their incarnations up to the last '-'. Empty:
// there is none.
std::string_view WorkDirectoryIdOf(std::string_view incarnation);

}  // namespace espalier
