#include "base/hash.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "base/sha256_lanes.h"

namespace kerf {
namespace {

// The vectors of FIPS 180-4.
TEST(Hash, Sha256MatchesTheStandard) {
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha256Hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Hash, Sha256WorksFromManyThreads) {
  std::vector<std::string> hashes(8);
  std::vector<std::thread> threads;
  for (std::string& hash : hashes) {
    threads.emplace_back([&hash] { hash = Sha256Hex("abc"); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::set<std::string>(hashes.begin(), hashes.end()),
            std::set<std::string>{Sha256Hex("abc")});
}

// Lengths around every border of the padding, in pairs and crowds of unlike lengths.
TEST(Hash, Sha256OfAllIsThatOfEach) {
  std::string bytes;
  for (unsigned i = 0, seed = 7; i < 5000; ++i) {
    seed = seed * 1664525U + 1013904223U;
    bytes += static_cast<char>(seed >> 24);
  }
  std::vector<std::string_view> texts;
  for (size_t length = 0; length <= 260; ++length) {
    texts.push_back(std::string_view(bytes).substr(length, length));
    texts.push_back(std::string_view(bytes).substr(260 - length, (length * 37) % 4000));
  }
  for (size_t count : {0, 1, 2, 3, 7, 522}) {
    const std::vector<std::string_view> some(texts.begin(),
                                             texts.begin() + static_cast<long>(count));
    const std::vector<std::string> hashes = Sha256HexOfAll(some);
    ASSERT_EQ(hashes.size(), count);
    for (size_t i = 0; i < count; ++i) EXPECT_EQ(hashes[i], Sha256Hex(some[i])) << "text " << i;
  }
}

TEST(Hash, Sha256LanesTakeOneTextToo) {
  if (!HasSha256Lanes()) GTEST_SKIP() << "the processor has no instructions for SHA-256";
  const std::vector<Sha256Digest> digests = Sha256Lanes({"abc"});
  ASSERT_EQ(digests.size(), 1U);
  EXPECT_EQ(digests[0][0], 0xba);
  EXPECT_EQ(digests[0][31], 0xad);
  EXPECT_TRUE(Sha256Lanes({}).empty());
}

// The value for no bytes is in xxHash's own documentation; stored journals depend on it.
TEST(Hash, Xxh3IsTheOneOfTheLibrary) {
  EXPECT_EQ(Xxh3(""), 0x2D06800538D394C2ULL);
  EXPECT_NE(Xxh3("a"), Xxh3("b"));
  EXPECT_NE(Xxh3(std::string(1, '\0')), Xxh3(""));
}

TEST(Hash, Hex64HasSixteenDigits) {
  EXPECT_EQ(Hex64(0), "0000000000000000");
  EXPECT_EQ(Hex64(0xDEADBEEF01ULL), "000000deadbeef01");
  EXPECT_EQ(Hex64(~uint64_t{0}), "ffffffffffffffff");
}

}  // namespace
}  // namespace kerf
