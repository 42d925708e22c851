#include "llm/prompt_library.h"

#include <kainjow/mustache.hpp>
#include <set>

#include "base/hash.h"
#include "resource/resource.h"

namespace kerf::llm {
namespace {

namespace mustache = kainjow::mustache;

constexpr std::string_view kSuffix = ".txt";
constexpr uint64_t kLargestFile = uint64_t{1} << 20;

// Notes every name that a template asks for in vain.
class StrictContext : public mustache::context<std::string> {
 public:
  using Lookup = std::function<const mustache::data*(const std::string&)>;
  StrictContext(const mustache::data& values, Lookup partials)
      : context(&values), partials_(std::move(partials)) {}

  const mustache::data* get(const std::string& name) const override {
    const mustache::data* found = context::get(name);
    if (found == nullptr) missing_.insert(name);
    return found;
  }
  const mustache::data* get_partial(const std::string& name) const override {
    const mustache::data* found = partials_(name);
    if (found == nullptr) missing_.insert("> " + name);
    return found;
  }
  [[nodiscard]] const std::set<std::string>& missing() const { return missing_; }

 private:
  Lookup partials_;
  mutable std::set<std::string> missing_;
};

bool IsPromptName(std::string_view name) {
  return name.size() > kSuffix.size() && name.substr(name.size() - kSuffix.size()) == kSuffix;
}

std::string Stem(std::string_view name) {
  return std::string(name.substr(0, name.size() - kSuffix.size()));
}

mustache::data Values(const PromptValues& values) {
  mustache::data data(mustache::data::type::object);
  for (const auto& [name, text] : values) {
    data.set(name, text);
    data.set("has_" + name, mustache::data(!text.empty()));
  }
  return data;
}

}  // namespace

Result<PromptLibrary> PromptLibrary::Open(FileSystem& fs, const Options& options) {
  PromptLibrary library;
  library.language_ = options.language;
  const std::string prefix = "prompts/" + options.language + "/";
  for (const resource::File& file : resource::Files(prefix)) {
    const std::string_view name = file.path.substr(prefix.size());
    if (!IsPromptName(name)) continue;
    library.files_[Stem(name)] = {std::string(file.path), std::string(file.bytes)};
  }
  if (library.files_.empty()) {
    return InvalidInput("there are no prompts in language '" + options.language +
                        "'; there are en and zh");
  }
  if (options.folder.empty()) return library;
  KERF_ASSIGN_OR_RETURN(const std::vector<DirEntry> entries, fs.List(options.folder));
  bool any = false;
  for (const DirEntry& entry : entries) {
    if (!IsPromptName(entry.name)) continue;
    const std::string path = JoinPath(options.folder, entry.name);
    if (library.files_.count(Stem(entry.name)) == 0) {
      return InvalidInput(path + " replaces no prompt of kerf's; see prompts/" + options.language +
                          " for their names");
    }
    KERF_ASSIGN_OR_RETURN(std::string text, fs.ReadRange(path, 0, kLargestFile));
    library.files_[Stem(entry.name)] = {path, std::move(text)};
    any = true;
  }
  if (!any) {
    return InvalidInput(options.folder +
                        " replaces no prompt; put files there that are named as in prompts/" +
                        options.language);
  }
  return library;
}

Result<Prompt> PromptLibrary::Render(const std::string& name, const PromptValues& values) const {
  const auto file = files_.find(name);
  if (file == files_.end()) {
    return Error{ErrorCode::kInternal, "there is no prompt " + language_ + "/" + name};
  }
  mustache::mustache page(file->second.text);
  if (!page.is_valid()) return InvalidInput(file->second.origin + ": " + page.error_message());
  page.set_custom_escape([](const std::string& text) { return text; });

  std::map<std::string, mustache::data> partials;  // those that were used
  const mustache::data data = Values(values);
  StrictContext context(data, [&](const std::string& partial) -> const mustache::data* {
    const auto found = files_.find(partial);
    if (found == files_.end()) return nullptr;
    return &partials.try_emplace(partial, found->second.text).first->second;
  });
  Prompt prompt;
  prompt.text = page.render(context);
  if (!context.missing().empty()) {
    return InvalidInput(file->second.origin + ": there is no value {{" +
                        *context.missing().begin() + "}} for this prompt");
  }
  if (!page.is_valid()) return InvalidInput(file->second.origin + ": " + page.error_message());
  prompt.name = language_ + "/" + name;
  std::string all = file->second.text;
  for (const auto& [partial, text] : partials) all += '\0' + partial + '\0' + text.string_value();
  prompt.sha256 = Sha256Hex(all);
  return prompt;
}

}  // namespace kerf::llm
