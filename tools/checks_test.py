#!/usr/bin/env python3
"""The checks must refuse what is wrong: each is shown a small house with one fault."""

import dataclasses
import io
import json
import os
import sys
import tempfile
import unittest
from contextlib import redirect_stdout
from pathlib import Path
from unittest.mock import patch

import check_layers
import check_links
import check_locks
import check_messages
import check_names
import compile_fail
import doc_examples
import follow_page
import source_text
import test_all

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "mutants"))
import catalogue  # noqa: E402
import run  # noqa: E402

LAYERS = (HERE / "layers.txt").read_text(encoding="utf-8")
RULES = (HERE / "rules.txt").read_text(encoding="utf-8")


class House(unittest.TestCase):
    """A folder that is filled with `put` and thrown away afterwards."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.root = Path(holder.name)

    def put(self, path, text):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return target


class Strip(unittest.TestCase):
    def test_comments_and_literals_go_lines_stay(self):
        text = 'a; // errno\n/* errno\n */ b("errno"); c(\'"\'); d(R"x(errno\n)x");\n'
        code = source_text.strip(text)
        self.assertNotIn("errno", code)
        self.assertEqual(code.count("\n"), text.count("\n"))
        self.assertIn("d(", code)

    def test_include_keeps_its_name(self):
        self.assertIn('"base/x.h"', source_text.strip('#include "base/x.h"  // why\n'))

    def test_digit_separators_are_no_quotes(self):
        self.assertIn("errno", source_text.strip("int a = 1'000; errno; int b = 2'000;\n"))


class PlannedHouse(House):
    """Held to the real layers.txt and rules.txt."""

    def offences(self):
        return check_layers.check(self.root, LAYERS, RULES)[0]

    def assert_refused(self, path, text, words):
        self.put(path, text)
        found = self.offences()
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])
        self.assertTrue(found[0].startswith(path + ":"), found[0])


class Layers(PlannedHouse):
    def test_a_good_house_passes(self):
        self.put("src/base/list.h", "#pragma once\n#include <cstdint>\n")
        self.put("src/gmp/p.h", '#include "base/list.h"\n#include "queue/ring.h"\n')
        self.put("src/sync/wg.cc", '#include <vole/sync.h>\n#include "sched/park.h"\n')
        self.put("src/base/list_test.cc", '#include "sched/work/loop.h"\n#include <atomic>\n')
        self.put("include/vole/sync.h", "#include <vole/detail/x.h>\n")
        self.assertEqual(self.offences(), [])

    def test_an_include_upwards(self):
        self.assert_refused(
            "src/base/list.h", '#include "gmp/g.h"\n', "base may not include gmp")

    def test_an_include_beside_the_door(self):
        self.assert_refused(
            "src/sync/wg.cc", '#include "sched/work/loop.h"\n', "only park.h, wait/deadline.h, wait/interrupt.h, wait/place.h, wake_policy/contention.h of sched")

    def test_an_include_of_a_ports_private_header(self):
        self.assert_refused(
            "src/sched/work/idle.cc", '#include "os/linux/futex.h"\n', "only os.h of os")

    def test_nothing_follows_by_chaining(self):
        self.assert_refused(
            "src/queue/q.h", '#include "stack/depot.h"\n', "queue may not include stack")

    def test_the_front_door_shows_no_room(self):
        self.assert_refused(
            "include/vole/go.h", '#include "sched/run/boot.h"\n', "vole may not include sched")

    def test_what_is_used_without_being_included(self):
        self.put("src/sched/strict.h", "namespace vole::rt::strict {\nvoid f();\n}\nextern state sched;\n")
        for code in ("void g() { rt::strict::f(); }", "int n = sched.idle;"):
            self.assert_refused("src/sync/wg.cc", f'#include "sched/park.h"\n{code}\n', "which is declared in")
        self.put("src/sync/wg.cc", "namespace strict { int x; }\nvoid g() { strict::x = 1; }\n")
        self.assertEqual(self.offences(), [])

    def test_an_include_without_a_room(self):
        self.assert_refused("src/base/a.h", '#include "list.h"\n', "does not begin with a room")

    def test_a_room_that_is_not_on_the_plan(self):
        self.assert_refused("src/attic/a.h", "", "attic is not on the plan")

    def test_a_file_in_no_room(self):
        self.assert_refused("src/a.h", "", "in no room")

    def test_the_plan_has_no_circle(self):
        with self.assertRaisesRegex(check_layers.PlanError, "circle"):
            check_layers.parse_layers("a < b\nb < c\nc < a\n")

    def test_an_unreadable_plan(self):
        for text in ("a b\n", "a < b < c\n", "a! < b\n", "a < b\na < b\n"):
            with self.assertRaises(check_layers.PlanError):
                check_layers.parse_layers(text)


class Rules(PlannedHouse):
    def test_each_rule(self):
        for path, line, words in (
            ("src/sched/a.cc", "std::atomic<int> x;", "base/atomic.h"),
            ("src/sched/a.cc", "#include <atomic>", "base/atomic.h"),
            ("include/vole/a.h", "std::atomic_flag x;", "base/atomic.h"),
            ("src/sched/a.cc", "int e = errno;", "errno"),
            ("src/base/a.cc", "pthread_self();", "threads"),
            ("src/net/a.cc", "std::thread(&f).detach();", "threads"),
            ("include/vole/a.h", "return std::chrono::steady_clock::now();", "os::now_ns"),
            ("src/net/a.cc", "clock_gettime(CLOCK_MONOTONIC, &t);", "os::now_ns"),
            ("src/net/a.cc", "std::random_device d;", "random_seed"),
            ("src/net/a.cc", "std::mt19937 r(std::random_device{}());", "random_seed"),
            ("src/poll/a.cc", "epoll_ctl(set, 1, fd, &e);", "only this system has"),
            ("src/net/a.cc", "int s = ::accept4(fd, a, n, 0);", "only this system has"),
            ("src/net/a.cc", "#include <sys/epoll.h>", "only this system has"),
            ("src/net/a.cc", "syscall(SYS_gettid);", "only this system has"),
            ("src/api/a.cc", 'open("/proc/self/exe");', "files of its own"),
            ("src/base/a.cc", "#ifdef __linux__", "which system"),
            ("src/base/a.cc", "#if defined(__linux__)", "which system"),
            ("src/sched/a.cc", 'asm volatile("");', "inline assembly"),
            ("src/sched/a.cc", '__asm__("nop");', "inline assembly"),
            ("src/sched/a.cc", "g->status.store(1, relaxed);", "by set_status only"),
            ("src/sched/a.cc", "g.status_.exchange(x);", "by set_status only"),
            ("src/sched/a.cc", "p->status.store(p_status::idle, relaxed);", "by set_status only"),
            ("src/sched/a.cc", "m.idle.store(true, seq_cst);", "by set_status only"),
            ("src/sched/a.cc", "sched.parking.spinning.fetch_add(1, seq_cst);", "parking protocol"),
            ("src/sched/a.cc", "m->spinning = false;", "parking protocol"),
            ("src/sched/a.cc", "if (--sched.stop_wait == 0) f();", "parking protocol"),
            ("src/sched/a.cc", "sched.stopping.store(true, seq_cst);", "parking protocol"),
            ("src/sched/a.cc", "sched.idle_ps.push(p);", "parking protocol"),
            ("src/sched/a_sig.cc", "int* p = new int;", "signal context"),
            ("src/sched/a_sig.cc", "std::printf(x);", "signal context"),
            ("src/sched/a_sig.cc", "throw x;", "signal context"),
            ("src/sched/a_sig.cc", "void* p = malloc(1);", "signal context"),
        ):
            with self.subTest(path=path, line=line):
                self.assert_refused(path, f"\n{line}\n", words)
                self.assertIn(f"{path}:2:", self.offences()[0])
                (self.root / path).unlink()

    def test_the_permitted_rooms(self):
        self.put("src/base/atomic.h", "#include <atomic>\nstd::atomic<int> x;\n")
        self.put("src/os/linux/futex.cc", "int e = errno; pthread_self();\n#ifdef __linux__\n#endif\n")
        self.put("src/arch/amd64/switch.cc", 'void f() { asm volatile(""); }\n')
        self.put("src/gmp/status.h", "void f(G* g) { g->status.store(1); }\n")
        self.put("src/sched/work/parking.h", "void f() { s.spinning.fetch_add(1, seq_cst); }\n")
        self.put("src/sched/b.cc", "bool spinning = m.spinning; int n = p.status.load(relaxed);\n")
        self.put("src/os/linux/a.cc", 'long e = epoll_create1(0); f("/proc/self"); std::thread t; getrandom(x);\n')
        self.put("include/vole/b.h", "template <class C> auto f() { return C::now(); } // steady_clock::now() /proc/\n")
        self.put("src/hooks/b.cc", "#include <sys/epoll.h>\nint epoll_wait(int s);\n")
        self.put("src/sched/a.cc", "// new, errno, std::atomic\nint news = 0; thrown(\"throw\");\n")
        self.assertEqual(self.offences(), [])

    def test_sizes(self):
        self.put("src/base/middling.h", "\n" * 301)
        self.put("src/base/ok.h", "\n" * 300)
        offences, warnings = check_layers.check(self.root, LAYERS, RULES)
        self.assertEqual(offences, [])
        self.assertEqual(len(warnings), 1)
        self.assert_refused("src/base/hall.h", "\n" * 501, "more than 500")

    def test_an_unreadable_rule(self):
        for text in ("rule x\n  forbid y\n", "rule x\n  in y\n", "forbid x\n", "size 3\n"):
            with self.assertRaises(check_layers.PlanError):
                check_layers.parse_rules(text)


class Locks(House):
    HEADER = "enum class lock_rank : unsigned char {\n  a = 10,  // first\n  b = 20,\n};\n"
    USES = "lock<lock_rank::a> x;\nlock<base::lock_rank::b> y;\n"

    def problems(self, listed, header=HEADER, uses=USES):
        self.put("tools/locks.txt", listed)
        self.put("src/base/lock_rank.h", header)
        self.put("src/sched/use.cc", uses)
        return check_locks.check(self.root)

    def assert_refused(self, words, *args, **kwargs):
        found = self.problems(*args, **kwargs)
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])

    def test_equal_lists_pass(self):
        self.assertEqual(self.problems("# all\n10 a  the first\n20 b  the second\n"), [])

    def test_differences(self):
        self.assert_refused("b (20) is missing", "10 a  the first\n")
        self.assert_refused("c (30) is missing", "10 a  x\n20 b  x\n30 c  x\n")
        self.assert_refused("b is 21", "10 a  x\n21 b  x\n")
        self.assert_refused("what does b guard", "10 a  x\n20 b\n")
        self.assert_refused("out of order", "20 b  x\n10 a  x\n")
        self.assert_refused("cannot read", "10 a  x\n20 b  x\nhello\n")

    def test_a_rank_nobody_takes(self):
        both, one = "10 a  x\n20 b  x\n", "lock<lock_rank::a> x;\n"
        self.assert_refused("nobody takes a lock of rank b", both, uses=one + "// lock_rank::b\n")
        self.assertEqual(self.problems(both + "reserved b: for channels\n", uses=one), [])
        self.assert_refused("without a reason", both + "reserved b:\n", uses=one)
        self.assert_refused("no longer reserved", both + "reserved b: for channels\n")

    def test_a_header_without_ranks(self):
        self.assertIn("no enum class", self.problems("10 a  x\n", header="")[0])


class Mutants(House):
    MUTANT = {
        "name": "no_rule", "mechanisms": [1], "file": "src/base/a.h", "old": "rule();", "new": "",
        "test": "base_a_test: A.HasARule", "sample": True,
    }

    def setUp(self):
        super().setUp()
        last = patch.object(catalogue, "LAST_MECHANISM", 1)
        last.start()
        self.addCleanup(last.stop)
        self.put("docs/go-map.md", "| id | what |\n|---|---|\n| [1] | M:N |\n")
        self.put("src/base/a.h", "void f() { rule(); }\n")
        self.put("src/base/a_test.cc", "TEST(A, HasARule) {}\n")

    def problems(self, *mutants):
        rows = ""
        for mutant in mutants:
            rows += "[[mutant]]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in mutant.items())
        self.put("tools/mutants/a.toml", rows)
        return catalogue.check(self.root)[0]

    def assert_refused(self, words, *mutants):
        found = self.problems(*mutants)
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])

    def test_a_list_that_fits(self):
        self.assertEqual(self.problems(self.MUTANT), [])
        self.assertEqual(self.problems(self.MUTANT | {"test": "release_base_a_test: A.HasARule"}), [])
        self.assertEqual(self.problems(self.MUTANT | {"test": "base_a_test: A.HasARule/1Proc"}), [])

    def test_the_code_has_moved_on(self):
        self.put("src/base/a.h", "void f() { law(); }\n")
        self.assert_refused("0 times in src/base/a.h", self.MUTANT)
        self.put("src/base/a.h", "void f() { rule(); rule(); }\n")
        self.assert_refused("2 times in src/base/a.h", self.MUTANT)

    def test_what_is_not_there(self):
        for change, words in (
            ({"file": "src/base/b.h"}, "0 times in src/base/b.h"),
            ({"test": "base_b_test: A.HasARule"}, "no test program base_b_test"),
            ({"test": "base_a_test: A.HasALaw"}, "no test A.HasALaw"),
            ({"units": ["src/base/b.cc"]}, "no src/base/b.cc"),
            ({"child": "b_child"}, "no child program b_child"),
        ):
            with self.subTest(words=words):
                self.assert_refused(words, self.MUTANT | change)

    def test_a_mechanism_without_a_mutant_or_a_row(self):
        self.assert_refused("no mutant for [1]")
        self.assert_refused("no row for [2]", self.MUTANT | {"mechanisms": [1, 2]})

    def test_an_unreadable_list(self):
        self.assert_refused("changes nothing", self.MUTANT | {"new": "rule();"})
        self.assert_refused("two mutants are called", self.MUTANT, self.MUTANT)
        self.assert_refused("no_rule", self.MUTANT | {"tset": "x"})
        self.assert_refused("no_rule", self.MUTANT | {"test": "base_a_test"})

    def test_a_kind_of_build_without_a_sample(self):
        self.assert_refused("no mutant of the kind test", self.MUTANT | {"sample": False})
        self.put("src/base/a.cc", "void f() { rule(); }\n")
        unit = self.MUTANT | {"name": "other", "file": "src/base/a.cc", "sample": False}
        self.assert_refused("no mutant of the kind unit", self.MUTANT, unit)

    def test_a_control_changes_nothing(self):
        self.put("src/base/a.cc", "void f() { rule(); }\n")
        unit = self.MUTANT | {"name": "other", "file": "src/base/a.cc"}
        self.assertEqual(self.problems(self.MUTANT, unit), [])
        mutants = catalogue.load(self.root)
        found = catalogue.controls(mutants, mutants)
        self.assertEqual({m.name for m in found}, {"control_test", "control_unit"})
        for control in found:
            self.assertEqual(control.apply(self.root), (self.root / control.file).read_text())
            self.assertEqual(run.verdict(control, "passed"), (True, "passed"))
            self.assertEqual(run.verdict(control, "failed"), (False, "failed"))
        self.assertEqual(catalogue.controls(mutants, mutants[:1])[0].kind, mutants[0].kind)

    def test_what_counts_as_caught(self):
        self.problems(self.MUTANT)
        mutant = catalogue.load(self.root)[0]
        for how, good in (("failed", True), ("died", True), ("passed", False), ("hung", False),
                          ("no test", False)):
            self.assertEqual(run.verdict(mutant, how)[0], good, how)
        hangs = dataclasses.replace(mutant, hangs=True)
        self.assertTrue(run.verdict(hangs, "hung")[0])

    def test_the_map_names_a_test_that_is_gone(self):
        self.put("docs/go-map.md", "| [1] | M:N, `base/b_test.cc` |\n")
        self.assert_refused("no base/b_test.cc", self.MUTANT)


class Documents(unittest.TestCase):
    def test_blocks_are_found(self):
        text = "x\n```cpp\nint a;\n```\n```sh\n```\n- y\n  ```cpp no-run\n  int main() {}\n  ```\n"
        found = doc_examples.blocks("d.md", text)
        self.assertEqual([(b.line, b.text, b.options) for b in found],
                         [(2, "int a;\n", []), (8, "int main() {}\n", ["no-run"])])
        self.assertEqual([b.is_program for b in found], [False, True])

    def test_a_wrong_fragment_is_found_among_right_ones(self):
        # A compiler that refuses the word `wrong`, and says where the last #line put it.
        compiler = [sys.executable, "-c", """if True:
            import re, sys
            file, at, failed = None, 0, 0
            for line in open(sys.argv[-1]):
                at += 1
                if m := re.match(r'#line (\\d+) "(.*)"', line):
                    file, at = m[2], int(m[1]) - 1
                if "wrong" in line:
                    failed = 1
                    print(f"{file}:{at}:1: error")
            sys.exit(failed)"""]
        text = "```cpp\na;\n```\n```cpp\nwrong;\n```\n```cpp\nb;\n```\n```cpp\nint main() {}\n```\n"
        found = doc_examples.blocks("d.md", text)
        with tempfile.TemporaryDirectory() as folder:
            right = doc_examples.compile_together(found, compiler, Path(folder))
            self.assertEqual([b.text for b in right], ["a;\n", "b;\n"])
            self.assertIsNone(doc_examples.check_fragment(found[0], compiler, Path(folder)))
            self.assertIn("d.md:4", doc_examples.check_fragment(found[1], compiler, Path(folder)))


class TestAll(House):
    """Goes on where it was, and says so; with steps of our own."""

    def run_all(self, *steps):
        steps = [test_all.Step(name, command) for name, command in steps]
        with (patch.object(test_all, "STEPS", steps), patch.object(test_all, "ROOT", self.root),
              patch.object(test_all, "STATE", self.root / "state"), patch.object(sys, "argv", ["x"]),
              redirect_stdout(io.StringIO()) as out):
            try:
                test_all.main()
                return 0, out.getvalue()
            except SystemExit as end:
                return end.code, out.getvalue()

    def test_passed_steps_stay_and_failed_ones_run_again(self):
        once = ("once", "echo x >> ran && echo done")
        status, text = self.run_all(once, ("other", "echo seed $VOLE_SEED; exit 3"))
        self.assertEqual(status, 1)
        self.assertRegex(text, r"other +FAILED \(3\) +0:00 +(\d+) +seed \1\n")
        status, text = self.run_all(once, ("other", "true"))
        self.assertEqual(status, 0)
        self.assertIn("once: passed before", text)
        self.assertEqual((self.root / "ran").read_text(), "x\n")

    def test_what_ctest_said(self):
        self.assertEqual(test_all.summary("a\n98% tests passed, 2 tests failed out of 100\nb\n"),
                         "98 of 100 tests")


class Links(House):
    def problems(self, text):
        path = self.put("README.md", text)
        return [*check_links.problems_of(path, self.root),
                *check_links.results_problems(path, self.root)]

    def test_good_links_pass(self):
        self.put("docs/a.md", "# A page: `x`, and y\n")
        self.put("bench/results/2026-01-02-0123456789+.json", "{}")
        self.assertEqual(self.problems("# Here\n[a](docs/a.md#a-page-x-and-y) [b](#here) "
                                       "[c](https://example.org/x) 2026-01-02-0123456789*.json\n"
                                       "```\n[d](not/a/link)\n```\n"), [])

    def test_what_is_not_there(self):
        self.put("docs/a.md", "# A\n")
        for text in ("[a](docs/b.md)", "[a](docs/a.md#b)", "[a](#a)", "`2026-01-02-0123456789.json`"):
            self.assertEqual(len(self.problems(text + "\n")), 1, text)


class Messages(House):
    def test_a_fatal_sentence_says_what_to_do(self):
        self.put("src/a/b.cc", 'fatal("deadlock!");\nfatal("a: it broke. Mend \"it\"; then go on");\n'
                 'fatal(sentence() << "a: " << n\n << " are lost. Have more");\nbroken("a: b");\nfatal(s);\n')
        self.assertEqual(check_messages.check(self.root), [])
        self.put("src/a/c.cc", '\nfatal("a: it broke");\nfatal(\n    "a: " \n    "b");\n')
        self.assertEqual(check_messages.check(self.root),
                         ["src/a/c.cc:2: `a: it broke` does not say what to do",
                          "src/a/c.cc:3: `a: b` does not say what to do"])


class Names(House):
    def problems(self, document="", comment="", allowed=""):
        self.put("tools/names.txt", "# theirs\n" + allowed + "\n")
        self.put("README.md", document + "\n")
        self.put("src/a/b.h", f"// A card. {comment}\n\nvoid do_this();  // elsewhere\n")
        self.put("src/a/b_test.cc", 'const char* text = "in_a_literal";\n')
        return check_names.check(self.root)

    def test_what_exists(self):
        self.assertEqual(self.problems(
            "`do_this()` and `in_a_literal`, `do_*`-like: `do_`, `_this`; `src/a/b.h`, `a/b.h`, `b.h`, "
            "`src/*/b.h`, `_test.cc`, `src/a`; `-DVOLE_x=1`\n```\nno_such_name\n```\nno_backticks",
            "do_this, a/b.h, plain words, and/or, 0x1234abcd"), ["README.md:1: there is no VOLE_x"])

    def test_what_does_not(self):
        for document in ("`do_that`", "`nope()`", "`b.cc`", "`c/b.h`", "`src/b.h`", "`elsewhere`",
                         "`_that`", "`that_`", "`src/*/c.h`", "`_model.cc`"):
            self.assertEqual(len(self.problems(document)), 1, document)
        for comment in ("do_that", "nope()", "b.cc", "a::nope", "src/b.h"):
            self.assertEqual(len(self.problems(comment=comment)), 1, comment)
        self.assertIn("README.md:1: there is no do_that", self.problems("`do_that`"))
        self.assertIn("src/a/b.h:1: there is no do_that", self.problems(comment="do_that"))

    def test_names_of_others_are_allowed_while_somebody_says_them(self):
        self.assertEqual(self.problems("`their_name` `X_A` `app.cc`", "", "their_name X_* app.cc"), [])
        self.assertEqual(self.problems("", "", "their_name"),
                         ["tools/names.txt: nobody names their_name"])

    def test_where_a_name_is(self):
        self.put("src/a/other.h", "int elsewhere;\n")
        self.assertEqual(self.problems("`do_this()` in `b.h`, `do_this` (`a/other.h`, `b.h`) in `no_file`",
                                       allowed="no_file"), [])
        self.assertEqual(self.problems("`do_this` in `other.h`, `elsewhere` (`src/a/b_test.cc`)"),
                         ["README.md:1: do_this is not in other.h",
                          "README.md:1: elsewhere is not in src/a/b_test.cc"])

    def test_the_columns_of_another_library(self):
        self.put("tools/names.txt", "")
        self.put("docs/go-map.md", "| [1] | what | `theirs` | `ours` |\n| `theirs` | `ours` |\n")
        self.put("docs/from-go.md", "| `theirs` | `ours` |\n")
        self.assertEqual([line.split(":", 1)[1] for line in check_names.check(self.root)],
                         ["1: there is no ours", "1: there is no ours", "2: there is no ours"])


class FollowPage(House):
    def follow(self, page):
        follow_page.follow(page, self.root, dict(os.environ))

    def test_files_commands_and_jobs(self):
        self.follow("```sh\necho one > a\n```\n```cpp no-run b.cc\ntext\n```\n"
                    "```sh\n(cat b.cc a; read x < never) 2>&1 &\nwait %1 || echo over\n```\n"
                    "```\nover\n```\n")

    def test_a_command_that_fails_and_a_promise_that_is_broken(self):
        for page in ("```sh\nfalse\n```\n", "```sh\necho a\n```\n```\nb\n```\n",
                     "```sh\nexit 0\n```\n"):
            with self.assertRaises(SystemExit):
                self.follow(page)


class CompileFail(House):
    # A compiler that takes anything but the word `wrong`.
    COMPILER = [sys.executable, "-c",
                "import sys; t = open(sys.argv[-1]).read();"
                "sys.exit('error: wrong thing' if 'wrong' in t else 0)"]

    def problem(self, text):
        return compile_fail.check_refused(self.COMPILER, self.put("a.cc", text))

    def test_the_four_outcomes(self):
        self.assertIsNone(self.problem("// expect: wrong th\nwrong\n"))
        self.assertIn("compiles, but", self.problem("// expect: thing\nright\n"))
        self.assertIn("but not with", self.problem("// expect: other\nwrong\n"))
        self.assertIn("first line", self.problem("wrong\n"))

    def test_a_long_story_is_no_reason(self):
        lines = ["error: wrong thing", *["note"] * compile_fail.MOST]
        talks = [sys.executable, "-c", f"import sys; sys.exit({chr(10).join(lines)!r})"]
        path = self.put("a.cc", "// expect: wrong\n")
        self.assertIn("lines, more than", compile_fail.check_refused(talks, path))
        late = [sys.executable, "-c",
                f"import sys; sys.exit({chr(10).join(reversed(lines))!r})"]
        self.assertIn("but not with", compile_fail.check_refused(late, path))


if __name__ == "__main__":
    unittest.main()
