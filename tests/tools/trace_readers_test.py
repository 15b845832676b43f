"""Both readers, the command's and the viewer's, come to the same totals."""

import json
import os
import subprocess
import unittest

from traces import NODE, TraceTest, vole

READER = os.path.join(os.environ["VOLE_BUILD_DIR"], "viewer/reader.mjs")
STATES = ("runnable", "running", "waiting", "call", "evicted", "preempted", "unknown")

# The viewer's totals, by function and state.
SCRIPT = """
import { readTrace, kStates } from %r;
import { readFileSync } from "node:fs";
const m = readTrace(new Uint8Array(readFileSync(process.argv[1])));
const out = {};
m.functions.name.forEach((name, f) => {
  out[name] = { goroutines: m.functions.count[f],
                states: [...m.stats.state.subarray(f * kStates, (f + 1) * kStates)] };
});
console.log(JSON.stringify({ events: m.events, duration: m.duration, functions: out }));
"""


@unittest.skipUnless(NODE and os.path.exists(READER), "the viewer was not built")
class Readers(TraceTest):
    def compare(self, path):
        done = vole("summary", "--json", path)
        self.assertEqual(done.returncode, 0, done)
        ours = json.loads(done.stdout)
        theirs = json.loads(subprocess.run(
            [NODE, "--input-type=module", "--eval", SCRIPT % READER, path],
            check=True, capture_output=True, text=True).stdout)
        self.assertEqual(ours["events"], theirs["events"])
        self.assertAlmostEqual(ours["duration"], theirs["duration"], delta=1)
        self.assertEqual({f["name"] for f in ours["functions"]}, set(theirs["functions"]))
        for f in ours["functions"]:
            other = theirs["functions"][f["name"]]
            self.assertEqual(f["goroutines"], other["goroutines"], f["name"])
            for name, ns in zip(STATES, other["states"]):
                # Each adds thousands of fractions of nanoseconds.
                self.assertAlmostEqual(f["states"][name], ns, delta=1 + ns * 1e-9,
                                       msg=f"{f['name']} {name}")

    def test_small_traces(self):
        self.compare(self.sample("small"))
        self.compare(self.sample("three"))
        self.compare(self.sample("unfinished"))
        self.compare(self.made_by_node("small()"))

    def test_clocks_that_differ(self):
        self.compare(self.made_by_node("small({ skew: (t) => 2e6 + (t === 1 ? 1e6 : -1e6) })"))

    def test_many_generations_and_goroutines(self):
        self.compare(self.made_by_node("pairs({ events: 40000, generationEvents: 10000 })"))
        self.compare(self.made_by_node("many({ goroutines: 5000 })"))

    def test_traces_of_programs(self):
        child = os.path.join(os.environ["VOLE_TOOLS_DIR"], "control_child")
        for scenario in ("talk", "spin", "restart"):
            trace = self.path(scenario)
            subprocess.run([child, scenario], check=True, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL,
                           env=dict(os.environ, VOLE_TRACE=trace, VOLE_DEBUG="storm=100"))
            with self.subTest(scenario):
                self.compare(trace)

    def test_a_generation_is_missing(self):
        with open(self.sample("three"), "rb") as whole:
            content = bytearray(whole.read())
        content[len(content) // 2] ^= 1
        self.compare(self.file("damaged", content))


if __name__ == "__main__":
    unittest.main()
