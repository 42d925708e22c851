// The instructions a log may name. Numbers are part of the format
// (docs/formats/instruction_log.md): append at the end, never reuse one.
//
// To add an instruction: one line here, its shape of work in src/sim/timing/op_work.cc.
#pragma once

#include <cstdint>

namespace kerf_log {

// X(number, name)
// clang-format off
#define KERF_LOG_OPS(X)                                                                           \
  /* flags, barriers, scalar */                                                                   \
  X(1, SET_FLAG) X(2, WAIT_FLAG) X(3, PIPE_BARRIER) X(4, CROSS_SET) X(5, CROSS_WAIT)              \
  X(6, SYNCALL) X(7, DSB) X(8, DCCI) X(9, SCALAR) X(10, GET_VALUE) X(11, SET_VALUE)               \
  X(12, GM_READ) X(13, GM_WRITE) X(14, TFREE) X(15, TALLOC) X(16, TNOTIFY) X(17, TWAIT)           \
  X(18, SET_MASK) X(19, SET_ATOMIC) X(20, GET_SYS_CNT) X(21, TASSIGN) X(22, TRESHAPE)             \
  /* transfers */                                                                                 \
  X(40, TLOAD) X(41, TSTORE) X(42, TMOV) X(43, TEXTRACT) X(44, TINSERT) X(45, TPUSH)              \
  X(46, TPOP) X(47, TPUT) X(48, TGET) X(49, TPUT_ASYNC) X(50, TGET_ASYNC) X(51, TPREFETCH)        \
  X(52, MGATHER) X(53, MSCATTER) X(54, TSTORE_FP) X(55, TMOV_FP) X(56, TEXTRACT_FP)               \
  X(57, TIMG2COL) X(58, SET_IMG2COL) X(59, TPREFETCH_ASYNC) X(60, TBROADCAST) X(61, TREDUCE)      \
  X(62, TSCATTER_COMM) X(63, TGATHER_COMM) X(64, TINSERT_FP)                                      \
  /* matrix */                                                                                    \
  X(100, TMATMUL) X(101, TMATMUL_ACC) X(102, TMATMUL_BIAS) X(103, TMATMUL_MX) X(104, TGEMV)       \
  X(105, TGEMV_ACC) X(106, TGEMV_BIAS) X(107, TGEMV_MX) X(108, TMATMUL_MX_ACC)                    \
  X(109, TMATMUL_MX_BIAS)                                                                         \
  /* elementwise, two tiles */                                                                    \
  X(140, TADD) X(141, TSUB) X(142, TMUL) X(143, TDIV) X(144, TMAX) X(145, TMIN) X(146, TAND)      \
  X(147, TOR) X(148, TXOR) X(149, TSHL) X(150, TSHR) X(151, TCMP) X(152, TSEL) X(153, TPRELU)     \
  X(154, TREM) X(155, TADDC) X(156, TSUBC) X(157, TFMOD) X(158, TPOW) X(159, TPARTADD)            \
  X(160, TPARTMUL) X(161, TPARTMAX) X(162, TPARTMIN) X(163, TAXPY) X(164, TMULADD)                \
  X(165, TFUSEDMULADD) X(166, TFUSEDMULADDRELU) X(167, TMULADDDST) X(168, TSUBRELU)              \
  X(169, TADDRELUCONV) X(170, TADDDEQRELU) X(171, TPARTARGMAX) X(172, TPARTARGMIN)               \
  /* elementwise, a tile and a scalar */                                                          \
  X(180, TADDS) X(181, TSUBS) X(182, TMULS) X(183, TDIVS) X(184, TMAXS) X(185, TMINS)             \
  X(186, TANDS) X(187, TORS) X(188, TXORS) X(189, TSHLS) X(190, TSHRS) X(191, TCMPS)              \
  X(192, TSELS) X(193, TLRELU) X(194, TREMS) X(195, TADDSC) X(196, TSUBSC) X(197, TFMODS)         \
  X(198, TEXPANDS) X(199, TPOWS)                                                                  \
  /* elementwise, one tile */                                                                     \
  X(220, TEXP) X(221, TLOG) X(222, TSQRT) X(223, TRSQRT) X(224, TRECIP) X(225, TABS)              \
  X(226, TNEG) X(227, TRELU) X(228, TNOT) X(229, TCVT) X(230, TFILLPAD)                           \
  X(231, TFILLPAD_INPLACE) X(232, TFILLPAD_EXPAND) X(233, TQUANT) X(234, TDEQUANT)                \
  X(235, TSIN) X(236, TCOS)                                                                       \
  /* rows and columns */                                                                          \
  X(260, TROWSUM) X(261, TROWMAX) X(262, TROWMIN) X(263, TROWPROD) X(264, TROWARGMAX)             \
  X(265, TROWARGMIN) X(266, TCOLSUM) X(267, TCOLMAX) X(268, TCOLMIN) X(269, TCOLPROD)             \
  X(270, TROWEXPAND) X(271, TROWEXPANDADD) X(272, TROWEXPANDSUB) X(273, TROWEXPANDMUL)            \
  X(274, TROWEXPANDDIV) X(275, TROWEXPANDMAX) X(276, TROWEXPANDMIN) X(277, TROWEXPANDEXPDIF)      \
  X(278, TCOLEXPAND) X(279, TCOLEXPANDADD) X(280, TCOLEXPANDSUB) X(281, TCOLEXPANDMUL)            \
  X(282, TCOLEXPANDDIV) X(283, TCOLEXPANDMAX) X(284, TCOLEXPANDMIN) X(285, TCOLEXPANDEXPDIF)      \
  X(286, TCOLARGMAX) X(287, TCOLARGMIN) X(288, TPAIRREDUCESUM)                                    \
  /* rearranging */                                                                               \
  X(300, TGATHER) X(301, TGATHERB) X(302, TSCATTER) X(303, TTRANS) X(304, TCI) X(305, TCONCAT)    \
  X(306, TSORT32) X(307, TMRGSORT) X(308, TTRI) X(309, TPACK) X(310, THISTOGRAM)                  \
  X(311, TRANDOM) X(312, TPRINT) X(313, TSUBVIEW) X(314, TINTERLEAVE) X(315, TDEINTERLEAVE)
// clang-format on

enum class Op : uint16_t {
#define KERF_LOG_OP(number, name) name = number,
  KERF_LOG_OPS(KERF_LOG_OP)
#undef KERF_LOG_OP
};

inline constexpr uint16_t kOpEnd = 320;  // all numbers are below

// nullptr for a number nobody has.
inline const char* OpName(Op op) {
  switch (op) {
#define KERF_LOG_OP(number, name) \
  case Op::name:                  \
    return #name;
    KERF_LOG_OPS(KERF_LOG_OP)
#undef KERF_LOG_OP
  }
  return nullptr;
}

}  // namespace kerf_log
