// From the operands of an instruction to a Call.
#pragma once

#include "kerf_pto/global.h"

namespace pto {
// What every instruction returns; flags, not events, order the pipes of a simulated kernel.
struct RecordEvent {};
}  // namespace pto

namespace kerf_pto {

template <typename T, typename V>
Number NumberOf(V value) {
  if constexpr (std::is_integral_v<T>) {
    const auto exact = static_cast<T>(value);
    return {static_cast<double>(exact), static_cast<int64_t>(exact)};
  } else {
    const auto exact = static_cast<double>(static_cast<float>(static_cast<T>(value)));
    return {exact, 0};
  }
}

// Fills what every call has; options stay zero unless set.
struct Builder {
  Call call;
  Builder(Op op, const Place& place) {
    call.op = op;
    call.tiles = 0;
    call.globals = 0;
    call.number = {0, 0};
    call.option[0] = call.option[1] = call.option[2] = call.option[3] = 0;
    call.site = SiteOf(place);
  }
  template <typename T>
  Builder& Tile(const T& tile) {
    static_assert(kIsTile<T>, "kerf: this operand must be a tile");
    call.tile[call.tiles++] = tile.Ref();
    return *this;
  }
  template <typename G>
  Builder& Global(const G& global) {
    static_assert(kIsGlobal<G>, "kerf: this operand must be a GlobalTensor");
    call.global[call.globals++] = global.Ref();
    return *this;
  }
  Builder& Option(int index, int64_t value) {
    call.option[index] = value;
    return *this;
  }
  Builder& Value(Number number) {
    call.number = number;
    return *this;
  }
  pto::RecordEvent Run() {
    TheCore().Execute(call);
    return {};
  }
};

}  // namespace kerf_pto
