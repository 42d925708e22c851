// How text looks on a terminal: its width in columns, and a form of it that cannot do harm there.
#pragma once

#include <string>
#include <string_view>

namespace kerf::cli {

// Columns that valid UTF-8 takes: 2 for East Asian wide characters and emoji, 0 for combining
// marks, else 1. Approximate where terminals themselves disagree.
size_t DisplayWidth(std::string_view text);

// The longest prefix, at a character, that fits `columns`; with "…" at its end when something was
// cut off.
std::string Shortened(std::string_view text, size_t columns);

enum class Newlines {
  kEscape,  // the result is one line
  kKeep,    // line feeds and tabs stay: for text shown as a block
};

// `text` with everything that could command a terminal or deceive its reader made visible: control
// characters and escape sequences (\x1b, \r), bytes that are no UTF-8 (\xff), C1 controls, lone
// surrogates and bidirectional overrides (\u{202e}). Text written by a model is hostile: whatever
// shows it must pass it through here.
std::string Printable(std::string_view text, Newlines newlines = Newlines::kEscape);

}  // namespace kerf::cli
