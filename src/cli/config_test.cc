#include "cli/config.h"

#include <gtest/gtest.h>

#include "base/fake_file_system.h"
#include "cli/documents.h"

namespace kerf::cli {
namespace {

std::string NoVariable(const char* /*name*/) { return ""; }

Result<Config> Load(const std::string& yaml) {
  FakeFileSystem fs;
  EXPECT_TRUE(WriteFileAtomic(fs, "c.yaml", yaml).ok());
  return LoadConfig(fs, "c.yaml", NoVariable);
}

std::string Refusal(const std::string& yaml) {
  const Result<Config> config = Load(yaml);
  return config.ok() ? "" : config.error().message;
}

TEST(Config, TakesAikgsKeys) {
  const auto config = Load(
      "agent_model_config: {aul_designer: fast, triton_coder_fix: 'openai:gpt-5'}\n"
      "log_dir: /logs\n"
      "profile_settings: {run_times: 50, warmup_times: 5}\n"
      "presets:\n"
      "  fast: {api_base: 'http://localhost:8000/v1', model: m, api_key_env: MY_KEY, temperature: "
      "0.2}\n");
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->agent_model_config.at("aul_designer"), "fast");
  EXPECT_EQ(config->log_dir, "/logs");
  EXPECT_EQ(config->run_times, 50);
  EXPECT_EQ(config->presets.at("fast").api_key_env, "MY_KEY");
  EXPECT_EQ(config->presets.at("fast").sampling.temperature, 0.2);
  EXPECT_EQ(config->origins.at("log_dir"), "c.yaml:2");
}

TEST(Config, TakesAikgsModelFileAsItIs) {
  const auto config = Load(
      "default_preset: vllm_fast\n"
      "vllm_fast:\n  api_base: 'http://localhost:8001/v1'\n  model: m\n  max_tokens: 8192\n"
      "deepseek_r1_default: {api_base: 'https://api.example.org/beta/', model: r, api_key_env: "
      "K}\n");
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->model, "vllm_fast");
  EXPECT_EQ(config->presets.at("vllm_fast").sampling.max_tokens, 8192);
  EXPECT_EQ(config->presets.at("deepseek_r1_default").model, "r");
}

TEST(Config, TakesDocumentsAndTheTimeLimit) {
  const auto config = Load(
      "docs_dir: {designer: d/design, coder: d/code, sketch: d/sketch}\nverify_timeout: 300\n");
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->docs_dir.at("designer"), "d/design");
  EXPECT_EQ(config->docs_dir.size(), 2U);
  EXPECT_EQ(config->verify_timeout, 300);
  EXPECT_EQ(Load("docs_dir: d\n")->docs_dir.at("coder"), "d");
  EXPECT_NE(Refusal("docs_dir: {codr: d}\n").find("did you mean coder?"), std::string::npos);
}

TEST(Config, ReadsTheDocumentsOfARole) {
  FakeFileSystem fs;
  ASSERT_TRUE(fs.CreateDirs("d").ok());
  ASSERT_TRUE(WriteFileAtomic(fs, "d/b.md", "second").ok());
  ASSERT_TRUE(WriteFileAtomic(fs, "d/a.txt", "first\n").ok());
  ASSERT_TRUE(WriteFileAtomic(fs, "d/c.bin", "no").ok());
  ASSERT_TRUE(WriteFileAtomic(fs, "c.yaml", "docs_dir: {coder: d, designer: absent}\n").ok());
  const auto config = LoadConfig(fs, "c.yaml", NoVariable);
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(ReadDocuments(fs, *config, "coder").value(),
            "## a.txt\n\nfirst\n\n## b.md\n\nsecond\n");
  const auto absent = ReadDocuments(fs, *config, "designer");
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().message.rfind("c.yaml:1: docs_dir.designer", 0), 0U)
      << absent.error().message;
  ASSERT_TRUE(WriteFileAtomic(fs, "d/large.md", std::string(300 << 10, 'x')).ok());
  EXPECT_FALSE(ReadDocuments(fs, *config, "coder").ok());
}

TEST(Config, RefusesAKeyThatIsThereTwice) {
  EXPECT_EQ(Refusal("jobs: 2\nmodel: synth\njobs: 3\n"),
            "c.yaml:3: 'jobs' is there twice; the first is in line 1");
  EXPECT_NE(Refusal("presets:\n  a: {model: m}\n  a: {model: n}\n"), "");
}

TEST(Config, RefusesUnknownKeysWithTheNearestRightOne) {
  EXPECT_EQ(Refusal("limit_stps: 3\n"),
            "c.yaml:1: unknown key 'limit_stps'; did you mean limit_steps?");
  EXPECT_NE(Refusal("agent_model_config: {aul_desinger: m}\n").find("did you mean aul_designer?"),
            std::string::npos);
  EXPECT_NE(Refusal("presets: {a: {modl: m}}\n").find("did you mean model?"), std::string::npos);
}

TEST(Config, RefusesKeysInFiles) {
  EXPECT_NE(Refusal("presets: {a: {model: m, api_key: sk-1}}\n").find("api_key_env"),
            std::string::npos);
  EXPECT_EQ(Refusal("presets: {a: {model: m, api_key: sk-1}}\n").find("sk-1"), std::string::npos);
}

TEST(Config, RefusesWrongTypesAndBrokenYaml) {
  EXPECT_NE(Refusal("limit_steps: many\n").find("c.yaml:1: expected a whole number"),
            std::string::npos);
  EXPECT_NE(Refusal("limit_steps: -1\n"), "");
  EXPECT_NE(Refusal("[1, 2"), "");
  EXPECT_NE(Refusal("- a\n"), "");
  EXPECT_NE(Refusal("presets: {a: {provider: openai}}\n").find("has no model"), std::string::npos);
}

TEST(Config, RefusesValuesThatARunCouldNotUse) {
  EXPECT_NE(Refusal("jobs: 2\nlanguage: xx\n").find(":2: language must be en or zh"),
            std::string::npos);
  EXPECT_NE(Refusal("model: opnai:gpt\n").find(":1: "), std::string::npos);
  EXPECT_NE(Refusal("agent_model_config: {aul_designer: nobody}\n").find(":1: "),
            std::string::npos);
  EXPECT_EQ(Refusal("presets: {mine: {model: m}}\nmodel: mine\n"), "");
}

TEST(Config, FileInTheWorkingFolderMayNotSayWhereKeysGo) {
  FakeFileSystem fs;
  for (const char* line : {"api_base: 'http://elsewhere'", "api_key_env: AWS_SECRET"}) {
    ASSERT_TRUE(
        WriteFileAtomic(fs, "kerf.yaml", std::string("presets: {a: {model: m, ") + line + "}}\n")
            .ok());
    const auto config = LoadConfig(fs, "", NoVariable);
    ASSERT_FALSE(config.ok());
    EXPECT_NE(config.error().message.find("--config kerf.yaml"), std::string::npos);
    EXPECT_TRUE(LoadConfig(fs, "kerf.yaml", NoVariable).ok());
  }
}

TEST(Config, FileInTheWorkingFolderMayNotSendOtherFolders) {
  FakeFileSystem fs;
  for (const char* folder : {"/home/me", "../elsewhere"}) {
    ASSERT_TRUE(WriteFileAtomic(fs, "kerf.yaml", std::string("docs_dir: ") + folder + "\n").ok());
    EXPECT_FALSE(LoadConfig(fs, "", NoVariable).ok());
    EXPECT_TRUE(LoadConfig(fs, "kerf.yaml", NoVariable).ok());
  }
}

TEST(Config, VariablesWinOverFiles) {
  FakeFileSystem fs;
  ASSERT_TRUE(WriteFileAtomic(fs, "kerf.yaml", "model: synth\nlimit_steps: 7\n").ok());
  const auto config = LoadConfig(fs, "", [](const char* name) {
    return std::string(name) == "KERF_MODEL" ? std::string("openai:m") : std::string();
  });
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->model, "openai:m");
  EXPECT_EQ(config->origins.at("model"), "variable KERF_MODEL");
  EXPECT_EQ(config->limit_steps, 7);
  EXPECT_EQ(config->origins.at("limit_steps"), "kerf.yaml:2");
}

}  // namespace
}  // namespace kerf::cli
