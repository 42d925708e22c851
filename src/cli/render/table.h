// Columns that line up.
//
//   Table table({{"step", Align::kRight}, {"action"}});
//   table.AddRow({{"3"}, {"DO_CODER", Style::kGood}});
//   out.Data(table.Render(out));
//
// Cells pass through Printable(): hostile text cannot break a row. On a terminal the widest columns
// are shortened with "…" until a row fits; elsewhere nothing is ever cut.
#pragma once

#include <string>
#include <vector>

#include "cli/render/output.h"

namespace kerf::cli {

enum class Align { kLeft, kRight };

class Table {
 public:
  struct Column {
    std::string header;
    Align align = Align::kLeft;
  };
  struct Cell {
    std::string text;
    Style style = Style::kPlain;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // As many cells as columns.
  void AddRow(std::vector<Cell> cells);
  // A line of headers, unless all are empty, then the rows.
  [[nodiscard]] std::string Render(const Output& out) const;

 private:
  [[nodiscard]] std::vector<size_t> Widths(int terminal_width) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace kerf::cli
