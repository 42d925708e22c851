#include "loop/verify/cuda_lexer.h"

#include <gtest/gtest.h>

#include <string>

namespace kerf::verify {
namespace {

std::string Joined(std::string_view source) {
  std::string out;
  for (const Token& t : LexCuda(source)) {
    if (!out.empty()) out += ' ';
    out += t.kind == TokenKind::kEndOfDefine ? "EOD" : std::string(t.text);
  }
  return out;
}

TEST(CudaLexer, KeepsAngleBracketsSingle) {
  EXPECT_EQ(Joined("k<A<int>><<<g,b>>>(x);"), "k < A < int > > < < < g , b > > > ( x ) ;");
  EXPECT_EQ(Joined("a <<= b >>= c <= d >= e"), "a <<= b >>= c <= d >= e");
}

TEST(CudaLexer, SkipsComments) {
  EXPECT_EQ(Joined("a // k<<<1,1>>>()\nb /* k<<<\n */ c"), "a b c");
  EXPECT_EQ(Joined("a // goes on \\\nhere\nb"), "a b");
}

TEST(CudaLexer, TakesStringsWhole) {
  EXPECT_EQ(Joined(R"x(f("<<<\"", 'a', '\'', L"w", R"(raw ")" "))x"),
            R"x(f ( "<<<\"" , 'a' , '\'' , L"w" , R"(raw ")" "))x");
  EXPECT_EQ(Joined("R\"tag( )\" <<< )tag\" x"), "R\"tag( )\" <<< )tag\" x");
  EXPECT_EQ(LexCuda("\"never closed\nb").back().line, 2);
}

TEST(CudaLexer, ReadsNumbers) {
  EXPECT_EQ(Joined("1.5e-3f+0x1p+4 1'000 .5"), "1.5e-3f + 0x1p+4 1'000 .5");
}

TEST(CudaLexer, LeavesDirectivesOutButKeepsBodiesOfDefines) {
  EXPECT_EQ(Joined("#include <a<<<b>\n#pragma unroll\nx"), "x");
  EXPECT_EQ(Joined("#define L(k) k<<<1, \\\n 2>>>()\ny"),
            "#define L ( k ) k < < < 1 , 2 > > > ( ) EOD y");
  EXPECT_EQ(Joined("#if A\na\n#else\nb\n#endif"), "#if a #else b #endif");
}

TEST(CudaLexer, CountsLines) {
  const auto tokens = LexCuda("a\n\n/* x\n */ b\n#define D \\\n c\nd");
  EXPECT_EQ(tokens[1].line, 4);
  EXPECT_EQ(tokens.back().line, 7);
}

TEST(CudaLexer, SurvivesBrokenSources) {
  for (const char* source : {"\"", "'", "R\"(", "/*", "#", "#define", "\\", "#if \\", "R\"", "a\\"})
    LexCuda(source);
}

}  // namespace
}  // namespace kerf::verify
