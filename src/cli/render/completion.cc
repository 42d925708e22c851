// Both scripts share one function, _kerf_offers, in the part of the language that bash and zsh have
// in common: the words before the cursor select a verb, the last of them may be a flag that takes a
// value, and so it knows which choices, files, flags or sub-verbs fit. Neither needs another
// package.
#include "cli/render/completion.h"

#include <algorithm>

namespace kerf::cli {
namespace {

bool TakesDirectory(const std::string& value_name) {
  return value_name.find("DIR") != std::string::npos;
}

bool TakesFile(const std::string& value_name) {
  return value_name.find("FILE") != std::string::npos ||
         value_name.find("PATH") != std::string::npos;
}

std::string Joined(const std::vector<std::string>& words) {
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : " ") + word;
  return joined;
}

// The line of shell that offers values: `words`, or the names of files or directories. Table texts
// are kerf's own constants without quotes or blanks inside a word.
std::string Offer(const std::string& value_name, const std::vector<std::string>& choices) {
  if (!choices.empty()) return "words='" + Joined(choices) + "'";
  if (TakesDirectory(value_name)) return "kind=dirs";
  if (TakesFile(value_name)) return "kind=files";
  return "kind=none";
}

std::vector<std::string> FirstWords(const std::vector<Verb>& verbs) {
  std::vector<std::string> words;
  for (const Verb& verb : verbs) {
    const std::string word = verb.name.substr(0, verb.name.find(' '));
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  }
  return words;
}

// "trace" → "append ls show", for the groups only.
std::vector<std::pair<std::string, std::string>> Groups(const std::vector<Verb>& verbs) {
  std::vector<std::pair<std::string, std::string>> groups;
  for (const Verb& verb : verbs) {
    const size_t space = verb.name.find(' ');
    if (space == std::string::npos) continue;
    const std::string group = verb.name.substr(0, space);
    if (groups.empty() || groups.back().first != group) groups.emplace_back(group, "");
    std::string& members = groups.back().second;
    members += (members.empty() ? "" : " ") + verb.name.substr(space + 1);
  }
  return groups;
}

std::string FlagBranches(const std::vector<Verb>& verbs) {
  std::string text;
  for (const Verb& verb : verbs) {
    for (const Flag& flag : verb.flags) {
      if (flag.value_name.empty()) continue;
      text += "    '" + verb.name + " " + flag.name + "') " + Offer(flag.value_name, flag.choices) +
              "; return ;;\n";
    }
  }
  return text;
}

std::string VerbBranches(const std::vector<Verb>& verbs) {
  std::string text;
  for (const Verb& verb : verbs) {
    std::string flags = "--help";
    for (const Flag& flag : verb.flags) flags += " " + flag.name;
    text.append("    '").append(verb.name).append("') flags='").append(flags).append("'; ");
    text += verb.positionals.empty() ? "kind=none"
                                     : Offer(verb.positionals[0].name, verb.positionals[0].choices);
    text += " ;;\n";
  }
  return text;
}

std::string GroupBranches(const std::vector<Verb>& verbs) {
  std::string text;
  for (const auto& [group, members] : Groups(verbs)) {
    text += "    '" + group + "') words='" + members + "'; return ;;\n";
  }
  return text;
}

std::string CaseBlock(const std::string& subject, const std::string& branches) {
  return "  case \"" + subject + "\" in\n" + branches + "    *) ;;\n  esac\n";
}

// _kerf_offers WORD…: sets words, flags and kind for the words between `kerf` and the cursor.
std::string OffersFunction(const std::vector<Verb>& verbs) {
  std::string pairs;
  for (const Verb& verb : verbs) {
    if (verb.name.find(' ') == std::string::npos) continue;
    pairs += "    '" + verb.name + "') verb=\"$1 $2\" ;;\n";
  }
  const std::string first_words = Joined(FirstWords(verbs));
  return "_kerf_offers() {\n"
         "  words=''; flags=''; kind=none\n"
         "  [ $# -gt 1 ] && [ \"$1\" = help ] && shift\n"
         "  if [ $# -eq 0 ] || [ \"$1\" = help ]; then\n"
         "    words='" +
         first_words +
         "'; flags='--help --version'; return\n  fi\n"
         "  if [ $# -eq 1 ]; then\n" +
         CaseBlock("$1", GroupBranches(verbs)) +
         "  fi\n"
         "  local verb=\"$1\" last\n"
         "  for last; do :; done\n" +
         CaseBlock("$1 ${2-}", pairs) + CaseBlock("$verb $last", FlagBranches(verbs)) +
         CaseBlock("$verb", VerbBranches(verbs)) + "}\n";
}

}  // namespace

std::string BashCompletion(const std::vector<Verb>& verbs) {
  return "# bash completion for kerf. In ~/.bashrc: source <(kerf completion bash)\n" +
         OffersFunction(verbs) + R"(
_kerf() {
  local words flags kind word current="${COMP_WORDS[COMP_CWORD]}" before=()
  # bash breaks --flag=value into three words.
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do [ "$word" = = ] || before+=("$word"); done
  [ "$current" = = ] && current=''
  _kerf_offers "${before[@]}"
  case "$current" in
    -*) words="$flags"; kind=none ;;
  esac
  COMPREPLY=()
  case "$kind" in
    dirs) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
    files) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
  esac
  [ -n "$words" ] && mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  return 0
}
complete -F _kerf kerf
)";
}

std::string ZshCompletion(const std::vector<Verb>& verbs) {
  return "#compdef kerf\n# zsh completion for kerf. In ~/.zshrc after compinit: source <(kerf "
         "completion "
         "zsh)\n" +
         OffersFunction(verbs) + R"(
_kerf() {
  local current="${words[CURRENT]}" offered flags kind
  local -a before=("${(@)words[2,CURRENT-1]}")
  () {
    local words
    _kerf_offers "${before[@]}"
    offered="$words"
  }
  case "$current" in
    -*) compadd -- ${=flags}; return ;;
  esac
  [ -n "$offered" ] && compadd -- ${=offered}
  case "$kind" in
    dirs) _files -/ ;;
    files) _files ;;
  esac
  return 0
}
# Autoloaded from fpath, the first call runs this file as the function's body.
if [ "${funcstack[1]-}" = _kerf ]; then
  _kerf "$@"
elif (( $+functions[compdef] )); then
  compdef _kerf kerf
fi
)";
}

}  // namespace kerf::cli
