// A recipe is an arg spec whose shapes and values are expressions over the case's parameters. It is
// evaluated into the text of an arg spec, so that there is one reader and one set of rules.
#include "replay/args/recipe.h"

#include <algorithm>
#include <charconv>

#include "base/file_system.h"
#include "base/json_writer.h"
#include "replay/args/arg_spec.h"
#include "replay/args/recipe_expression.h"
#include "resource/resource.h"

namespace kerf::args {
namespace {

bool Names(const std::optional<JsonPlace>& list, const std::vector<std::string>& wanted) {
  if (!list) return false;
  for (const JsonPlace& item : list->Items()) {
    if (std::find(wanted.begin(), wanted.end(), item.node().text) != wanted.end()) return true;
  }
  return false;
}

// Numbers of the case; texts and lists are nothing a recipe could compute with.
RecipeNames ParamsOf(const JsonNode& params) {
  RecipeNames names;
  for (const auto& [key, node] : params.members) {
    if (node.type == JsonType::kBool) names[key] = int64_t{node.boolean ? 1 : 0};
    if (node.type != JsonType::kNumber) continue;
    const auto value = Evaluate(node.text[0] == '-' ? "0" + node.text : node.text, {});
    if (value.ok()) names[key] = *value;
  }
  return names;
}

Result<RecipeValue> EvaluateAt(const JsonPlace& place, const RecipeNames& names) {
  KERF_ASSIGN_OR_RETURN(const std::string text, place.String());
  auto value = Evaluate(text, names);
  if (!value.ok()) return std::move(value).error().Within(place.Where());
  return value;
}

Result<RecipeNames> AllNames(const JsonPlace& recipe, const RecipeQuery& query) {
  RecipeNames names = ParamsOf(query.params);
  if (query.hw_blocks) names["blocks"] = *query.hw_blocks;
  const auto values = recipe.Find("values");
  if (!values) return names;
  for (const auto& [key, node] : values->node().members) {
    KERF_ASSIGN_OR_RETURN(const JsonPlace place, values->Member(key));
    KERF_ASSIGN_OR_RETURN(names[key], EvaluateAt(place, names));
  }
  return names;
}

// The recipe's argument with every expression replaced by its value.
Status WriteArg(const JsonPlace& arg, const RecipeNames& names, JsonWriter& json) {
  json.BeginObject();
  for (const auto& [key, node] : arg.node().members) {
    KERF_ASSIGN_OR_RETURN(const JsonPlace place, arg.Member(key));
    json.Key(key);
    if (key == "shape") {
      json.BeginArray();
      for (const JsonPlace& extent : place.Items()) {
        KERF_ASSIGN_OR_RETURN(const RecipeValue value, EvaluateAt(extent, names));
        json.Raw(RecipeLiteral(value));
      }
      json.EndArray();
    } else if (key == "value" || key == "fill") {
      KERF_ASSIGN_OR_RETURN(const RecipeValue value, EvaluateAt(place, names));
      json.Raw(RecipeLiteral(value));
    } else if (node.type == JsonType::kString) {
      json.String(node.text);
    } else {
      json.Raw(node.text);
    }
  }
  json.EndObject();
  return {};
}

Result<int64_t> WholeAt(const JsonPlace& place, const RecipeNames& names) {
  KERF_ASSIGN_OR_RETURN(const RecipeValue value, EvaluateAt(place, names));
  if (const auto* whole = std::get_if<int64_t>(&value)) return *whole;
  return place.Wrong("must be a whole number");
}

Result<std::vector<SpmdDispatch>> Dispatches(const JsonPlace& kernel, const RecipeNames& names) {
  std::vector<SpmdDispatch> dispatches;
  if (const auto blocks = kernel.Find("hw_blocks")) {
    KERF_ASSIGN_OR_RETURN(const int64_t count, WholeAt(*blocks, names));
    dispatches.push_back({count, {}});
  }
  const auto list = kernel.Find("dispatches");
  if (!list) return dispatches;
  for (const JsonPlace& item : list->Items()) {
    SpmdDispatch dispatch;
    KERF_ASSIGN_OR_RETURN(const JsonPlace blocks, item.Member("blocks"));
    KERF_ASSIGN_OR_RETURN(dispatch.blocks, WholeAt(blocks, names));
    if (const auto set = item.Find("set")) {
      for (const auto& [slot, node] : set->node().members) {
        KERF_ASSIGN_OR_RETURN(const JsonPlace place, set->Member(slot));
        KERF_ASSIGN_OR_RETURN(const int64_t value, WholeAt(place, names));
        dispatch.overrides.emplace_back(std::stoi(slot), static_cast<uint64_t>(value));
      }
    }
    dispatches.push_back(std::move(dispatch));
  }
  return dispatches;
}

Result<RecipeResult> Apply(const RecipeFile& file, const JsonPlace& recipe, const JsonPlace& kernel,
                           const RecipeQuery& query) {
  KERF_ASSIGN_OR_RETURN(const RecipeNames names, AllNames(recipe, query));
  std::string spec;
  JsonWriter json(spec);
  json.BeginArray();
  KERF_ASSIGN_OR_RETURN(const JsonPlace args, kernel.Member("args"));
  for (const JsonPlace& arg : args.Items()) KERF_RETURN_IF_ERROR(WriteArg(arg, names, json));
  json.EndArray();
  RecipeResult result;
  KERF_ASSIGN_OR_RETURN(result.args, ParseArgSpec(std::string(file.name), "", spec));
  KERF_ASSIGN_OR_RETURN(result.dispatches, Dispatches(kernel, names));
  result.source = "recipe " + BaseName(file.name) + ", " + query.kernel;
  return result;
}

}  // namespace

std::vector<RecipeFile> BuiltInRecipes() {
  std::vector<RecipeFile> recipes;
  for (const resource::File& file : resource::Files("recipes/")) {
    recipes.push_back({file.path, file.bytes});
  }
  return recipes;
}

Result<std::optional<RecipeResult>> ApplyRecipes(const std::vector<RecipeFile>& recipes,
                                                 const RecipeQuery& query) {
  for (const RecipeFile& file : recipes) {
    KERF_ASSIGN_OR_RETURN(const JsonDocument document,
                          JsonDocument::Parse(std::string(file.name), file.text));
    const JsonPlace recipe = document.root();
    if (!Names(recipe.Find("modules"), {query.module_folder})) continue;
    KERF_ASSIGN_OR_RETURN(const JsonPlace kernels, recipe.Member("kernels"));
    for (const JsonPlace& kernel : kernels.Items()) {
      if (!Names(kernel.Find("names"), {query.kernel, query.source_stem})) continue;
      KERF_ASSIGN_OR_RETURN(RecipeResult result, Apply(file, recipe, kernel, query));
      return std::optional(std::move(result));
    }
  }
  return std::optional<RecipeResult>();
}

}  // namespace kerf::args
