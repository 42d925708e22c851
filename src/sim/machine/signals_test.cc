// Flags, barriers and what moves between devices: what each does, and what is written down of it.
#include <unistd.h>

#include "sim/machine/instruction_testing.h"

namespace kerf::sim {
namespace {

using namespace pto;

// What one core recorded, by name.
std::vector<std::string> Recorded(const std::function<void()>& body, GlobalMemory& global) {
  char path[] = "/tmp/kerf_signals_XXXXXX";
  const int fd = mkstemp(path);
  std::vector<std::string> names;
  {
    kerf_log::LogFile file;
    EXPECT_TRUE(file.Adopt(fd));
    LaunchConfig config;
    config.log = &file;
    kerf_pto_bind(&test_core);
    Launch launch(config, global, &test_core);
    launch.AddCore({kerf_log::CoreKind::kAiv, 0, 0, body, nullptr, nullptr});
    ExpectClean(launch.Run());
  }
  FILE* log = std::fopen(path, "rb");
  std::fseek(log, sizeof(kerf_log::FileHeader), SEEK_SET);
  kerf_log::ChunkHeader chunk;
  while (std::fread(&chunk, sizeof chunk, 1, log) == 1) {
    std::vector<char> content(chunk.bytes);
    if (!content.empty() && std::fread(content.data(), content.size(), 1, log) != 1) break;
    if (chunk.type != kerf_log::ChunkType::kRecords) continue;
    for (size_t at = 0; at < content.size();) {
      kerf_log::Instruction record;
      std::memcpy(&record, content.data() + at, sizeof record);
      at += sizeof record + record.operands * sizeof(kerf_log::Operand);
      names.emplace_back(kerf_log::OpName(record.op));
    }
  }
  std::fclose(log);
  unlink(path);
  return names;
}

TEST(Signals, AreWrittenDownInTheOrderOfIssue) {
  GlobalMemory global;
  EXPECT_EQ(Recorded(
                [] {
                  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
                  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
                  pipe_barrier(PIPE_V);
                  int32_t line = 0;
                  dcci(&line, SINGLE_CACHE_LINE);
                  dsb(DSB_DDR);
                },
                global),
            (std::vector<std::string>{"SET_FLAG", "WAIT_FLAG", "PIPE_BARRIER", "DCCI", "DSB"}));
}

// a5: one signal, one receiver; a vector core's own ids are 0 to 15 on either lane.
TEST(Signals, OfABlockReachTheirLane) {
  GlobalMemory global;
  kerf_pto_bind(&test_core);
  Launch launch({}, global, &test_core);
  std::vector<int> order;
  launch.AddCore({kerf_log::CoreKind::kAiv, 0, 0,
                  [&] {
                    wait_intra_block(PIPE_V, 3);
                    order.push_back(0);
                    set_intra_block(PIPE_MTE3, 4);
                  },
                  nullptr, nullptr});
  launch.AddCore({kerf_log::CoreKind::kAiv, 0, 1,
                  [&] {
                    wait_intra_block(PIPE_V, 3);
                    order.push_back(1);
                  },
                  nullptr, nullptr});
  launch.AddCore({kerf_log::CoreKind::kAic, 0, 0,
                  [&] {
                    set_intra_block(PIPE_FIX, 3 + 16);
                    wait_intra_block(PIPE_MTE1, 4);  // comes only after lane 0 was told
                    order.push_back(2);
                  },
                  nullptr, nullptr});
  const LaunchResult result = launch.Run();
  // Lane 0 never gets its signal: the cube told lane 1.
  EXPECT_EQ(result.finished, 1U);
  EXPECT_EQ(order, (std::vector<int>{1}));
}

TEST(Print, WritesTilesAndViewsRowByRow) {
  Matrix<float> a(2, 3);
  a.data = {1, -2.5F, 3, 0.125F, 100, 7};
  Matrix<int32_t> b(1, 2);
  b.data = {-4, 5};
  GlobalMemory global = MemoryOf(a, b);
  const LaunchResult result = RunBody(global, [&] {
    Tiles tiles;
    auto x = tiles.Load<2, 8>(a);
    TPRINT(x);
    TPRINT<PrintFormat::Width8_Precision2>(x, ViewOf(a));
    TPRINT(ViewOf(b));
  });
  ExpectClean(result);
  EXPECT_NE(result.printed.find("2x3 float32 in UB\n"
                                "  1.0000  -2.5000   3.0000\n"
                                "  0.1250 100.0000   7.0000\n"),
            std::string::npos)
      << result.printed;
  EXPECT_NE(result.printed.find("    1.00    -2.50     3.00\n"), std::string::npos);
  EXPECT_NE(result.printed.find("int32 in GM\n      -4        5\n"), std::string::npos);
}

// --- between devices, as far as one device can tell ---

TEST(Comm, NotifiesAndWaits) {
  Matrix<int32_t> signal(1, 4);
  GlobalMemory global = MemoryOf(signal);
  bool before = true;
  bool after = false;
  ExpectClean(RunBody(global, [&] {
    comm::Signal one(signal.data.data());
    comm::Signal2D<1, 4> all(signal.data.data());
    before = comm::TTEST(all, 1, comm::WaitCmp::GE);
    comm::TNOTIFY(one, 5, comm::NotifyOp::Set);
    comm::TNOTIFY(one, 2, comm::NotifyOp::AtomicAdd);
    comm::TWAIT(one, 7, comm::WaitCmp::EQ);
    after = comm::TTEST(one, 8, comm::WaitCmp::LT);
  }));
  EXPECT_FALSE(before);
  EXPECT_TRUE(after);
  EXPECT_EQ(signal.at(0, 0), 7);
  EXPECT_EQ(signal.at(0, 1), 0);
}

// Pieces of the stage's size, the last ones smaller.
TEST(Comm, CopiesThroughAStage) {
  Matrix<float> from = Sample<float>(7, 21, 1), to(7, 21), back(7, 21), sum = from;
  GlobalMemory global = MemoryOf(from, to, back, sum);
  ExpectClean(RunBody(global, [&] {
    Tiles tiles;
    auto stage = tiles.New<float, 4, 8>(4, 8);
    auto second = tiles.New<float, 4, 8>(4, 8);
    comm::TPUT<AtomicType::AtomicNone>(ViewOf(to), ViewOf(from), stage);
    comm::TGET(ViewOf(back), ViewOf(to), stage);
    comm::TPUT<AtomicType::AtomicAdd>(ViewOf(sum), ViewOf(from), stage, second);
  }));
  const auto want = [&](int r, int c) { return static_cast<double>(from.at(r, c)); };
  ExpectNear<float>(to, want, 0, "TPUT");
  ExpectNear<float>(back, want, 0, "TGET");
  ExpectNear<float>(
      sum, [&](int r, int c) { return 2 * want(r, c); }, 0, "added");
}

TEST(Comm, CopiesByTheEngine) {
  Matrix<int32_t> from = Sample<int32_t>(3, 5, 1), to(3, 5), back(3, 5);
  GlobalMemory global = MemoryOf(from, to, back);
  ExpectClean(RunBody(global, [&] {
    comm::AsyncSession session;
    EXPECT_TRUE(comm::TPUT_ASYNC(ViewOf(to), ViewOf(from), session).Wait(session));
    EXPECT_TRUE(comm::TGET_ASYNC(ViewOf(back), ViewOf(to), session).Test(session));
    PrefetchAsyncContext context;
    EXPECT_TRUE(TPREFETCH_ASYNC(ViewOf(from), context).valid());
    TPREFETCH(ViewOf(from));
  }));
  EXPECT_EQ(to.data, from.data);
  EXPECT_EQ(back.data, from.data);
}

TEST(Comm, FindsAPrefetchOfNothing) {
  Matrix<int32_t> outside(1, 8);
  GlobalMemory global;
  const LaunchResult result = RunBody(global, [&] { TPREFETCH(ViewOf(outside)); });
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].kind, FindingKind::kGlobalRange);
}

// Groups of ranks: every one gets, gives, or has its part.
TEST(Comm, BroadcastsReducesGathersAndScatters) {
  Matrix<float> root = Sample<float>(6, 9, 1), r0 = Sample<float>(3, 9, 2),
                r1 = Sample<float>(3, 9, 3), sum(3, 9), top(3, 9), both(6, 9);
  Matrix<float> got0(6, 9), got1(6, 9), part0(3, 9), part1(3, 9);
  GlobalMemory global = MemoryOf(root, r0, r1, sum, top, both, got0, got1, part0, part1);
  ExpectClean(RunBody(global, [&] {
    Tiles tiles;
    auto stage = tiles.New<float, 2, 8>(2, 8);
    auto receive = tiles.New<float, 2, 8>(2, 8);
    View<float> everywhere[] = {ViewOf(got0), ViewOf(got1)};
    comm::ParallelGroup<View<float>> to(everywhere, 2, 0);
    comm::TBROADCAST(to, ViewOf(root), stage);
    View<float> ranks[] = {ViewOf(r0), ViewOf(r1)};
    comm::ParallelGroup<View<float>> from(ranks, 2, 0);
    comm::TREDUCE(from, ViewOf(sum), stage, receive, comm::ReduceOp::Sum);
    comm::TREDUCE(from, ViewOf(top), stage, receive, comm::ReduceOp::Max);
    comm::TGATHER(from, ViewOf(both), stage);
    View<float> parts[] = {ViewOf(part0), ViewOf(part1)};
    comm::ParallelGroup<View<float>> halves(parts, 2, 0);
    comm::TSCATTER(halves, ViewOf(root), stage);
  }));
  EXPECT_EQ(got0.data, root.data);
  EXPECT_EQ(got1.data, root.data);
  const auto at = [](Matrix<float>& m) {
    return [&m](int r, int c) { return static_cast<double>(m.at(r, c)); };
  };
  ExpectNear<float>(
      sum, [&](int r, int c) { return at(r0)(r, c) + at(r1)(r, c); }, 1e-6, "sum");
  ExpectNear<float>(
      top, [&](int r, int c) { return std::max(at(r0)(r, c), at(r1)(r, c)); }, 0, "max");
  ExpectNear<float>(
      both, [&](int r, int c) { return r < 3 ? at(r0)(r, c) : at(r1)(r - 3, c); }, 0, "gather");
  ExpectNear<float>(part0, at(root), 0, "scatter 0");
  ExpectNear<float>(
      part1, [&](int r, int c) { return at(root)(r + 3, c); }, 0, "scatter 1");
}

}  // namespace
}  // namespace kerf::sim
