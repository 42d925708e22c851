#include "llm/ledger.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <thread>

#include "llm/budgeted_provider.h"
#include "llm/scripted_provider.h"

namespace kerf::llm {
namespace {

constexpr const char* kTable = R"({"version": "v1", "models": {
    "m": {"input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06,
          "cache_read_input_token_cost": 1e-07},
    "odd": {"input_cost_per_token": 2.8e-09, "output_cost_per_token": 0}}})";

PriceTable Table() {
  Result<PriceTable> table = PriceTable::Parse(kTable, "t");
  EXPECT_TRUE(table.ok());
  return *table;
}

Usage Used(int64_t input, int64_t output) {
  return {.input_total = input, .output_total = output, .source = Usage::Source::kReported};
}

TEST(Prices, CountCachedTokensOnce) {
  Usage usage = Used(1000, 10);
  usage.input_cache_read = 400;
  usage.output_reasoning = 8;  // a part of the output
  EXPECT_EQ(Table().Cost("m", usage), 600 * 1000 + 400 * 100 + 10 * 2000);
}

TEST(Prices, RoundUpOnce) {
  EXPECT_EQ(Table().Cost("odd", Used(1, 0)), 3);        // 2.8 nano-dollars
  EXPECT_EQ(Table().Cost("odd", Used(1000, 0)), 2800);  // exact
}

TEST(Prices, FindModelsUnderVendorsAndDates) {
  EXPECT_TRUE(Table().Find("openai/m").has_value());
  EXPECT_TRUE(Table().Find("m-2025-08-07").has_value());
  EXPECT_TRUE(Table().Find("x/y/m-20250929").has_value());
  EXPECT_FALSE(Table().Find("m2").has_value());
  EXPECT_EQ(Table().Cost("m2", Used(1, 1)), std::nullopt);
}

TEST(Prices, ReadLiteLlmsTable) {
  Result<PriceTable> table = PriceTable::Parse(
      R"({"sample_spec": {"max_tokens": "a text", "input_cost_per_token": 0.0, "output_cost_per_token": 0.0},
          "a": {"input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6, "mode": "chat",
                "supported_endpoints": ["x"]},
          "image": {"input_cost_per_pixel": 1e-8}})",
      "litellm.json");
  ASSERT_TRUE(table.ok()) << table.error().message;
  EXPECT_TRUE(table->Find("a").has_value());
  EXPECT_FALSE(table->Find("image").has_value());
  EXPECT_EQ(table->version().size(), 12U);
}

TEST(Prices, RefuseWhatCannotBeAPrice) {
  for (const char* bad : {"-1e-6", "2.5", "\"1\"", "true"}) {
    const std::string text = std::string(R"({"models": {"a": {"input_cost_per_token": )") + bad +
                             R"(, "output_cost_per_token": 0}}})";
    Result<PriceTable> table = PriceTable::Parse(text, "p.json");
    ASSERT_FALSE(table.ok()) << bad;
    EXPECT_NE(table.error().message.find("'a'"), std::string::npos) << table.error().message;
  }
}

TEST(Prices, TheTableThatComesWithKerfIsRead) {
  std::ifstream file(KERF_PRICES);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Result<PriceTable> table = PriceTable::Parse(text, KERF_PRICES);
  ASSERT_TRUE(table.ok()) << table.error().message;
  EXPECT_GE(table->size(), 10U);
  EXPECT_EQ(table->Cost("gpt-5-2025-08-07", Used(1'000'000, 0)), 1'250'000'000);
}

TEST(Prices, FormatDollars) {
  EXPECT_EQ(FormatDollars(1'234'567'890), "$1.2346");
  EXPECT_EQ(FormatDollars(1), "$0.0001");
  EXPECT_EQ(FormatDollars(0), "$0.0000");
  EXPECT_EQ(FormatDollars(std::nullopt), "unknown");
}

TEST(Ledger, RefusesTheCallThatWouldExceedTokens) {
  Ledger ledger(Table(), {.max_tokens_total = 100});
  Result<Ledger::Hold> first = ledger.Reserve("m", Used(40, 20));
  ASSERT_TRUE(first.ok());
  Result<Ledger::Hold> second = ledger.Reserve("m", Used(30, 11));  // 101 with what is held
  ASSERT_FALSE(second.ok());
  EXPECT_TRUE(IsBudgetError(second.error())) << second.error().message;
  ledger.Settle(*first, "coder", "relu/0", {{"m", Used(40, 5), {}}}, false);
  EXPECT_TRUE(ledger.Reserve("m", Used(30, 11)).ok());  // 45 used: there is room again
}

TEST(Ledger, RefusesTheCallThatWouldExceedCost) {
  Ledger ledger(Table(), {.max_cost = 100'000});
  EXPECT_FALSE(ledger.Reserve("m", Used(100, 1)).ok());
  EXPECT_TRUE(ledger.Reserve("m", Used(100, 0)).ok());
}

TEST(Ledger, CannotKeepACostLimitWithoutAPrice) {
  Ledger ledger(Table(), {.max_cost = 100'000});
  Result<Ledger::Hold> hold = ledger.Reserve("nobody", Used(1, 1));
  ASSERT_FALSE(hold.ok());
  EXPECT_NE(hold.error().message.find("price of model 'nobody'"), std::string::npos);
}

TEST(Ledger, RollsUpByAgentAndOwnerAndKeepsUnpricedApart) {
  Ledger ledger(Table(), {});
  ledger.Settle({}, "coder", "a/0", {{"m", Used(10, 5), {}}, {"m", Used(10, 0), {}}}, false);
  ledger.Settle({}, "coder", "b/0", {{"nobody", Used(7, 1), {}}}, true);
  ledger.Settle({}, "designer", "a/0", {{"x", Used(3, 0), 0}}, false);
  const Account total = ledger.Total();
  EXPECT_EQ(total.calls, 3);
  EXPECT_EQ(total.failed, 1);
  EXPECT_EQ(total.attempts, 4);
  EXPECT_EQ(total.tokens(), 36);
  EXPECT_EQ(total.cost, 30'000);
  EXPECT_EQ(total.unpriced_tokens, 8);
  EXPECT_EQ(ledger.ByAgent().at("coder").tokens(), 33);
  EXPECT_EQ(ledger.ByOwner().at("a/0").cost, 30'000);
  EXPECT_EQ(ledger.ToJson().find("\"unpriced_tokens\":8") == std::string::npos, false);
}

TEST(Ledger, IsExactUnderThreads) {
  Ledger ledger(Table(), {.max_tokens_total = 1'000'000});
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        Result<Ledger::Hold> hold = ledger.Reserve("m", Used(10, 10));
        ASSERT_TRUE(hold.ok());
        ledger.Settle(*hold, "a" + std::to_string(t % 2), "o" + std::to_string(t),
                      {{"m", Used(3, 2), {}}}, false);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ledger.Total().tokens(), 8 * 500 * 5);
  EXPECT_EQ(ledger.Total().cost, int64_t{8} * 500 * (3000 + 4000));
  EXPECT_EQ(ledger.ByOwner().at("o3").calls, 500);
  EXPECT_TRUE(ledger.Reserve("m", Used(980'000, 0)).ok());  // nothing is held any more
}

std::unique_ptr<Provider> Scripted(const char* json) {
  Result<std::unique_ptr<ScriptedProvider>> provider = ScriptedProvider::Parse(json, "s.json");
  EXPECT_TRUE(provider.ok()) << (provider.ok() ? "" : provider.error().message);
  return *std::move(provider);
}

TEST(BudgetedProvider, WritesTheCostAndStopsBeforeTheLimit) {
  Ledger ledger(Table(), {.max_tokens_total = 290});
  BudgetedProvider provider(
      Scripted(R"([{"text": "a", "model": "m", "usage": {"input": 100, "output": 50}},
                   {"text": "b", "model": "m"}])"),
      ledger, {.model = "m", .output_tokens = 130});
  std::vector<Result<Reply>> replies;
  const auto keep = [&](Result<Reply> reply) { replies.push_back(std::move(reply)); };
  const Request request{.agent = "coder", .owner = "a/0", .messages = {{"user", "hi"}}};
  provider.Ask(request, keep);
  provider.Ask(request, keep);
  ASSERT_EQ(replies.size(), 2U);
  ASSERT_TRUE(replies[0].ok());
  EXPECT_EQ(replies[0]->cost, 100'000 + 100'000);
  EXPECT_EQ(replies[0]->price_version, "v1");
  ASSERT_FALSE(replies[1].ok());
  EXPECT_TRUE(IsBudgetError(replies[1].error())) << replies[1].error().message;
  EXPECT_EQ(ledger.Total().calls, 1);
}

TEST(BudgetedProvider, CountsWhatAFailedCallUsed) {
  Ledger ledger(Table(), {});
  BudgetedProvider provider(Scripted(R"([{"error": "cut", "usage": {"input": 100, "output": 7}}])"),
                            ledger, {.model = "m"});
  bool failed = false;
  provider.Ask({.agent = "coder", .owner = "a/0"}, [&](Result<Reply> r) { failed = !r.ok(); });
  EXPECT_TRUE(failed);
  EXPECT_EQ(ledger.Total().tokens(), 107);
  EXPECT_EQ(ledger.Total().failed, 1);
}

TEST(BudgetedProvider, FreeModelsKeepTheLimitOnTokensToo) {
  Ledger ledger(Table(), {.max_tokens_total = 300, .max_cost = 1});
  const char* script = R"([{"text": "a", "usage": {"input": 100, "output": 50}, "repeat": true}])";
  BudgetedProvider scripted(Scripted(script), ledger,
                            {.model = "s.json", .output_tokens = 130, .free = true});
  BudgetedProvider synth(Scripted(R"([{"text": "b", "repeat": true}])"), ledger,
                         {.output_tokens = 1000, .free = true});
  std::vector<bool> fine;
  const auto keep = [&](const Result<Reply>& reply) {
    fine.push_back(reply.ok() && reply->cost == 0);
  };
  for (int i = 0; i < 3; ++i) scripted.Ask({.messages = {{"user", "hi"}}}, keep);
  synth.Ask({}, keep);
  EXPECT_EQ(fine, (std::vector<bool>{true, true, false, true}));
}

TEST(BudgetedProvider, PricesByTheModelThatAnsweredWhenTheOneAskedForHasNoPrice) {
  Ledger ledger(Table(), {});
  BudgetedProvider provider(
      Scripted(R"([{"text": "a", "model": "m", "usage": {"input": 1, "output": 0}}])"), ledger,
      {.model = "an-alias"});
  provider.Ask({}, [](const Result<Reply>& reply) { EXPECT_EQ(reply->cost, 1000); });
  EXPECT_EQ(ledger.Total().unpriced_tokens, 0);
}

TEST(Ledger, WaitsForWhatIsOnlySetAside) {
  Ledger ledger(PriceTable(), {.max_tokens_total = 100});
  const auto ask = [&](const std::string& owner, int64_t tokens, std::vector<std::string>& log) {
    ledger.ReserveOrWait("m", {.input_total = tokens}, 0, owner,
                         [&log, owner](const Result<Ledger::Hold>& hold) {
                           log.push_back(owner + (hold.ok() ? " goes" : " is refused"));
                         });
  };
  std::vector<std::string> log;
  const auto first = ledger.Reserve("m", {.input_total = 80}, 0);
  ASSERT_TRUE(first.ok());
  ask("new", 60, log);
  ask("begun", 60, log);
  ask("huge", 101, log);
  EXPECT_EQ(log, std::vector<std::string>{"huge is refused"});
  // It used 10 of the 80; a task that has cost something goes before one that has not.
  ledger.Settle(*first, "coder", "begun", {{"m", {.input_total = 10}, 0}}, false);
  EXPECT_EQ(log, (std::vector<std::string>{"huge is refused", "begun goes"}));
  ledger.Settle({60, 0}, "coder", "begun", {{"m", {.input_total = 60}, 0}}, false);
  EXPECT_EQ(log.back(), "new is refused") << "70 are used: 60 more will never fit";
}

TEST(Ledger, NobodyWaitsAfterAStop) {
  Ledger ledger(PriceTable(), {.max_tokens_total = 100});
  ASSERT_TRUE(ledger.Reserve("m", {.input_total = 80}, 0).ok());
  int refused = 0;
  const auto granted = [&](const Result<Ledger::Hold>& hold) { refused += hold.ok() ? 0 : 1; };
  ledger.ReserveOrWait("m", {.input_total = 60}, 0, "a", granted);
  EXPECT_EQ(refused, 0);
  ledger.RefuseWaiting();
  EXPECT_EQ(refused, 1);
  ledger.ReserveOrWait("m", {.input_total = 60}, 0, "b", granted);
  EXPECT_EQ(refused, 2);
}

}  // namespace
}  // namespace kerf::llm
