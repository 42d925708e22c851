// index.html: one page to browse the cases of a workspace, with side-by-side diffs.
#pragma once

#include <string>
#include <vector>

#include "dataset/case_files.h"

namespace kerf::dataset {

// One case's part of the page's data. With `texts` its files go into it, else only its row.
std::string PageFragment(const CaseEntry& entry, const CaseFolder& folder, bool texts);

// The whole page.
std::string Page(std::vector<std::string> fragments);

}  // namespace kerf::dataset
