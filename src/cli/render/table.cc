#include "cli/render/table.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "cli/render/text_width.h"

namespace kerf::cli {
namespace {

constexpr size_t kGap = 2;

std::string Padded(const Table::Cell& cell, size_t width, Align align, bool last,
                   const Output& out) {
  const std::string text = Shortened(cell.text, width);
  const std::string padding(width - DisplayWidth(text), ' ');
  const std::string styled = out.Styled(text, cell.style);
  if (align == Align::kRight) return padding + styled;
  return last ? styled : styled + padding;  // no blanks at the end of a line
}

}  // namespace

void Table::AddRow(std::vector<Cell> cells) {
  KERF_CHECK(cells.size() == columns_.size(), "a table row has another number of cells");
  for (Cell& cell : cells) cell.text = Printable(cell.text);
  rows_.push_back(std::move(cells));
}

std::vector<size_t> Table::Widths(int terminal_width) const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = DisplayWidth(columns_[i].header);
    for (const auto& row : rows_) width = std::max(width, DisplayWidth(row[i].text));
    widths.push_back(width);
  }
  if (terminal_width <= 0 || widths.empty()) return widths;
  const auto room = static_cast<size_t>(terminal_width);
  const size_t gaps = kGap * (widths.size() - 1);
  for (size_t& width : widths) width = std::min(width, room);
  constexpr size_t kNarrowest = 4;  // below it a cell says nothing any more
  while (std::accumulate(widths.begin(), widths.end(), gaps) > room) {
    const auto widest = std::max_element(widths.begin(), widths.end());
    if (*widest <= kNarrowest) break;
    --*widest;
  }
  return widths;
}

std::string Table::Render(const Output& out) const {
  const std::vector<size_t> widths = Widths(out.Width());
  std::string text;
  const auto add_row = [&](const std::vector<Cell>& cells) {
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) text.append(kGap, ' ');
      const bool last = i + 1 == cells.size();
      text += Padded(cells[i], widths[i], columns_[i].align, last, out);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  };
  std::vector<Cell> headers;
  for (const Column& column : columns_) headers.push_back({column.header, Style::kBold});
  if (std::any_of(columns_.begin(), columns_.end(),
                  [](const Column& column) { return !column.header.empty(); })) {
    add_row(headers);
  }
  for (const auto& row : rows_) add_row(row);
  return text;
}

}  // namespace kerf::cli
