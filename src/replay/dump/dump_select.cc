#include "replay/dump/dump_select.h"

#include <algorithm>
#include <iterator>

namespace kerf::dump {
namespace {

constexpr size_t kListed = 12;

std::string ListOf(const std::vector<const Dispatch*>& dispatches) {
  std::string text;
  for (size_t i = 0; i < dispatches.size() && i < kListed; ++i) {
    text += (text.empty() ? "" : "; ") + dispatches[i]->ToString();
  }
  if (dispatches.size() > kListed) {
    text += "; and " + std::to_string(dispatches.size() - kListed) + " more";
  }
  return text;
}

std::vector<const Dispatch*> AllOf(const Dump& dump) {
  std::vector<const Dispatch*> all;
  for (const Dispatch& dispatch : dump.dispatches) all.push_back(&dispatch);
  return all;
}

std::string Joined(const std::set<int64_t>& ids) {
  std::string text;
  for (const int64_t id : ids) text += (text.empty() ? "" : ",") + std::to_string(id);
  return text;
}

// Dispatches whose set of func ids is the one asked for. A dump that names no functions cannot
// tell: then all are candidates.
Result<std::vector<const Dispatch*>> WithFunctions(const Dump& dump, const std::set<int64_t>& ids) {
  std::vector<const Dispatch*> matching;
  if (ids.empty()) return AllOf(dump);
  bool any_known = false;
  for (const Dispatch& dispatch : dump.dispatches) {
    any_known = any_known || !dispatch.func_ids.empty();
    if (dispatch.func_ids == ids) matching.push_back(&dispatch);
  }
  if (!any_known) return AllOf(dump);
  if (!matching.empty()) return matching;
  for (const Dispatch& dispatch : dump.dispatches) {
    if (std::includes(dispatch.func_ids.begin(), dispatch.func_ids.end(), ids.begin(), ids.end())) {
      return NotFound(dump.file + ": func " + FuncIdsText(ids) + " runs only inside a mix: " +
                      dispatch.ToString() + " is " + FuncIdsText(dispatch.func_ids) +
                      "; pass --func-id " + Joined(dispatch.func_ids));
    }
  }
  return NotFound(dump.file + ": no dispatch has func " + FuncIdsText(ids) +
                  "; there are: " + ListOf(AllOf(dump)));
}

Result<Selected> ByDispatchId(const Dump& dump, const DispatchQuery& query,
                              std::vector<const Dispatch*> candidates) {
  const int64_t wanted = *query.dispatch_id;
  // kernel_args_dump writes the id down; the other formats count the matching tasks.
  if (dump.format == DumpFormat::kKernelArgs) {
    const auto found = std::find_if(candidates.begin(), candidates.end(), [&](const Dispatch* one) {
      return one->dispatch_id == wanted;
    });
    if (found != candidates.end()) return Selected{*found, {}};
    return NotFound(dump.file + ": no dispatch has func " + FuncIdsText(query.func_ids) +
                    " and dispatch_id " + std::to_string(wanted) +
                    "; there are: " + ListOf(AllOf(dump)));
  }
  if (wanted < 0 || static_cast<uint64_t>(wanted) >= candidates.size()) {
    return NotFound(dump.file + ": --dispatch-id " + std::to_string(wanted) +
                    " counts from 0 and " + std::to_string(candidates.size()) +
                    " tasks match: " + ListOf(candidates));
  }
  return Selected{candidates[static_cast<size_t>(wanted)], {}};
}

}  // namespace

Result<Selected> SelectDispatch(const Dump& dump, const DispatchQuery& query) {
  if (dump.dispatches.empty()) return NotFound(dump.file + ": holds no dispatch");
  KERF_ASSIGN_OR_RETURN(std::vector<const Dispatch*> candidates,
                        WithFunctions(dump, query.func_ids));
  if (query.dispatch_id) {
    KERF_ASSIGN_OR_RETURN(Selected selected, ByDispatchId(dump, query, candidates));
    if (query.task_id && selected.dispatch->task_id != query.task_id) {
      return InvalidInput(dump.file + ": --dispatch-id " + std::to_string(*query.dispatch_id) +
                          " is " + selected.dispatch->ToString() + ", --task-id says " +
                          TaskIdText(*query.task_id) + "; give one of them");
    }
    return selected;
  }
  if (query.task_id) {
    std::vector<const Dispatch*> named;
    std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(named),
                 [&](const Dispatch* one) { return one->task_id == query.task_id; });
    if (named.size() == 1) return Selected{named[0], {}};
    if (named.empty()) {
      return NotFound(dump.file + ": no task " + TaskIdText(*query.task_id) +
                      " among those that match; there are: " + ListOf(candidates));
    }
    candidates = named;
  }
  if (candidates.size() == 1) return Selected{candidates[0], {}};
  if (dump.format != DumpFormat::kArgs || query.func_ids.empty()) {
    return InvalidInput(
        dump.file + ": " + std::to_string(candidates.size()) +
        " dispatches match; name one with --dispatch-id or --task-id: " + ListOf(candidates));
  }
  return Selected{
      candidates[0],
      {candidates[0]->ToString() + " is the first of " + std::to_string(candidates.size()) +
       " that match; choose another with --dispatch-id N or --task-id"}};
}

}  // namespace kerf::dump
