#include "cli/render/table.h"

#include <gtest/gtest.h>

#include "cli/fake_output.h"

namespace kerf::cli {
namespace {

TEST(Table, AlignsColumnsByDisplayWidth) {
  Table table({{"step", Align::kRight}, {"action"}, {"op"}});
  table.AddRow({{"3"}, {"DO_CODER"}, {"算子"}});
  table.AddRow({{"12"}, {"算子"}, {"relu"}});
  EXPECT_EQ(table.Render(FakeOutput()),
            "step  action    op\n"
            "   3  DO_CODER  算子\n"
            "  12  算子      relu\n");
}

TEST(Table, OmitsEmptyHeadersAndTrailingBlanks) {
  Table table({{""}, {""}});
  table.AddRow({{"a"}, {""}});
  table.AddRow({{"long"}, {"x"}});
  EXPECT_EQ(table.Render(FakeOutput()), "a\nlong  x\n");
}

TEST(Table, ShortensTheWidestColumnOnATerminalOnly) {
  Table table({{"n"}, {"text"}});
  table.AddRow({{"1"}, {"a rather long explanation"}});
  FakeOutput out;
  EXPECT_EQ(table.Render(out), "n  text\n1  a rather long explanation\n");
  out.width = 15;
  EXPECT_EQ(table.Render(out), "n  text\n1  a rather lo…\n");
}

TEST(Table, SurvivesATerminalThatIsTooNarrow) {
  Table table({{"one"}, {"two"}, {"three"}});
  table.AddRow({{"aaaaaaaa"}, {"bbbbbbbb"}, {"cccccccc"}});
  FakeOutput out;
  out.width = 3;
  EXPECT_EQ(table.Render(out), "one  two  th…\naa…  bb…  cc…\n");
}

TEST(Table, HostileCellsStayInTheirRow) {
  Table table({{"a"}, {"b"}});
  table.AddRow({{"x\ny\x1b[2J"}, {"z"}});
  EXPECT_EQ(table.Render(FakeOutput()), "a            b\nx\\ny\\x1b[2J  z\n");
}

TEST(Table, StylesDoNotCountAsWidth) {
  Table table({{""}, {""}});
  table.AddRow({{"ok", Style::kGood}, {"g++"}});
  table.AddRow({{"missing", Style::kBad}, {"nvcc"}});
  FakeOutput out;
  out.colour = true;
  EXPECT_EQ(table.Render(out), "<good>ok</>       g++\n<bad>missing</>  nvcc\n");
}

}  // namespace
}  // namespace kerf::cli
