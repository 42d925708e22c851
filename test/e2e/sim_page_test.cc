// The traces of `kerf sim`, read by a browser: opt-in by having one installed (chromium).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/subprocess.h"
#include "loop/verify/native_build.h"
#include "temp_dir.h"

namespace kerf::e2e {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

// KERF_BROWSER, else what Debian and others call it; empty: none.
std::string FindBrowser() {
  if (const char* named = std::getenv("KERF_BROWSER")) return named;
  for (const char* path : {"/usr/bin/chromium", "/usr/bin/chromium-browser",
                           "/usr/bin/google-chrome", "/snap/bin/chromium"}) {
    if (std::filesystem::exists(path)) return path;
  }
  return "";
}

// What the page says of the trace within it: complete events, the last end, and lanes by name.
constexpr const char* kPage = R"(<!doctype html><meta charset="utf-8"><pre id="said"></pre>
<script type="application/json" id="trace">@TRACE@</script>
<script>
const trace = JSON.parse(document.getElementById("trace").textContent);
const events = Array.isArray(trace) ? trace : trace.traceEvents;
const complete = events.filter(e => e.ph === "X");
const lanes = new Set(complete.map(e => e.pid + "/" + e.tid));
const bad = complete.filter(e => !(e.ts >= 0 && e.dur >= 0 && typeof e.name === "string"));
document.getElementById("said").textContent =
    `events=${events.length} complete=${complete.length} lanes=${lanes.size} bad=${bad.length}`;
</script>)";

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Nothing in the text may end the element that holds it.
std::string Embedded(std::string text) {
  for (size_t at = text.find("</"); at != std::string::npos; at = text.find("</", at + 3))
    text.replace(at, 2, "<\\/");
  return text;
}

class SimPage : public ::testing::TestWithParam<const char*> {};

TEST_P(SimPage, CountsTheEventsOfATrace) {
  const std::string browser = FindBrowser();
  if (browser.empty()) GTEST_SKIP() << "no chromium; install it, or name one in KERF_BROWSER";
  const auto toolchain = verify::FindToolchain();
  if (!toolchain.ok()) GTEST_SKIP() << toolchain.error().message;
  const TempDir dir;
  const std::vector<std::string> variables = {std::string("PATH=") + std::getenv("PATH"),
                                              "HOME=" + dir.path(),
                                              "KERF_CACHE_DIR=" + dir.path() + "/cache"};
  const auto run = [&](std::vector<std::string> words) {
    const auto outcome =
        RunProcess({.argv = std::move(words), .cwd = dir.path(), .environment = variables});
    EXPECT_TRUE(outcome.ok()) << outcome.error().message;
    return outcome.ok() ? *outcome : ProcessOutcome{};
  };
  const std::string kernel = std::string(KERF_SOURCE_DIR) + "/examples/kernels/mix_pipeline";
  const ProcessOutcome sim = run({KERF_BINARY, "sim", kernel + ".cpp", "--core", "mix",
                                  "--arg-spec", kernel + ".json", "--out", "out", "--json"});
  ASSERT_EQ(sim.exit_code, 0) << sim.stderr_text;
  const Json report = Json::parse(sim.stdout_text)["report"];
  const std::string path = std::string(report["directory"]) + "/" + std::string(GetParam());
  const std::string text = ReadAll(path);
  const Json trace = Json::parse(text);
  const Json& events = trace.is_array() ? trace : trace["traceEvents"];
  size_t complete = 0;
  for (const Json& event : events) complete += event["ph"] == "X" ? 1 : 0;
  ASSERT_GT(complete, 0U);

  std::string page = kPage;
  page.replace(page.find("@TRACE@"), 7, Embedded(text));
  std::ofstream(dir.path() + "/page.html") << page;
  // As root a browser starts only without its own sandbox; the page is ours.
  const ProcessOutcome said =
      run({browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
           "--user-data-dir=" + dir.path() + "/profile", "--dump-dom",
           "file://" + dir.path() + "/page.html"});
  ASSERT_EQ(said.exit_code, 0) << said.stderr_text;
  EXPECT_THAT(said.stdout_text, HasSubstr("events=" + std::to_string(events.size()) +
                                          " complete=" + std::to_string(complete) + " lanes="));
  EXPECT_THAT(said.stdout_text, HasSubstr(" bad=0<"));
}

INSTANTIATE_TEST_SUITE_P(Traces, SimPage, ::testing::Values("trace.json", "../kerf/perfetto.json"),
                         [](const auto& trace) {
                           return std::string(trace.index == 0 ? "Insight" : "Perfetto");
                         });

}  // namespace
}  // namespace kerf::e2e
