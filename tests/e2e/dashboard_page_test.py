#!/usr/bin/env python3
"""The dashboard in a real browser, in short: the live page and the one-file report show the numbers of `bapi status`.

`make test-web` tests everything else that a browser can tell. CHROMIUM names the browser.
"""

import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

from harness import PATIENCE, EndToEnd

CHROMIUM = os.environ.get("CHROMIUM", "chromium")
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe"),
]


class Browser:
    """Chromium with one page, driven over its debugging pipe: file 3 takes commands, file 4 gives answers."""

    def __init__(self, *flags):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        commands, self.send_to = os.pipe()
        self.read_from, answers = os.pipe()
        high = [os.dup(commands), os.dup(answers)]  # so that neither is 3 or 4 already

        def connect():
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [CHROMIUM, *FLAGS, *flags, f"--user-data-dir={self.profile.name}"],
            preexec_fn=connect, pass_fds=(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        for each in (commands, answers, *high):
            os.close(each)
        self.session, self.sent, self.told, self.trouble = None, 0, b"", []

    def call(self, method, **parameters):
        self.sent += 1
        command = {"id": self.sent, "method": method, "params": parameters}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.send_to, json.dumps(command).encode() + b"\0")
        while True:
            while b"\0" not in self.told:
                part = os.read(self.read_from, 65536)
                assert part, "the browser is gone"
                self.told += part
            text, _, self.told = self.told.partition(b"\0")
            message = json.loads(text)
            if message.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.trouble.append(message["params"])
            if message.get("id") == self.sent:
                assert "error" not in message, message
                return message["result"]

    def open(self, address):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Page"):
            self.call(domain + ".enable")
        self.call("Page.navigate", url=address)

    def wait_for(self, expression):
        end = time.monotonic() + PATIENCE
        while True:
            value = self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")
            if value:
                return value
            assert time.monotonic() < end, f"waited too long for {expression}"
            time.sleep(0.1)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.send_to)
        os.close(self.read_from)
        self.profile.cleanup()


class DashboardPage(EndToEnd):
    def setUp(self):
        super().setUp()
        self.study(budget='"40 epochs"')
        self.bapi("run", "study.yaml", "-q")
        self.status = self.json("status", "mlp")

    def assert_shown(self, address, *flags):
        browser = Browser(*flags)
        self.addCleanup(browser.close)
        browser.open(address)
        number = "document.querySelector('#{}')?.title"
        self.assertEqual(float(browser.wait_for(number.format("best-value"))), self.status["best"]["value"])
        self.assertEqual(float(browser.wait_for(number.format("spent-value"))), self.status["budget"]["spent"])
        self.assertIn("finished", browser.wait_for("document.querySelector('main').innerText"))
        self.assertEqual(browser.trouble, [])

    def test_the_live_page_answers_with_the_numbers_of_the_program(self):
        server = self.start("dashboard", "--port", "0", "--read-only", "--no-token")
        self.assert_shown(server.stdout.readline().strip() + "#/s/mlp")

    def test_the_report_in_one_file_needs_no_network(self):
        page = pathlib.Path(self.dir) / "mlp.html"
        self.bapi("export", "mlp", "-f", "html", "--out", str(page))
        self.assert_shown(page.as_uri(), "--host-resolver-rules=MAP * ~NOTFOUND")


if __name__ == "__main__":
    unittest.main()
