"""Proves that each check finds what it is for, on miniature trees. tools/check runs this."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

import doc_links
import include_layers
import instructions
import sizes
import test_summary
import tidy


class TreeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, path, text=""):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file


class Instructions(TreeTest):
    def setUp(self):
        super().setUp()
        self.write("pto/kerf_pto/abi.h", "#define KERF_PTO_OPS(X) \\\n  X(TADD, kVector) X(dsb, kScalar)\n\n")
        self.write("pto/kerf_pto/vector.h", "KERF_PTO_BINARY(TADD)\ntemplate <typename T>\nRecordEvent TPOP(T& t) {\n")
        self.write("pto/kerf_pto/missing.h", "KERF_PTO_MISSING(TRANDOM)\n")
        self.write("examples/kernels/queue.cpp", "TPOP<Pipe>(pipe, tile);")
        self.write("test/e2e/sim_test.cc", 'Check("queue");')

    def test_lists_what_headers_define(self):
        self.assertEqual(instructions.instructions(self.root), {"TADD", "TPOP", "dsb"})

    def test_finds_an_instruction_without_a_test(self):
        self.write("src/sim/machine/add_test.cc", "CHECK(float, TADD, x + y)  // and dsb(x)")
        self.assertEqual(instructions.called(self.root) & {"TADD", "TPOP", "dsb"}, {"TADD", "TPOP"})
        self.assertEqual(instructions.main([self.root]), 1)

    def test_is_content_when_each_has_one(self):
        self.write("src/sim/machine/add_test.cc", "TADD(d, a, b); dsb(x);")
        self.assertEqual(instructions.main([self.root]), 0)

    def test_counts_only_kernels_that_are_run(self):
        self.write("test/e2e/sim_test.cc", "")
        self.assertNotIn("TPOP", instructions.called(self.root))


class IncludeLayers(TreeTest):
    def setUp(self):
        super().setUp()
        for path in ("base/result.h", "artifact/task.h", "trace/recorder.h", "llm/provider.h", "loop/task/load.h",
                     "loop/verify/verifier.h", "loop/conductor.h", "replay/sim/core.h", "batch/pool.h", "cli/verb.h",
                     "cli/render/table.h", "server/http.h"):
            self.write("src/" + path)
        self.write("include/kerf/kernel.h")

    def problems(self, path, *includes):
        self.write("src/" + path, "".join(f"#include {target}\n" for target in includes))
        return include_layers.check(self.root)

    def assert_refused(self, text, path, *includes):
        problems = self.problems(path, *includes)
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(text, problems[0])

    def test_accepts_lower_levels_own_folder_and_public_headers(self):
        good = {
            "base/clock.cc": ['"base/result.h"', "<vector>", '"kerf/kernel.h"'],
            "trace/recorder.cc": ['"trace/recorder.h"', '"artifact/task.h"', '"base/result.h"'],
            "loop/task/load.cc": ['"loop/task/load.h"', '"trace/recorder.h"'],
            "loop/conductor.cc": ['"loop/conductor.h"', '"loop/task/load.h"', '"loop/verify/verifier.h"'],
            "cli/run_verb.cc": ['"cli/render/table.h"', '"loop/conductor.h"', '"batch/pool.h"'],
            "cli/render/table.cc": ['"cli/verb.h"'],
            "main.cc": ['"cli/verb.h"', '"server/http.h"'],
        }
        for path, includes in good.items():
            self.assertEqual(self.problems(path, *includes), [])

    def test_refuses_a_higher_level(self):
        self.assert_refused("src/base/clock.cc:1: base is below trace", "base/clock.cc", '"trace/recorder.h"')

    def test_refuses_a_higher_level_in_tests_and_fakes(self):
        self.assert_refused("trace is below cli", "trace/recorder_test.cc", '"cli/verb.h"')
        (self.root / "src/trace/recorder_test.cc").unlink()
        self.assert_refused("llm is below loop/task", "llm/fake_provider.h", '"loop/task/load.h"')

    def test_refuses_a_neighbour(self):
        self.assert_refused("trace and llm are of one level", "trace/a.cc", '"llm/provider.h"')

    def test_refuses_a_neighbour_within_loop_and_across_replay(self):
        self.assert_refused("loop/task and loop/verify", "loop/task/a.cc", '"loop/verify/verifier.h"')
        (self.root / "src/loop/task/a.cc").unlink()
        self.assert_refused("loop/task and replay/sim", "loop/task/a.cc", '"replay/sim/core.h"')

    def test_refuses_a_step_that_includes_the_conductor(self):
        self.assert_refused("loop/task is below loop", "loop/task/a.cc", '"loop/conductor.h"')

    def test_refuses_two_coordinators_of_one_level(self):
        self.assert_refused("loop and batch are of one level", "loop/conductor.cc", '"batch/pool.h"')

    def test_refuses_a_stray_file_in_loop(self):
        self.assert_refused("only conductor.* stands directly in loop/", "loop/score.h")

    def test_says_where_to_add_an_unknown_folder(self):
        self.assert_refused("LEVELS of tools/checks/include_layers.py", "widgets/a.h")

    def test_refuses_includes_that_are_not_relative_to_src(self):
        self.assert_refused("relative to src/", "base/a.cc", '"result.h"')

    def test_refuses_own_headers_in_angle_brackets(self):
        self.assert_refused('write "cli/verb.h"', "base/a.cc", "<cli/verb.h>")

    def test_reads_real_includes_only(self):
        self.write("src/base/a.cc", '/*\n#include "cli/verb.h"\n*/\n// #include "cli/verb.h"\n'
                   'auto s = R"x(\n#include "cli/verb.h"\n)x";\n  #  include "cli/verb.h"\n')
        problems = include_layers.check(self.root)
        self.assertEqual(len(problems), 1, problems)
        self.assertTrue(problems[0].startswith("src/base/a.cc:8:"), problems)


class Sizes(TreeTest):
    def functions(self, text):
        return [(line, length, name) for line, length, name in sizes.functions(text)]

    def test_marks_what_is_past_the_limits_and_only_that(self):
        self.write("src/base/long.cc", "// x\n" * 601)
        self.write("src/base/fits.cc", "// x\n" * 600)
        self.write("src/base/long.h", "// x\n" * 251)
        self.write("src/base/fits.h", "// x\n" * 250)
        self.write("test/data/table.h", "// x\n" * 999)
        files, _ = sizes.measure(self.root)
        self.assertEqual({path: past for _, past, path in files}, {
            "src/base/long.cc": True, "src/base/fits.cc": False, "src/base/long.h": True, "src/base/fits.h": False})

    def test_marks_long_functions(self):
        self.write("src/base/a.cc", "int F() {\n" + "  g();\n" * 59 + "}\n" + "int G() {\n" + "  g();\n" * 58 + "}\n")
        _, bodies = sizes.measure(self.root)
        self.assertEqual(bodies, [(61, True, "src/base/a.cc:1 F"), (60, False, "src/base/a.cc:62 G")])

    def test_finds_functions_in_namespaces_classes_and_tests(self):
        text = ("namespace kerf::base {\nclass A {\n public:\n  int b() const { return 1; }\n};\n"
                "int A::Run(int x) {\n  if (x) {\n    return 1;\n  }\n  auto f = [] { return 2; };\n  return f();\n}\n"
                "TEST(A, Runs) {\n  EXPECT_EQ(1, 1);\n}\n}  // namespace\n")
        self.assertEqual(self.functions(text), [(4, 1, "b"), (6, 7, "A::Run"), (13, 3, "TEST(A, Runs)")])

    def test_sees_one_constructor_where_members_are_brace_initialized(self):
        text = "A::A(int x)\n    : a_{x},\n      b_(x),\n      c_{1, 2} {\n  Go();\n}\n"
        self.assertEqual(self.functions(text), [(1, 6, "A::A")])

    def test_is_not_misled_by_strings_comments_and_tables(self):
        text = ('const int kTable[] = {\n1,\n2};\nstruct P {\n  int x = 0;\n};\n#define M(x) { x\n'
                'void F() {\n  s = "{{{";  // {\n  c = \'{\';\n  n = 1\'000;\n  r = R"(\n}}\n)";\n}\n')
        self.assertEqual(self.functions(text), [(8, 8, "F")])


class DocLinks(TreeTest):
    def problems(self, text, path="README.md"):
        self.write(path, text)
        return doc_links.check(self.root)

    def test_accepts_what_exists(self):
        self.write("docs/formats/trace.md", "# The trace\n\n## File `names`, all four\n\n## Twice\n\n## Twice\n")
        self.write("src/base/result.h")
        self.write("src/base/result.cc")
        self.assertEqual(self.problems(
            "[a](docs/formats/trace.md) [b](docs/formats/trace.md#file-names-all-four) [c](#here) "
            "[d](docs/formats/trace.md#twice-1) [e](https://example.org/src/none) [f](mailto:a@example.org)\n"
            "`src/base/result.{h,cc}`, docs/formats/*.md, src/base/. `docs/decisions/NNNN-what.md` src/<folder>/x.h "
            "build/release/kerf and ~/src/other.\n## Here\n[g]: docs/formats/trace.md\n"), [])

    def test_finds_dead_links_of_each_form(self):
        for text in ("[a](docs/none.md)", "![a](none.png)", "[a]: docs/none.md", "[a](../outside.md)"):
            self.assertEqual(len(self.problems(text)), 1, text)

    def test_finds_links_relative_to_the_document(self):
        self.write("docs/a.md", "[b](b.md)")
        self.assertEqual(doc_links.check(self.root), ["docs/a.md:1: dead link: b.md"])

    def test_finds_dead_anchors(self):
        self.write("docs/a.md", "# Title\n```\n# not a heading\n```\n")
        for anchor in ("docs/a.md#titel", "docs/a.md#not-a-heading", "#none"):
            problems = self.problems(f"[x]({anchor})")
            self.assertEqual(len(problems), 1, anchor)
            self.assertIn("no heading", problems[0])

    def test_finds_dead_paths_in_prose_code_and_fences(self):
        self.write("tools/test")
        for text in ("see src/none.cc.", "`tools/none`", "```\n./tools/none --fast\n```", "docs/none/*.md",
                     "`tools/{test,none}`"):
            problems = self.problems(text)
            self.assertEqual(len(problems), 1, text)
            self.assertIn("no such path", problems[0])

    def test_leaves_other_trees_alone(self):
        self.assertEqual(len(self.problems(
            "<!-- paths: elsewhere -->\nsrc/theirs.py\n<!-- paths: here -->\nsrc/ours.cc\n")), 1)


class TestSummary(TreeTest):
    OUTPUT = ("[ RUN      ] A.Passes\nprinted[       OK ] A.Passes (0 ms)\n"
              "[ RUN      ] A.Skips\n/x/a_test.cc:3: Skipped\nno GPU:\nnone found\n\n[  SKIPPED ] A.Skips (0 ms)\n"
              "[ RUN      ] P.P/0\n[  FAILED  ] P.P/0, where GetParam() = 1 (2 ms)\n"
              "[  SKIPPED ] 1 test, listed below:\n[  SKIPPED ] A.Skips\n"
              "[  FAILED  ] 1 test, listed below:\n[  FAILED  ] P.P/0, where GetParam() = 1\n")

    def report(self, *tests):
        body = "".join(f'<testcase name="{name}" status="{status}">{inner}<system-out>{output}</system-out></testcase>'
                       for name, status, inner, output in tests)
        return self.write("report.xml", f"<testsuite>{body}</testsuite>")

    def summary(self, *tests):
        lines, _ = test_summary.summarize([("release", test_summary.cases_of(self.report(*tests)))])
        return lines

    def test_counts_cases_once_and_gives_reasons(self):
        lines = self.summary(("a", "fail", "", self.OUTPUT))
        self.assertIn("  a A.Skips (release): no GPU: none found", lines)
        self.assertIn("  a P.P/0 (release)", lines)
        self.assertEqual(lines[-1], "1 passed, 1 failed, 1 skipped")

    def test_counts_the_case_that_crashed(self):
        lines = self.summary(("a", "fail", "", "[ RUN      ] A.B\n"))
        self.assertEqual(lines[-1], "0 passed, 1 failed, 0 skipped")

    def test_counts_a_failure_after_the_last_case(self):
        lines = self.summary(("a", "fail", "", "[ RUN      ] A.B\n[       OK ] A.B (0 ms)\nLeakSanitizer: leaks\n"))
        self.assertEqual(lines[-1], "1 passed, 1 failed, 0 skipped")

    def test_counts_other_programs_as_one(self):
        lines = self.summary(("a", "run", "", "fine"), ("b", "fail", "", ""), ("c", "disabled", "", ""),
                             ("d", "notrun", '<skipped message="SKIP_RETURN_CODE=77"/>', "no triton\n"),
                             ("e", "notrun", '<skipped message="Unable to find executable"/>', ""))
        self.assertIn("  d (release): no triton", lines)
        self.assertEqual(lines[-1], "1 passed, 2 failed, 2 skipped")

    def test_a_case_of_two_presets_counts_once_and_the_worse_result_wins(self):
        case = test_summary.Case
        runs = [("release", [case("a", "A.B", "passed", ""), case("a", "A.C", "skipped", "x"), case("a", "A.D", "passed", "")]),
                ("asan", [case("a", "A.B", "failed", ""), case("a", "A.C", "passed", ""), case("a", "A.D", "passed", "")])]
        lines, failed = test_summary.summarize(runs)
        self.assertTrue(failed)
        self.assertEqual(lines[-1], "2 passed, 1 failed, 0 skipped")

    def test_a_failure_without_a_test_counts(self):
        program = pathlib.Path(test_summary.__file__)
        report = self.report()
        for args, last in (([f"release={report}"], "0 passed, 0 failed, 0 skipped"),
                           (["--ctest-failed", "release", f"release={report}"], "0 passed, 1 failed, 0 skipped"),
                           (["--failed", "build"], "0 passed, 1 failed, 0 skipped"),
                           (["release=/nonexistent"], "0 passed, 1 failed, 0 skipped")):
            done = subprocess.run([sys.executable, program, *args], capture_output=True, text=True, check=False)
            self.assertEqual(done.stdout.splitlines()[-1], last)
            self.assertEqual(done.returncode, 1 if "1 failed" in last else 0)


class Tidy(TreeTest):
    def git(self, *args):
        subprocess.run(["git", "-C", self.root, "-c", "user.name=t", "-c", "user.email=t@example.org", *args],
                       check=True, capture_output=True)

    def setUp(self):
        super().setUp()
        self.git("init", "-q", "-b", "main")
        self.write("src/base/a.cc", '#include "base/a.h"\n')
        self.write("src/base/a.h")
        self.git("add", "-A")
        self.git("commit", "-qm", "one")

    def test_changed_files_are_committed_uncommitted_and_untracked_ones(self):
        self.assertIsNone(tidy.default_base(self.root))
        self.assertEqual(tidy.changed_files(self.root, None), ["src/base/a.cc", "src/base/a.h"])
        self.write("src/base/b.cc")
        self.git("add", "-A")
        self.git("commit", "-qm", "two")
        self.write("src/base/a.h", "// edited\n")
        self.write("src/base/c.cc")
        base = tidy.default_base(self.root)
        self.assertEqual(tidy.changed_files(self.root, base), ["src/base/a.h", "src/base/b.cc", "src/base/c.cc"])

    def test_base_is_the_merge_base_unless_that_is_head(self):
        self.git("update-ref", "refs/remotes/origin/main", "HEAD")
        first = tidy.git(self.root, "rev-parse", "HEAD")
        for name in ("b", "c"):
            self.write(f"src/base/{name}.cc")
            self.git("add", "-A")
            self.git("commit", "-qm", name)
        self.assertEqual(tidy.default_base(self.root), first)
        self.git("update-ref", "refs/remotes/origin/main", "HEAD")
        self.assertEqual(tidy.default_base(self.root), tidy.git(self.root, "rev-parse", "HEAD~1"))

    def test_an_unknown_base_is_an_error(self):
        with self.assertRaises(ValueError):
            tidy.changed_files(self.root, "no-such-commit")

    def test_a_header_is_seen_through_its_source_or_a_user(self):
        self.write("src/base/only.h")
        self.write("src/cli/user.cc", '#include "base/only.h"\n')
        compiled = {"src/base/a.cc": b"", "src/cli/user.cc": b""}
        self.assertEqual(tidy.translation_units(self.root, ["src/base/a.h", "src/base/only.h", "src/x.h"], compiled),
                         (["src/base/a.cc", "src/cli/user.cc"], ["src/x.h"]))


if __name__ == "__main__":
    unittest.main()
