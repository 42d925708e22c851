#include "loop/verify/test_run.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "loop/verify/simt_findings.h"

namespace kerf::verify {
namespace {

// A test of a kernel computes megabytes; one that leaves more fills the judge's memory.
constexpr off_t kMostBytes = off_t{2} << 30;

Finding NoResult(const std::string& why) {
  return {VerdictStatus::kRuntimeError, "no_result", why};
}

// What an answer says, or how the process ended when there is none.
Finding FindingOf(const Exchange& exchange, Runner& runner) {
  Finding finding = JudgeReply(exchange);
  if (finding.bad() || exchange.kind == Exchange::Kind::kReplied) return finding;
  const Result<sandbox::Outcome>& outcome = runner.End();
  return outcome.ok() ? JudgeOutcome(*outcome, "") : NoResult("the process gave no answer");
}

Result<std::string> ReadAll(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return ErrnoError("look at", "a memory file", errno);
  if (info.st_size > kMostBytes) return Corrupt("the test's result is larger than 2 GiB");
  std::string bytes(static_cast<size_t>(info.st_size), '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n =
        ::pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Corrupt("the test's result breaks off");
    done += static_cast<size_t>(n);
  }
  return bytes;
}

// An Error tells what the runner said, or that it said nothing.
Result<std::string> FetchBytes(Runner& runner, std::chrono::milliseconds timeout, bool last) {
  const Fd file(::memfd_create("result", MFD_CLOEXEC));
  if (!file.open()) return ErrnoError("create", "a memory file", errno);
  const Finding finding = FindingOf(runner.WriteResult(file.get(), timeout), runner);
  // From then on nobody can change it.
  if (last) (void)runner.End();
  if (finding.bad()) return Corrupt(finding.text);
  return ReadAll(file.get());
}

}  // namespace

Result<TestResult> FetchTestResult(Runner& runner, std::chrono::milliseconds timeout) {
  KERF_ASSIGN_OR_RETURN(std::string bytes, FetchBytes(runner, timeout, /*last=*/false));
  return ParseTestResult(std::move(bytes));
}

TestRun RunTest(Runner& runner, std::chrono::milliseconds timeout) {
  TestRun run;
  const Exchange loaded = runner.Load(timeout);
  run.wall = loaded.wall;
  run.finding = FindingOf(loaded, runner);
  // What an emulated kernel was caught at says more than how the process ended.
  const SimtFindings caught = ReadSimtFindings(runner.TakeFindings());
  run.log = caught.log;
  if (caught.worst.bad()) run.finding = caught.worst;
  if (run.finding.bad()) return run;
  Result<std::string> bytes = FetchBytes(runner, timeout, /*last=*/true);
  Result<TestResult> result = bytes.ok() ? ParseTestResult(*std::move(bytes)) : bytes.error();
  if (result.ok()) {
    run.result = *std::move(result);
  } else {
    run.finding = NoResult(result.error().message);
  }
  return run;
}

}  // namespace kerf::verify
