// The little arithmetic of recipes: whole numbers and fractions, names, + - * / %, comparisons,
// c ? a : b, a ?? b (b when a names nothing), min(), max(), ceil_div().
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"

namespace kerf::args {

using RecipeValue = std::variant<int64_t, double>;
using RecipeNames = std::map<std::string, RecipeValue>;

// "/" of whole numbers must leave no rest. An error says what is wrong and where.
Result<RecipeValue> Evaluate(std::string_view text, const RecipeNames& names);

// As JSON: 16, 0.125 (a fraction always with a point or an exponent).
std::string RecipeLiteral(const RecipeValue& value);

}  // namespace kerf::args
