// What a person sees of a run: a few lines that change on a terminal, one line for each event
// elsewhere.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cli/render/output.h"
#include "llm/ledger.h"
#include "loop/conduct/driver.h"

namespace kerf::cli {

class RunView : public conduct::Observer {
 public:
  // `ledger` and `out` outlive it.
  RunView(Output& out, Clock& clock, const llm::Ledger& ledger, size_t tasks);

  void Asked(size_t task, const conduct::Task& state, const std::string& agent) override;
  void Answered(size_t task, const conduct::Task& state, const llm::Reply& reply) override;
  void Judging(size_t task, const conduct::Task& state) override;
  void Preparing(size_t task, const conduct::Task& state) override;
  void Waiting(size_t task, const conduct::Task& state, const std::string& what) override;
  void Judged(size_t task, const conduct::Task& state,
              const conduct::Judgement& judgement) override;
  void Ended(size_t task, const conduct::Task& state, const conduct::TaskOutcome& outcome) override;
  void Idle() override;
  // Shown below the tasks until they have ended.
  void Say(const std::string& what);

 private:
  struct Row {
    std::string name;
    std::string doing;
    int64_t step = 0;
    int64_t limit = 0;
    int64_t tokens = 0;
    double best = 0;  // speedup; 0: none yet
    int64_t since = 0;
    bool running = false;
    bool ended = false;
  };

  void Update(size_t task, const conduct::Task& state, const std::string& doing);
  void Draw();
  [[nodiscard]] std::string Line(const Row& row) const;

  Output& out_;
  Clock& clock_;
  const llm::Ledger& ledger_;
  std::vector<Row> rows_;
  std::string said_;
  const int64_t begin_;
};

}  // namespace kerf::cli
