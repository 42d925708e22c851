// Sorting and the largest or smallest k, along an axis.
#include "synth/lowerer.h"

namespace kerf::synth {
namespace {

// Both results of one sort; the rows to sort are made contiguous first.
void GiveSorted(Lowerer& l, int64_t count, bool descending) {
  const int id = l.TensorArg("self");
  if (l.refused()) return;
  const Shape shape = l.tensor(id).shape;
  if (shape.empty()) return l.Refuse("it sorts a tensor without axes");
  const int axis = WrapAxis(l.Int("dim", -1), shape.size());
  const DType type = l.tensor(id).dtype;
  const int64_t extent = shape[static_cast<size_t>(axis)];
  // The axis last.
  Shape rows = shape;
  rows.erase(rows.begin() + axis);
  rows.push_back(extent);
  Indices in = Vars(rows);
  const Index along = in.back();
  in.pop_back();
  in.insert(in.begin() + axis, along);
  const int keys = l.Pointwise(type, rows, l.At(id, in), "rows to sort");
  Shape sorted = rows;
  sorted.back() = count;
  Special special;
  special.name = "sort";
  special.operands = {keys};
  special.numbers = {{"count", count}, {"descending", descending ? 1 : 0}};
  const int values = l.AddSpecial(type, sorted, special, "sorted values");
  const int places = l.AddSpecial(DType::kInt64, sorted, special, "places of the sorted values");
  for (const int result : {values, places}) l.tensor(result).special.results = {values, places};
  for (size_t output = 0; output < 2; ++output) {
    if (!l.Wanted(output)) continue;
    Indices back = Vars(l.OutShape(output));
    const Index at = back[static_cast<size_t>(axis)];
    back.erase(back.begin() + axis);
    back.push_back(at);
    l.Give(output, l.At(output == 0 ? values : places, back));
  }
}

void Sort(Lowerer& l) {
  const int id = l.TensorArg("self");
  if (l.refused()) return;
  const Shape& shape = l.tensor(id).shape;
  if (shape.empty()) return l.Refuse("it sorts a tensor without axes");
  const int axis = WrapAxis(l.Int("dim", -1), shape.size());
  GiveSorted(l, shape[static_cast<size_t>(axis)], l.Bool("descending", false));
}

void Topk(Lowerer& l) { GiveSorted(l, l.Int("k", 1), l.Bool("largest", true)); }

}  // namespace

void AddSorting(HandlerTable& t) {
  t["aten.sort.default"] = Sort;
  t["aten.sort.stable"] = Sort;
  t["aten.topk.default"] = Topk;
}

}  // namespace kerf::synth
