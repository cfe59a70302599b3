#!/usr/bin/env python3
"""The report of a comparison in a real browser: no errors, and nothing wider than a phone. CHROMIUM names the browser."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from harness import EndToEnd

CHROMIUM = os.environ.get("CHROMIUM", "chromium")
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--enable-logging=stderr"),
]
PHONE = 390  # CSS pixels

# Reports what leaves the page at the width of a phone. Tables and diagrams may scroll in boxes of their own.
MEASURE = """<style>body { width: %dpx }</style>
<script>
addEventListener("load", () => {
  const boxed = element => element.closest(".wide") !== null;
  const wide = [...document.querySelectorAll("main *")].filter(
    element => !boxed(element) && element.getBoundingClientRect().right > %d + 1);
  document.title = "wide:" + wide.map(element => element.tagName).join(",") + ":end";
});
</script>"""


class ReportPage(EndToEnd):
    def browse(self, page):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            command = [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", "--dump-dom", page.as_uri()]
            return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)

    def setUp(self):
        super().setUp()
        tables = ["synthetic:crossing,rows=40,epochs=9", "synthetic:diverging,rows=40,epochs=9"]
        policies = "bapi,random,asha,a_policy_with_a_rather_long_name=hyperband"
        self.bapi("compare", "--quiet", "--tables", *tables, "--policies", policies, "--seeds", "2", "--out", "out")
        self.page = pathlib.Path(self.dir) / "out" / "report.html"

    def test_opens_without_errors_or_requests(self):
        result = self.browse(self.page)
        self.assertIn("</html>", result.stdout)
        self.assertNotIn("CONSOLE", result.stderr)
        self.assertNotIn("net::", result.stderr)

    def test_fits_a_phone(self):
        copy = self.page.with_name("measured.html")
        copy.write_text(self.page.read_text().replace("</head>", MEASURE % (PHONE, PHONE) + "</head>"))
        self.assertIn("wide::end", re.search("<title>(.*?)</title>", self.browse(copy).stdout).group(1))


if __name__ == "__main__":
    unittest.main()
