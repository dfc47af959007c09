#include "master/core/views/sequence_hints.h"

#include "searchplan/sequence/near_miss_search.h"

namespace espalier::master {

void SequenceCollector::Add(const Study& study, const ResolvedTrial& trial) {
  const Digest128 training = DigestOf(PlanIdentity{.training = study.training});
  for (const auto& [name, text] : trial.trial->sequences) {
    const HyperParameter* declared = study.training.schema.Find(name);
    Subject& subject = subjects_[{training, name}];
    subject.type = declared != nullptr ? declared->type : study.specification.undeclared.at(name);
    Step& horizon = subject.texts[text];
    horizon = std::max(horizon, trial.horizon);
  }
}

SequenceHints SequenceCollector::Find() const {
  SequenceHints found;
  for (const auto& [key, subject] : subjects_) {
    if (subject.type != ValueType::kFloating || subject.texts.size() < 2) continue;
    std::vector<const std::string*> texts;
    std::vector<Sequence> sequences;
    for (const auto& [text, horizon] : subject.texts) {
      const auto expression = ParseExpression(text);
      if (!expression.has_value()) continue;
      const auto sequence = Compile(*expression, subject.type, horizon);
      if (!sequence.has_value()) continue;
      texts.push_back(&text);
      sequences.push_back(*sequence);
    }
    for (const NearPair& pair : FindNearMisses(sequences)) {
      const Step shorter = std::min(sequences[pair.a].horizon, sequences[pair.b].horizon);
      found.near_misses.push_back({.hyper_parameter = key.second,
                                   .first = *texts[pair.a],
                                   .second = *texts[pair.b],
                                   .near_miss = pair.near_miss,
                                   .horizon = shorter});
    }
    for (EarlyParting& parting : FindEarlyPartings(sequences)) {
      PartingSequences& named = found.early_partings.emplace_back(PartingSequences{.hyper_parameter = key.second});
      for (std::size_t& place : parting.sequences) {
        named.texts.push_back(*texts[place]);
        place = named.texts.size() - 1;
      }
      named.parting = std::move(parting);
    }
  }
  return found;
}

}  // namespace espalier::master
