// What a person sees of `kerf optimize`: one line for each event, and on a terminal what is under
// way.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/clock.h"
#include "cli/render/output.h"
#include "llm/ledger.h"
#include "loop/optimize/optimizer.h"

namespace kerf::cli {

class OptimizeView : public optimize::Watcher {
 public:
  // All outlive it.
  OptimizeView(Output& out, Clock& clock, const llm::Ledger& ledger);

  void Asked(const optimize::Line& line, const std::string& agent) override;
  void Answered(const optimize::Line& line, const llm::Reply& reply) override;
  void Judging(const optimize::Line& line) override;
  void Judged(const optimize::Line& line) override;
  void Waiting(const optimize::Line& line, const std::string& what) override;
  void Prepared(const optimize::Case& one) override;
  void Ended(const optimize::IterationReport& report) override;
  void Idle() override;
  void Say(const std::string& what) { out_.Note(what); }

 private:
  void Doing(const optimize::Line& line, const std::string& what);
  void Draw();

  Output& out_;
  Clock& clock_;
  const llm::Ledger& ledger_;
  const int64_t begin_;
  std::map<std::string, std::string> doing_;  // by line
};

}  // namespace kerf::cli
