// Recipes: arguments for kernels of known scene tests, as data files (docs/formats/recipe.md).
//
// Variants of one kernel share its name and not its slots, so a recipe is found by the folder of
// the module and the kernel together.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "artifact/kernel_args.h"
#include "artifact/scene.h"
#include "artifact/workspace.h"

namespace kerf::args {

struct RecipeFile {
  std::string_view name;  // "recipes/paged_attention.json"
  std::string_view text;
};

// Those embedded in the binary.
std::vector<RecipeFile> BuiltInRecipes();

struct RecipeQuery {
  std::string module_folder;  // the last part of the module's folder
  std::string kernel;         // its name
  std::string source_stem;    // its source's name without suffix
  JsonNode params;            // of the case
  std::optional<int64_t> hw_blocks;
};

struct RecipeResult {
  KernelArgs args;
  std::vector<SpmdDispatch> dispatches;  // empty: the recipe does not say
  std::string source;                    // "recipe paged_attention.json, SF"
};

// nullopt when no recipe is for this module and kernel; an error when one is and the case lacks
// what it needs.
Result<std::optional<RecipeResult>> ApplyRecipes(const std::vector<RecipeFile>& recipes,
                                                 const RecipeQuery& query);

// What generate_args makes, when the kernel has the orchestration's signature: these are the
// orchestration's arguments, and only then the kernel's.
Result<KernelArgs> ArgsFromScene(const SceneClass& scene_class, const SceneIncore& incore);

}  // namespace kerf::args
