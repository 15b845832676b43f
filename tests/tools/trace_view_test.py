"""`vole trace view`: the page is written or served, and what is no trace is refused."""

import http.client
import os
import re
import subprocess
import tempfile
import unittest
import urllib.parse

VOLE = os.environ["VOLE_COMMAND"]
PAGE = os.path.join(os.environ["VOLE_BUILD_DIR"], "share/vole/viewer.html")
TRACE = b"VOLETRC\n\x01\x00" + bytes(22)


def vole(*arguments):
    return subprocess.run([VOLE, "trace", *arguments], capture_output=True, text=True)


def get(address, path):
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


class TraceView(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.trace = self.file("a<b.trace", TRACE)

    def file(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as out:
            out.write(content)
        return path

    def assert_refused(self, arguments, words):
        done = vole(*arguments)
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(words, done.stderr)

    def test_what_is_no_trace_is_refused(self):
        self.assert_refused(["view", "/nowhere"], "No such file")
        self.assert_refused(["view", self.folder], "is not a file")
        self.assert_refused(["view", self.file("text", b"hello")], "is not a vole trace")
        self.assert_refused(["view", self.file("empty", b"")], "is not a vole trace")
        self.assert_refused(["view", self.file("ring", b"VOLERNG\n" + bytes(24))], "recover")
        self.assert_refused(["view"], "FILE is required")

    @unittest.skipUnless(os.path.exists(PAGE), "the viewer was not built")
    def test_page_is_written_with_the_trace_in_it(self):
        out = os.path.join(self.folder, "page.html")
        done = vole("view", self.trace, "-o", out)
        self.assertEqual(done.returncode, 0, done)
        with open(out, encoding="utf-8") as page:
            text = page.read()
        self.assertIn('id="trace" data-name="a&#60;b.trace"', text)
        self.assertNotRegex(text, r'(?:src|href)="(?:https?:)?//')
        self.assert_refused(["view", self.trace, "-o", "/nowhere/page.html"], "cannot be written")

    @unittest.skipUnless(os.path.exists(PAGE), "the viewer was not built")
    def test_page_and_trace_are_served_under_a_secret_path_only(self):
        with subprocess.Popen([VOLE, "trace", "view", "--no-open", self.trace],
                              stdout=subprocess.PIPE, text=True) as server:
            try:
                line = server.stdout.readline().strip()
                self.assertRegex(line, r"^http://127\.0\.0\.1:\d+/[0-9a-f]{32}/$")
                address = urllib.parse.urlparse(line)
                status, page = get(address, address.path)
                self.assertEqual(status, 200)
                self.assertRegex(page.decode(), re.escape('data-at="trace"'))
                self.assertEqual(get(address, address.path + "trace"), (200, TRACE))
                for path in ("/", "/trace", address.path + "../../etc/passwd", address.path[:-2]):
                    self.assertEqual(get(address, path)[0], 404, path)
            finally:
                server.terminate()


if __name__ == "__main__":
    unittest.main()
