#include "cli/doctor/doctor.h"

#include <algorithm>
#include <future>

#include "base/json_reader.h"
#include "cli/registry.h"
#include "cli/render/output.h"
#include "cli/render/table.h"
#include "cli/render/text_width.h"

namespace kerf::cli {
namespace {

const char* HealthName(Health health) {
  switch (health) {
    case Health::kOk:
      return "ok";
    case Health::kLimited:
      return "limited";
    case Health::kMissing:
      return "missing";
  }
  return "missing";
}

Style StyleOf(const Finding& finding) {
  if (finding.health == Health::kOk) return Style::kGood;
  return finding.required ? Style::kBad : Style::kWarn;
}

}  // namespace

std::vector<Finding> Examine(Machine& machine) {
  std::vector<Check> checks;
  for (const auto& group : {ToolchainChecks(), PythonChecks(), DeviceChecks(), SystemChecks()}) {
    checks.insert(checks.end(), group.begin(), group.end());
  }
  // Each waits for other programs nearly all of its time; one after another they would take their
  // sum.
  std::vector<std::future<std::vector<Finding>>> pending;
  pending.reserve(checks.size());
  for (const Check check : checks) {
    pending.push_back(std::async(std::launch::async, [check, &machine] { return check(machine); }));
  }
  std::vector<Finding> findings;
  for (auto& answer : pending) {
    for (Finding& finding : answer.get()) findings.push_back(std::move(finding));
  }
  return findings;
}

bool CanRun(const std::vector<Finding>& findings) {
  return std::none_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.required && finding.health == Health::kMissing;
  });
}

std::string FindingsAsJson(const std::vector<Finding>& findings) {
  std::string json =
      R"({"ok":)" + std::string(CanRun(findings) ? "true" : "false") + R"(,"items":[)";
  for (size_t i = 0; i < findings.size(); ++i) {
    const Finding& finding = findings[i];
    json += i == 0 ? "{" : ",{";
    const auto add = [&json](const char* name, const std::string& value) {
      AppendJsonString(json, name);
      json += ':';
      AppendJsonString(json, value);
      json += ',';
    };
    add("name", finding.name);
    add("status", HealthName(finding.health));
    add("detail", finding.detail);
    add("enables", finding.enables);
    add("install", finding.install);
    json += R"("required":)" + std::string(finding.required ? "true}" : "false}");
  }
  return json + "]}\n";
}

std::string FindingsAsText(const std::vector<Finding>& findings, const Output& out) {
  Table table({{""}, {""}, {""}});
  for (const Finding& finding : findings) {
    table.AddRow(
        {{HealthName(finding.health), StyleOf(finding)}, {finding.name}, {finding.detail}});
  }
  std::string text = table.Render(out);
  std::string advice;
  for (const Finding& finding : findings) {
    if (finding.health == Health::kOk) continue;
    advice +=
        "  " + finding.name + ": for " + finding.enables + "\n      " + finding.install + "\n";
  }
  if (!advice.empty()) {
    text +=
        "\n" +
        out.Styled("What is missing or limited, what it is for, and how to get it", Style::kBold) +
        "\n" + advice;
  }
  return text + (CanRun(findings) ? "\nkerf can run here.\n"
                                  : "\nkerf cannot run here: see what is missing above.\n");
}

Verb DoctorVerb() {
  return {
      .name = "doctor",
      .summary = "Tell what this machine has, what is missing and how to get it",
      .details =
          "Nothing is changed and nothing is sent. Of keys and tokens only the names are shown.\n"
          "Exit code 3 when kerf itself cannot run here; missing optional things are no error.",
      .positionals = {},
      .flags = {JsonFlag()},
      .examples = {{"kerf doctor", "before the first run on a new machine"}},
      .run = [](const Args& args, Context& context) -> Result<int> {
        const auto machine = MakePosixMachine();
        const std::vector<Finding> findings = Examine(*machine);
        context.out.Data(args.Has("--json") ? FindingsAsJson(findings)
                                            : FindingsAsText(findings, context.out));
        return CanRun(findings) ? kExitDone : kExitEnvironment;
      }};
}

}  // namespace kerf::cli
