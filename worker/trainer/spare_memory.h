// The memory of the last large state that was written, kept for the next one of that training: copying into it takes
// an eighth of what fresh memory takes, and training stands meanwhile. Holds at most what that state held. Any thread.
#pragma once

#include <cstddef>
#include <string>

#include "worker/trainer/state.h"

namespace espalier::trainer {

// A text of so many bytes of any content.
std::string TakeBytes(std::size_t count);

// In the place of what is kept.
void KeepMemoryOf(State&& state);

// Gives all that is free back to the system, too, so that it does not count as the next training's.
void ForgetSpareMemory();

}  // namespace espalier::trainer
