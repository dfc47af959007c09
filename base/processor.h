// What a processor is called in a device kind. Libraries of mathematics choose their ways by its maker, its
// instructions and its caches, and so the bits differ between models, even of one instruction set.
#pragma once

#include <iosfwd>
#include <string>

namespace espalier {

// As device kinds have what they name: in lower case, in one word, without spaces around it.
std::string AsWord(std::string text);

// What the environment calls this machine's processor instead, for an administrator who knows that several compute
// alike; empty: nothing.
constexpr char kProcessorVariable[] = "ESPALIER_PROCESSOR";

// Maker, family and model in one word: "genuineintel-6-143", "0x41-0xd40" (ARM: implementer and part). `description`:
// as /proc/cpuinfo has it, of which the first processor counts. Empty if it says nothing of these.
std::string ProcessorIn(std::istream& description);

// This machine's, or what the environment says. The same for as long as the process lives.
std::string Processor();

}  // namespace espalier
