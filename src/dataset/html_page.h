// index.html: one page to browse the cases of a workspace, with side-by-side diffs.
#pragma once

#include <string>
#include <string_view>

#include "dataset/case_files.h"

namespace kerf::dataset {

// One case's part of the page's data. With `texts` its files go into it, else only its row.
std::string PageFragment(const CaseEntry& entry, const CaseFolder& folder, bool texts);

// What stands before and behind the fragments; between two of them stands kBetweenFragments.
struct PageFrame {
  std::string_view before;
  std::string_view behind;
};
PageFrame FrameOfPage();
inline constexpr std::string_view kBetweenFragments = ",\n";

}  // namespace kerf::dataset
