#include "cli/render/kernel_args_text.h"

#include <fmt/core.h>

#include "artifact/scalar_bits.h"
#include "cli/render/table.h"

namespace kerf::cli {
namespace {

std::string ContentOf(const TensorArg& tensor) {
  if (tensor.data) return "data";
  if (tensor.fill_bits != 0) return "fill " + ScalarText({tensor.type, tensor.fill_bits});
  return tensor.role == ArgRole::kOutput ? "" : "zeros";
}

}  // namespace

std::string SlotTable(const KernelArgs& args, const Output& out) {
  Table table({{"SLOT", Align::kRight}, {"KIND"}, {"WHAT"}, {"ROLE"}, {"STARTS AS"}, {"NAME"}});
  for (const KernelArg& arg : args.args) {
    const std::string slot = std::to_string(arg.slot);
    if (const TensorArg* tensor = arg.tensor()) {
      table.AddRow({{slot},
                    {"tensor"},
                    {DescribeTensor(*tensor)},
                    {ArgRoleName(tensor->role)},
                    {ContentOf(*tensor)},
                    {arg.name}});
    } else {
      const ScalarArg& scalar = *arg.scalar();
      table.AddRow({{slot},
                    {"scalar"},
                    {ArgTypeName(scalar.type)},
                    {""},
                    {fmt::format("{} ({:#x})", ScalarText(scalar), scalar.bits)},
                    {arg.name}});
    }
  }
  return table.Render(out);
}

std::string DescribePlan(const ReplayPlan& plan) {
  int64_t blocks = 0;
  for (const SpmdDispatch& dispatch : plan.dispatches) blocks += dispatch.blocks;
  return fmt::format("{} ({}) on {}, {} block{}; arguments: {}", plan.kernel.name,
                     KernelShapeName(plan.kernel.shape), PlatformName(plan.options.platform),
                     blocks, blocks == 1 ? "" : "s", plan.args_source);
}

}  // namespace kerf::cli
