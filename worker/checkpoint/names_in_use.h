// What goes on with the files of one store in this process: who works on which, and which are pinned. So that two calls
// with one name follow each other, and no pinned file is removed. Thread-safe.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

namespace espalier {

class NamesInUse {
 public:
  // A name that nobody else works on as long as this lives. REQUIRES: the NamesInUse lives longer.
  class Held {
   public:
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() { names_.LetGo(name_); }

   private:
    friend NamesInUse;
    Held(NamesInUse& names, std::string_view name) : names_(names), name_(name) {}
    NamesInUse& names_;
    const std::string name_;
  };

  // Waits until it is so. Not to be asked for by a thread that holds the name.
  [[nodiscard]] Held Hold(std::string_view name);

  // Each for a name that the caller holds.
  void Pin(std::string_view name);
  bool IsPinned(std::string_view name) const;
  // Whether that was the last pin.
  bool Unpin(std::string_view name);
  // A removal that has to wait for the last pin; a file put anew is not owed any more.
  void OweRemoval(std::string_view name);
  bool ForgetOwedRemoval(std::string_view name);  // whether it was owed

 private:
  void LetGo(const std::string& name);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::string, std::less<>> held_;
  std::map<std::string, int, std::less<>> pins_;
  std::set<std::string, std::less<>> owed_removals_;
};

}  // namespace espalier
