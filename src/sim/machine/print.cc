// TPRINT: a tile or a view of global memory as text, row by row.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "sim/machine/unit.h"

namespace kerf::sim {
namespace {

std::string NumberText(float real, int64_t integer, bool is_real, int64_t format) {
  char text[64];
  if (!is_real)
    std::snprintf(text, sizeof text, "%8lld", static_cast<long long>(integer));
  else if (format == 2)
    std::snprintf(text, sizeof text, "%10.6f", static_cast<double>(real));
  else
    std::snprintf(text, sizeof text, "%8.*f", format == 1 ? 2 : 4, static_cast<double>(real));
  return text;
}

// A line of `count` elements whose bytes are `bytes`.
std::string LineText(Type type, const std::vector<char>& bytes, int64_t count, int64_t format) {
  std::vector<float> reals(static_cast<size_t>(count));
  std::vector<int64_t> integers(reals.size());
  if (IsFloat(type))
    DecodeReals(type, bytes.data(), count, reals.data());
  else
    DecodeIntegers(type, bytes.data(), count, integers.data());
  std::string line;
  for (size_t i = 0; i < reals.size(); ++i)
    line += (i == 0 ? "" : " ") + NumberText(reals[i], integers[i], IsFloat(type), format);
  return line + "\n";
}

std::string TileText(Unit& unit, const TileRef& tile, int64_t format) {
  TileIo io = unit.Open(tile);
  std::string text = std::to_string(tile.valid_rows) + "x" + std::to_string(tile.valid_cols) + " " +
                     TypeName(tile.type) + " in " + MemName(tile.mem) + "\n";
  std::vector<char> bytes(static_cast<size_t>(tile.valid_cols) * io.element_bytes());
  for (int64_t r = 0; r < tile.valid_rows; ++r) {
    io.Read(r, 0, tile.valid_cols, bytes.data());
    text += LineText(tile.type, bytes, tile.valid_cols, format);
  }
  unit.Close(io, "what is printed");
  return text;
}

std::string GlobalText(Unit& unit, const GlobalRef& view, int64_t format) {
  const size_t size = TypeBytes(view.type);
  std::string text = std::string(TypeName(view.type)) + " in GM\n";
  std::vector<char> bytes(static_cast<size_t>(view.shape[4]) * size);
  const int64_t rows = view.shape[0] * view.shape[1] * view.shape[2] * view.shape[3];
  for (int64_t row = 0; row < rows; ++row) {
    int64_t rest = row;
    int64_t offset = 0;
    for (int dim = 3; dim >= 0; --dim) {
      offset += rest % view.shape[dim] * view.stride[dim];
      rest /= view.shape[dim];
    }
    for (int64_t c = 0; c < view.shape[4]; ++c) {
      const auto element = static_cast<uint64_t>(offset + c * view.stride[4]);
      const bool packed = kerf_pto::PerByte(view.type) != 1;
      const char* at =
          static_cast<const char*>(view.data) + (packed ? element / 2 : element * size);
      unit.CheckGlobal(at, size, "prints");
      if (packed)
        bytes[static_cast<size_t>(c)] = static_cast<char>(PackedAt(view.data, element));
      else
        std::copy_n(at, size, bytes.data() + static_cast<size_t>(c) * size);
    }
    text += LineText(view.type, bytes, view.shape[4], format);
  }
  return text;
}

}  // namespace

bool ExecutePrint(Unit& unit, const Call& call) {
  if (call.op != Op::TPRINT) return false;
  unit.complaints().Print(call.tiles != 0 ? TileText(unit, call.tile[0], call.option[0])
                                          : GlobalText(unit, call.global[0], call.option[0]));
  return true;
}

}  // namespace kerf::sim
