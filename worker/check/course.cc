#include "worker/check/course.h"

#include <algorithm>
#include <optional>

namespace espalier::trainer_check {
namespace {

std::optional<Value> SecondValue(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value); integer != nullptr && *integer != 0) {
    return Value{*integer * 2};
  }
  if (const auto* floating = std::get_if<double>(&value); floating != nullptr && *floating != 0) {
    return Value{*floating / 2};
  }
  return std::nullopt;
}

}  // namespace

std::vector<Change> ChangesToTry(const Schema& schema, const Sequences& given, Step at, Step end) {
  const Course course = CourseOf(schema, given, {}, {}, end);
  std::vector<Change> changes;
  for (const std::string& name : course.sequences) {
    const Value& first = course.values.front().at(name);
    const bool stays =
        std::ranges::all_of(course.values, [&](const worker::Values& values) { return values.at(name) == first; });
    const std::optional<Value> second = SecondValue(first);
    if (stays && second.has_value()) changes.push_back({name, at, first, *second});
  }
  return changes;
}

Course CourseOf(const Schema& schema, const Sequences& given, const std::vector<Change>& changes, StepMeaning step,
                Step end) {
  Course course{.step = step};
  for (const HyperParameter& each : schema.hyper_parameters) {
    if (!each.initial) course.sequences.push_back(each.name);
  }
  for (Step at; at < end; at = at + 1) {
    worker::Values& values = course.values.emplace_back();
    for (const HyperParameter& each : schema.hyper_parameters) values[each.name] = each.default_value;
    for (const auto& [name, sequence] : given) values[name] = At(sequence, at);
    for (const Change& change : changes) {
      if (at >= change.at) values[change.name] = change.to;
    }
  }
  return course;
}

worker::Values SequencesAt(const Course& course, Step step) {
  const worker::Values& all = course.values[static_cast<std::size_t>(step.value)];
  worker::Values sequences;
  for (const std::string& name : course.sequences) sequences[name] = all.at(name);
  return sequences;
}

worker::Values ChangesAt(const Course& course, Step step) {
  if (step == Step{}) return {};
  const worker::Values before = SequencesAt(course, step - 1);
  worker::Values changes = SequencesAt(course, step);
  std::erase_if(changes, [&](const auto& each) { return before.at(each.first) == each.second; });
  return changes;
}

Step FirstChange(const Course& course) {
  for (Step step; step < course.End(); step = step + 1) {
    if (!ChangesAt(course, step).empty()) return step;
  }
  return Step{};
}

}  // namespace espalier::trainer_check
