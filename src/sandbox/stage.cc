#include <cstring>

#include "sandbox/plan_builder.h"

namespace kerf::sandbox {
namespace {

std::string DescribeStep(const ViewStep& step) {
  std::string inside = "/" + step.path;
  switch (step.kind) {
    case ViewStep::Kind::kFolder:
      return "make folder " + inside;
    case ViewStep::Kind::kFile:
      return "make file " + inside;
    case ViewStep::Kind::kSymlink:
      return "link " + inside;
    case ViewStep::Kind::kBind:
      return "bind " + step.from + " at " + inside;
    case ViewStep::Kind::kTmpfs:
      return "mount tmpfs at " + inside;
    case ViewStep::Kind::kProc:
      return "mount proc";
  }
  return inside;
}

std::string StageText(const LaunchPlan& plan, Stage stage, size_t index) {
  switch (stage) {
    case Stage::kNone:
      return "start";
    case Stage::kStdio:
      return "set up stdin, stdout and stderr";
    case Stage::kIdMap:
      return "map the user into the user namespace";
    case Stage::kMountPrivate:
      return "make mounts private";
    case Stage::kOpenSource:
      return "open " + plan.view[index].from;
    case Stage::kMountRoot:
      return "mount the root tmpfs on /tmp";
    case Stage::kViewStep:
      return DescribeStep(plan.view[index]);
    case Stage::kPivot:
      return "change the root";
    case Stage::kHostName:
      return "set the host name";
    case Stage::kDropUser:
      return "become nobody";
    case Stage::kUserNamespace:
      return "enter a user namespace";
    case Stage::kForbidUserNamespaces:
      return "forbid further user namespaces";
    case Stage::kCapabilities:
      return "drop capabilities";
    case Stage::kNoNewPrivileges:
      return "set no_new_privs";
    case Stage::kFork:
      return "fork";
    case Stage::kFolder:
      return "enter " + plan.folder;
    case Stage::kRlimit:
      return "set resource limit " + std::to_string(plan.rlimits[index].first);
    case Stage::kLandlock:
      return "restrict by Landlock";
    case Stage::kSeccomp:
      return "install the system call filter";
    case Stage::kExec:
      return "execute " + plan.program;
  }
  return "start";
}

}  // namespace

std::string DescribeStage(const LaunchPlan& plan, const Report& report) {
  return StageText(plan, report.stage, static_cast<size_t>(report.index)) + ": " +
         std::strerror(report.saved_errno);
}

}  // namespace kerf::sandbox
