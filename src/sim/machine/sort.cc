// Sorting: lists of pairs of 8 bytes, a value (float, or half and two bytes of nothing) and an
// index.
#include <algorithm>
#include <cstring>
#include <vector>

#include "sim/machine/unit.h"

namespace kerf::sim {
namespace {

struct Pair {
  float value = 0;
  uint64_t bits = 0;  // as stored
};

Pair PairOf(Type type, uint64_t bits) {
  Pair pair{0, bits};
  DecodeReals(type, &bits, 1, &pair.value);
  return pair;
}

void CheckReal(Unit& unit, const Call& call) {
  if (call.tile[1].type == Type::kF32 || call.tile[1].type == Type::kF16) return;
  unit.complaints().Fail(FindingKind::kUnsupported,
                         std::string(OpName(call.op)) + " on " + TypeName(call.tile[1].type));
}

int64_t PerPair(const TileIo& io) { return static_cast<int64_t>(8 / io.element_bytes()); }

// Each 32 columns, the largest first, equal values in the order of their indices.
void Sort32(Unit& unit, const Call& call) {
  CheckReal(unit, call);
  TileIo d = unit.Open(call.tile[0]);
  TileIo a = unit.Open(call.tile[1]);
  TileIo idx = unit.Open(call.tile[2]);
  const int64_t cols = call.tile[1].valid_cols;
  std::vector<Pair> pairs;
  std::vector<uint64_t> out;
  for (int64_t r = 0; r < call.tile[1].valid_rows; ++r) {
    for (int64_t begin = 0; begin < cols; begin += 32) {
      const int64_t count = std::min<int64_t>(32, cols - begin);
      pairs.clear();
      for (int64_t c = begin; c < begin + count; ++c) {
        uint64_t value = 0;
        int64_t index = 0;
        a.Read(r, c, 1, &value);
        idx.ReadInteger(std::min<int64_t>(r, call.tile[2].valid_rows - 1), c, 1, &index);
        pairs.push_back(PairOf(call.tile[1].type, value | static_cast<uint64_t>(index) << 32));
      }
      std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& x, const Pair& y) {
        return x.value > y.value || (x.value == y.value && x.bits >> 32 < y.bits >> 32);
      });
      out.clear();
      for (const Pair& pair : pairs) out.push_back(pair.bits);
      d.Write(r, begin * PerPair(d), count * PerPair(d), out.data());
    }
  }
  unit.Close(a, "source");
  unit.Close(idx, "the indices");
}

std::vector<Pair> ReadList(TileIo& io, Type type, int64_t first, int64_t count) {
  std::vector<uint64_t> bits(static_cast<size_t>(count));
  const int64_t per = PerPair(io);
  io.Read(0, first * per, count * per, bits.data());
  std::vector<Pair> list;
  list.reserve(bits.size());
  for (const uint64_t one : bits) list.push_back(PairOf(type, one));
  return list;
}

// Until all lists are used up, or (exhausted) one of them. The earlier list wins among equals.
std::vector<uint64_t> Merge(const std::vector<std::vector<Pair>>& lists, bool exhausted,
                            std::vector<size_t>& taken) {
  std::vector<uint64_t> out;
  taken.assign(lists.size(), 0);
  for (;;) {
    size_t best = lists.size();
    for (size_t i = 0; i < lists.size(); ++i) {
      if (taken[i] == lists[i].size()) {
        if (exhausted) return out;
        continue;
      }
      if (best == lists.size() || lists[i][taken[i]].value > lists[best][taken[best]].value)
        best = i;
    }
    if (best == lists.size()) return out;
    out.push_back(lists[best][taken[best]++].bits);
  }
}

// Groups of four runs that lie behind each other.
void MergeRuns(Unit& unit, const Call& call) {
  TileIo d = unit.Open(call.tile[0]);
  TileIo a = unit.Open(call.tile[1]);
  const int64_t per = PerPair(a);
  const int64_t length = call.option[0] / per;
  const int64_t total = call.tile[1].valid_cols / per;
  if (length <= 0 || total == 0) {
    unit.complaints().Fail(FindingKind::kShape,
                           "runs of " + std::to_string(call.option[0]) + " elements in " +
                               std::to_string(call.tile[1].valid_cols) + " columns");
  }
  std::vector<size_t> taken;
  std::vector<std::vector<uint64_t>> merged;
  for (int64_t begin = 0; begin < total; begin += 4 * length) {
    std::vector<std::vector<Pair>> lists;
    for (int64_t at = begin; at < std::min(total, begin + 4 * length); at += length) {
      lists.push_back(ReadList(a, call.tile[1].type, at, std::min(length, total - at)));
    }
    merged.push_back(Merge(lists, false, taken));
  }
  int64_t at = 0;
  for (const auto& list : merged) {
    const auto count = static_cast<int64_t>(list.size());
    if ((at + count) * per > call.tile[0].cols)
      unit.complaints().Fail(FindingKind::kShape, "the result does not fit");
    d.Write(0, at * per, count * per, list.data());
    at += count;
  }
  unit.Close(a, "source");
}

// 2 to 4 lists that are tiles; the counts go where option 2 says.
void MergeLists(Unit& unit, const Call& call) {
  TileIo d = unit.Open(call.tile[0]);
  std::vector<std::vector<Pair>> lists;
  for (int i = 2; i < call.tiles; ++i) {
    TileIo io = unit.Open(call.tile[i]);
    lists.push_back(ReadList(io, call.tile[i].type, 0, call.tile[i].valid_cols / PerPair(io)));
    unit.Close(io, "a list");
  }
  std::vector<size_t> taken;
  std::vector<uint64_t> merged = Merge(lists, call.option[1] != 0, taken);
  const int64_t room = call.tile[0].valid_cols / PerPair(d);
  if (static_cast<int64_t>(merged.size()) > room) merged.resize(static_cast<size_t>(room));
  d.Write(0, 0, static_cast<int64_t>(merged.size()) * PerPair(d), merged.data());
  auto* counts = reinterpret_cast<uint16_t*>(call.option[2]);  // NOLINT: it was a pointer
  for (size_t i = 0; i < 4; ++i) counts[i] = i < taken.size() ? static_cast<uint16_t>(taken[i]) : 0;
}

}  // namespace

bool ExecuteSort(Unit& unit, const Call& call) {
  if (call.op == Op::TSORT32) {
    Sort32(unit, call);
  } else if (call.op == Op::TMRGSORT) {
    CheckReal(unit, call);
    call.option[0] < 0 ? MergeLists(unit, call) : MergeRuns(unit, call);
  } else {
    return false;
  }
  return true;
}

}  // namespace kerf::sim
