#include "sim/timing/op_work.h"

namespace kerf::sim {
namespace {

using enum WorkKind;

OpWork SyncWork(Op op) {
  switch (op) {
    case Op::SET_FLAG:
    case Op::WAIT_FLAG:
    case Op::CROSS_SET:
    case Op::CROSS_WAIT:
    case Op::SYNCALL:
      return {kFlag};
    case Op::PIPE_BARRIER:
      return {kBarrier};
    case Op::GET_VALUE:
    case Op::SET_VALUE:
    case Op::GM_READ:
    case Op::GM_WRITE:
    case Op::TNOTIFY:
    case Op::TWAIT:
    case Op::DCCI:
      return {kScalarAccess};
    default:
      return {kScalar};
  }
}

OpWork BinaryWork(Op op) {
  switch (op) {
    case Op::TADD:
    case Op::TPARTADD:
      return {kElementwise, "vadd"};
    case Op::TSUB:
      return {kElementwise, "vsub"};
    case Op::TMUL:
    case Op::TPARTMUL:
      return {kElementwise, "vmul"};
    case Op::TDIV:
      return {kElementwise, "vdiv"};
    case Op::TMAX:
    case Op::TPARTMAX:
      return {kElementwise, "vmax"};
    case Op::TMIN:
    case Op::TPARTMIN:
      return {kElementwise, "vmin"};
    case Op::TAND:
      return {kElementwise, "vand"};
    case Op::TOR:
      return {kElementwise, "vor"};
    case Op::TXOR:
      return {kSteps, "vor", "vand"};
    case Op::TCMP:
      return {kElementwise, "vcmpv"};
    case Op::TSEL:
      return {kElementwise, "vsel"};
    case Op::TADDC:
      return {kSteps, "vadd", "vadd"};
    case Op::TSUBC:
      return {kSteps, "vsub", "vadd"};
    case Op::TMULADD:
    case Op::TMULADDDST:
    case Op::TFUSEDMULADD:
    case Op::TFUSEDMULADDRELU:
      return {kSteps, "vmul", "vadd"};
    case Op::TSUBRELU:
      return {kSteps, "vsub", "vrelu"};
    case Op::TADDRELUCONV:
      return {kSteps, "vadd", "vconv"};
    case Op::TADDDEQRELU:
      return {kSteps, "vadd", "vmuls"};
    case Op::TPARTARGMAX:
    case Op::TPARTARGMIN:
      return {kSteps, "vcmpv", "vsel"};
    case Op::TREM:
    case Op::TFMOD:
      return {kSteps, "vdiv", "vmul"};
    case Op::TPOW:
      return {kSteps, "vln", "vexp"};
    case Op::TAXPY:
      return {kSteps, "vmuls", "vadd"};
    default:
      return {};
  }
}

OpWork ScalarOperandWork(Op op) {
  switch (op) {
    case Op::TADDS:
    case Op::TSUBS:
      return {kElementwise, "vadds"};
    case Op::TMULS:
      return {kElementwise, "vmuls"};
    case Op::TDIVS:
      return {kSteps, "vector_dup", "vdiv"};
    case Op::TMAXS:
      return {kElementwise, "vmaxs"};
    case Op::TMINS:
      return {kElementwise, "vmins"};
    case Op::TANDS:
      return {kSteps, "vector_dup", "vand"};
    case Op::TORS:
      return {kSteps, "vector_dup", "vor"};
    case Op::TCMPS:
      return {kElementwise, "vcmpv"};
    case Op::TSELS:
      return {kElementwise, "vsel"};
    case Op::TLRELU:
      return {kElementwise, "vlrelu"};
    case Op::TADDSC:
    case Op::TSUBSC:
      return {kSteps, "vadds", "vadd"};
    case Op::TREMS:
    case Op::TFMODS:
      return {kSteps, "vdiv", "vmul"};
    case Op::TPOWS:
      return {kSteps, "vln", "vexp"};
    case Op::TEXPANDS:
      return {kElementwise, "vector_dup"};
    default:
      return {};
  }
}

OpWork UnaryWork(Op op) {
  switch (op) {
    case Op::TEXP:
      return {kElementwise, "vexp"};
    case Op::TLOG:
      return {kElementwise, "vln"};
    case Op::TSQRT:
      return {kElementwise, "vsqrt"};
    case Op::TRSQRT:
      return {kElementwise, "vrsqrt"};
    case Op::TRECIP:
      return {kSteps, "vector_dup", "vdiv"};
    case Op::TABS:
      return {kElementwise, "vabs"};
    case Op::TNEG:
      return {kElementwise, "vmuls"};
    case Op::TRELU:
      return {kElementwise, "vrelu"};
    case Op::TNOT:
      return {kElementwise, "vnot"};
    case Op::TCVT:
      return {kElementwise, "vconv"};
    case Op::TFILLPAD:
    case Op::TFILLPAD_EXPAND:
      return {kSteps, "vcopy", "vector_dup"};
    case Op::TFILLPAD_INPLACE:
      return {kElementwise, "vector_dup"};
    case Op::TQUANT:
    case Op::TDEQUANT:
      return {kSteps, "vmuls", "vconv"};
    default:
      return {};
  }
}

OpWork ReduceWork(Op op) {
  switch (op) {
    case Op::TROWSUM:
      return {kRowReduce, "vadd", "vcadd"};
    case Op::TROWMAX:
    case Op::TROWARGMAX:
      return {kRowReduce, "vmax", "vcmax"};
    case Op::TROWMIN:
    case Op::TROWARGMIN:
      return {kRowReduce, "vmin", "vcmax"};
    case Op::TROWPROD:
      return {kRowReduce, "vmul", "vmul"};
    case Op::TCOLSUM:
      return {kColumnReduce, "vadd"};
    case Op::TCOLMAX:
    case Op::TCOLARGMAX:
      return {kColumnReduce, "vmax"};
    case Op::TCOLMIN:
    case Op::TCOLARGMIN:
      return {kColumnReduce, "vmin"};
    case Op::TCOLPROD:
      return {kColumnReduce, "vmul"};
    case Op::TPAIRREDUCESUM:
      return {kElementwise, "vadd"};
    default:
      return {};
  }
}

OpWork ExpandWork(Op op) {
  switch (op) {
    case Op::TROWEXPAND:
      return {kRowCopy, "vector_dup"};
    case Op::TROWEXPANDADD:
      return {kRowExpand, "vadd"};
    case Op::TROWEXPANDSUB:
      return {kRowExpand, "vsub"};
    case Op::TROWEXPANDMUL:
      return {kRowExpand, "vmul"};
    case Op::TROWEXPANDDIV:
      return {kRowExpand, "vdiv"};
    case Op::TROWEXPANDMAX:
      return {kRowExpand, "vmax"};
    case Op::TROWEXPANDMIN:
      return {kRowExpand, "vmin"};
    case Op::TROWEXPANDEXPDIF:
      return {kRowExpand, "vsub", "vexp"};
    case Op::TCOLEXPAND:
      return {kColumnExpand, "vcopy"};
    case Op::TCOLEXPANDADD:
      return {kColumnExpand, "vadd"};
    case Op::TCOLEXPANDSUB:
      return {kColumnExpand, "vsub"};
    case Op::TCOLEXPANDMUL:
      return {kColumnExpand, "vmul"};
    case Op::TCOLEXPANDDIV:
      return {kColumnExpand, "vdiv"};
    case Op::TCOLEXPANDMAX:
      return {kColumnExpand, "vmax"};
    case Op::TCOLEXPANDMIN:
      return {kColumnExpand, "vmin"};
    case Op::TCOLEXPANDEXPDIF:
      return {kColumnExpand, "vsub", "vexp"};
    default:
      return ReduceWork(op);
  }
}

OpWork RearrangeWork(Op op) {
  switch (op) {
    case Op::TGATHER:
    case Op::TGATHERB:
      return {kElementwise, "vgather"};
    case Op::TTRI:
      return {kElementwise, "vector_dup"};
    case Op::TTRANS:
      return {kTranspose};
    case Op::TCONCAT:
      return {kElementwise, "vcopy"};
    case Op::TPACK:
      return {kElementwise, "vconv"};
    case Op::TMRGSORT:
      return {kSort, "vmrgsort4"};
    default:
      return {};
  }
}

}  // namespace

OpWork WorkOf(Op op) {
  const auto number = static_cast<uint16_t>(op);
  if (number < 40) return SyncWork(op);
  if (number < 100) return {kTransfer};
  if (number < 140) return {kCube};
  if (number < 180) return BinaryWork(op);
  if (number < 220) return ScalarOperandWork(op);
  if (number < 260) return UnaryWork(op);
  if (number < 300) return ExpandWork(op);
  return RearrangeWork(op);
}

}  // namespace kerf::sim
