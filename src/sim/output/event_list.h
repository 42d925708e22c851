// The events of a trace.json, one after the other.
#pragma once

#include "sim/output/text.h"

namespace kerf::sim {

class EventList {
 public:
  explicit EventList(std::string& out) : out_(out) {}

  [[nodiscard]] bool empty() const { return empty_; }

  // Before an event that the caller writes.
  void Begin() {
    if (!empty_) out_ += ',';
    empty_ = false;
  }

  // A name or an order of a row. `args`: the members of an object.
  void Meta(const char* what, uint32_t pid, uint64_t tid, const std::string& args) {
    Begin();
    out_.append(R"({"args":{)")
        .append(args)
        .append(R"(},"name":")")
        .append(what)
        .append(R"(","ph":"M","pid":)");
    AppendNumber(out_, pid);
    out_.append(R"(,"tid":)");
    AppendNumber(out_, tid);
    out_ += '}';
  }

 private:
  std::string& out_;
  bool empty_ = true;
};

}  // namespace kerf::sim
