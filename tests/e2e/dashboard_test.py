#!/usr/bin/env python3
"""The dashboard's server: who may ask what (one test for each rule), and answers that are those of the commands."""

import json
import os
import re
import signal
import socket
import struct
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

from harness import PATIENCE, EndToEnd


class Dashboard(EndToEnd):
    def serve(self, *arguments):
        self.server = self.start("dashboard", *arguments, "--port", "0")
        address = self.server.stdout.readline().strip()
        found = re.fullmatch(r"(http://([^:/]+):(\d+)/)(?:#token=([0-9a-f]{32}))?", address)
        self.assertIsNotNone(found, address)
        self.base, self.port, self.token = found.group(1), int(found.group(3)), found.group(4)
        return address

    def ask(self, path, method="GET", headers=None, body=None, token=True, host=None):
        """(status, headers, body) of a request in the simplest form, so that every header is the test's own."""
        lines = [f"{method} {path} HTTP/1.1", f"Host: {host or f'127.0.0.1:{self.port}'}", "Connection: close"]
        if token and self.token:
            lines.append(f"Authorization: Bearer {self.token}")
        if body is not None and "Content-Length" not in (headers or {}) and "Transfer-Encoding" not in (headers or {}):
            lines.append(f"Content-Length: {len(body)}")
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            connection.sendall("\r\n".join(lines + ["", ""]).encode() + (body or "").encode())
            answer = b""
            try:
                while part := connection.recv(65536):
                    answer += part
            except ConnectionResetError:
                pass  # after the answer: a refused body is not read
        head, _, content = answer.partition(b"\r\n\r\n")
        first, *rest = head.decode().split("\r\n")
        fields = {name.lower(): value for name, value in (line.split(": ", 1) for line in rest)}
        return int(first.split()[1]), fields, content

    def get(self, path):
        status, _, content = self.ask("/api/v1/" + path)
        self.assertIn(status, (200, 202), (path, content))
        return json.loads(content)

    def post(self, path, record, **headers):
        fields = {"Origin": f"http://127.0.0.1:{self.port}", "Content-Type": "application/json", "X-Bapi": "1", **headers}
        fields = {name: value for name, value in fields.items() if value is not None}
        status, _, content = self.ask("/api/v1/" + path, "POST", fields, json.dumps(record))
        return status, json.loads(content) if content else None

    def finished_study(self):
        self.study(budget='"60 epochs"')
        self.bapi("run", "study.yaml", "-q")


class Rules(Dashboard):
    def setUp(self):
        super().setUp()
        self.finished_study()

    def test_it_listens_on_this_machine_alone_and_refuses_to_be_open_to_all(self):
        self.serve()
        with open(f"/proc/{self.server.pid}/net/tcp") as file:
            ours = [line.split()[1] for line in file if line.split()[1].endswith(f":{self.port:04X}")]
        self.assertEqual(set(ours), {f"0100007F:{self.port:04X}"})
        self.assertIn("--read-only", self.bapi("dashboard", "--no-token", code=2).stderr)
        self.bapi("dashboard", "--no-token", "--read-only", "--host", "0.0.0.0", code=2)

    def test_who_opens_it_to_others_is_warned_and_still_needs_the_token(self):
        address = self.serve("--host", "0.0.0.0")
        self.assertIn("#token=", address)
        self.assertIn("not encrypted", self.server.stderr.readline())
        self.assertEqual(self.ask("/api/v1/studies", token=False)[0], 401)
        self.assertEqual(self.ask("/api/v1/studies")[0], 200)

    def test_looking_changes_nothing(self):
        before = self.bapi("export", "mlp", "-f", "json").stdout
        files = sorted(os.listdir(self.path("mlp.bapi")))
        self.serve()
        for path in ("", "/trials", "/trials/0", "/trials/0/log", "/curves", "/decisions", "/burndown", "/incumbent",
                     "/timeline", "/plan", "/what-if", "/forecast", "/calibration", "/certificate", "/requests"):
            for method in ("GET", "HEAD"):
                self.ask("/api/v1/studies/mlp" + path, method)
        self.assertEqual(self.bapi("export", "mlp", "-f", "json").stdout, before)
        shared = {"study.db-wal", "study.db-shm"}  # SQLite's, while somebody reads
        self.assertEqual(sorted(set(os.listdir(self.path("mlp.bapi"))) - shared), sorted(set(files) - shared))

    def test_who_sends_nothing_for_five_seconds_is_hung_up_on(self):
        self.serve()
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            connection.sendall(b"GET /api/v1/studies HTTP/1.1\r\nHost: 127.0.0.1\r\n")
            while connection.recv(65536):  # an error, or nothing; ends when the server closes
                pass
        self.assertEqual(self.ask("/api/v1/studies")[0], 200)

    def test_who_sends_a_byte_now_and_then_is_hung_up_on_too(self):
        self.serve()
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            connection.sendall(b"GET /api/v1/studies HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
            connection.settimeout(0.5)
            end = time.monotonic() + PATIENCE
            while time.monotonic() < end:
                try:
                    connection.sendall(b"x")
                    if not connection.recv(65536):
                        break
                except TimeoutError:
                    continue
                except OSError:
                    break
            else:
                self.fail("the server still waits for the end of the header")

    def test_who_does_not_read_stops_nobody(self):
        self.serve()
        idle = []
        try:
            for _ in range(40):  # more than there are threads
                connection = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
                connection.sendall(b"GET /app.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                idle.append(connection)
            self.assertEqual(self.ask("/api/v1/studies")[0], 200)
        finally:
            for connection in idle:
                connection.close()

    def test_the_seventeenth_stream_is_told_to_ask_instead(self):
        self.serve()
        streams = []
        try:
            for _ in range(16):
                connection = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
                connection.sendall((f"GET /api/v1/stream?at=mlp:0 HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                                    f"Authorization: Bearer {self.token}\r\n\r\n").encode())
                self.assertIn(b"200", connection.recv(200))
                streams.append(connection)
            status, _, content = self.ask("/api/v1/stream?at=mlp:0")
            self.assertEqual(status, 503)
            self.assertIn("every two seconds", json.loads(content)["error"]["hint"])
            self.assertEqual(self.ask("/api/v1/studies")[0], 200)  # everything else is answered
        finally:
            for connection in streams:
                connection.close()
        deadline = time.monotonic() + PATIENCE
        while True:  # places are given back once the server has noticed
            with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
                connection.sendall((f"GET /api/v1/stream?at=mlp:0 HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                                    f"Authorization: Bearer {self.token}\r\n\r\n").encode())
                if b" 200 " in connection.recv(200):
                    break
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.2)

    def test_asking_for_a_thousand_parts_brings_the_whole_once(self):
        self.serve()
        whole = self.ask("/app.js")[2]
        status, _, content = self.ask("/app.js", headers={"Range": "bytes=" + ",".join(["0-"] * 1000)})
        self.assertEqual((status, len(content)), (200, len(whole)))

    def test_head_tells_what_get_would_and_sends_no_body(self):
        self.serve()
        for path in ("/", "/app.js", "/api/v1/studies", "/api/v1/studies/mlp/curves", "/api/v1/stream?at=mlp:0"):
            status, headers, content = self.ask(path, "HEAD")
            self.assertEqual((status, content), (200, b""), path)
            self.assertIn("content-security-policy", headers)
        self.assertEqual(self.ask("/api/v1/studies", "HEAD", token=False)[0], 401)
        self.assertEqual(self.ask("/api/v1/studies", "HEAD", host="evil.example")[0], 421)

    def test_a_question_that_is_too_long_is_refused(self):
        self.serve()
        self.assertEqual(self.ask("/api/v1/studies/mlp/trials?q=" + "x" * 9000)[0], 414)
        many = "&".join(f"at=s{i}:0" for i in range(1001))
        self.assertGreaterEqual(self.ask("/api/v1/stream?" + many)[0], 400)
        status, _, content = self.ask("/api/v1/studies/mlp/trials?q=" + "x" * 7000)
        self.assertEqual((status, json.loads(content)["total"]), (200, 0))
        self.assertEqual(self.ask("/api/v1/studies")[0], 200)

    def test_only_files_of_the_checkpoint_itself_are_listed(self):
        self.serve()
        folder = self.path("mlp.bapi", "trials", "0000", "checkpoint")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "a <b>.bin"), "w") as file:
            file.write("12345")
        os.symlink("/etc/passwd", os.path.join(folder, "link"))
        os.makedirs(os.path.join(folder, "folder"))
        listed = {file["name"]: file["bytes"] for file in self.get("studies/mlp/trials/0")["files"]}
        self.assertEqual(listed["a <b>.bin"], 5)
        self.assertFalse({"link", "folder"} & set(listed))
        for path in ("checkpoint", "checkpoint/a%20%3Cb%3E.bin", "log/../checkpoint"):
            self.assertEqual(self.ask("/api/v1/studies/mlp/trials/0/" + path)[0], 404, path)
        os.rename(folder, folder + ".moved")
        os.symlink("/etc", folder)
        self.assertEqual(self.get("studies/mlp/trials/0")["files"], [])

    def test_a_log_of_any_size_and_contents_is_cut_and_made_text(self):
        self.serve()
        log = self.path("mlp.bapi", "trials", "0000", "log")
        with open(log, "wb") as file:
            file.write(b"x" * 10_000_000 + b"\xff\xfe\x00<script>alert(1)</script>\x1b[31m")
        record = self.get("studies/mlp/trials/0/log")
        self.assertEqual((record["to"], record["to"] - record["from"]), (record["size"], 64 * 1024))
        self.assertIn("<script>", record["text"])
        self.assertLess(len(record["text"].encode()), 70_000)
        self.assertEqual(self.ask("/api/v1/studies/mlp/trials/0/log?bytes=10000000")[0], 400)
        earlier = self.get(f"studies/mlp/trials/0/log?before={record['from']}&bytes=10")
        self.assertEqual((earlier["text"], earlier["to"]), ("x" * 10, record["from"]))

    def test_data_need_the_token_of_this_start(self):
        first = self.serve()
        for path in ("studies", "studies/mlp", "stream?at=mlp:0", "studies/mlp/trials/0/log"):
            self.assertEqual(self.ask("/api/v1/" + path, token=False)[0], 401, path)
            wrong = {"Authorization": "Bearer " + "0" * 32}
            self.assertEqual(self.ask("/api/v1/" + path, token=False, headers=wrong)[0], 401, path)
        self.assertEqual(self.ask("/api/v1/studies")[0], 200)
        self.assertEqual(self.ask("/", token=False)[0], 200)  # the page itself holds no data
        self.assertNotEqual(self.serve(), first)

    def test_the_token_becomes_a_cookie_that_scripts_cannot_read(self):
        self.serve()
        fields = {"Origin": f"http://127.0.0.1:{self.port}", "Content-Type": "application/json", "X-Bapi": "1"}
        status, headers, _ = self.ask("/api/v1/login", "POST", fields, json.dumps({"token": self.token}), token=False)
        self.assertEqual(status, 200)
        cookie = headers["set-cookie"]
        self.assertIn("HttpOnly", cookie)
        self.assertIn("SameSite=Strict", cookie)
        self.assertTrue(cookie.startswith(f"bapi_{self.port}="))
        given = {"Cookie": "other=1; " + cookie.split(";")[0]}
        self.assertEqual(self.ask("/api/v1/studies", token=False, headers=given)[0], 200)
        status, headers, _ = self.ask("/api/v1/login", "POST", fields, json.dumps({"token": "0" * 32}), token=False)
        self.assertEqual(status, 401)
        self.assertNotIn("set-cookie", headers)

    def test_another_host_is_refused_before_anything_else(self):
        self.serve()
        for host in ("evil.example", f"evil.example:{self.port}", "127.0.0.1.evil.example", "localhost.evil.example"):
            self.assertEqual(self.ask("/api/v1/studies", host=host)[0], 421, host)
            self.assertEqual(self.ask("/", host=host, token=False)[0], 421, host)
        self.assertEqual(self.ask("/api/v1/studies", host=f"localhost:{self.port}")[0], 200)
        self.serve("--allow-host", "studies.example")
        self.assertEqual(self.ask("/api/v1/studies", host="studies.example")[0], 200)

    def test_changes_need_the_pages_own_origin_header_and_type(self):
        self.serve()
        note = {"action": "note", "text": "seen"}
        self.assertEqual(self.post("studies/mlp/requests", note)[0], 202)
        for headers, expected in [
            ({"Origin": "http://evil.example"}, 403),
            ({"Origin": None}, 403),
            ({"Origin": "null"}, 403),
            ({"X-Bapi": None}, 403),
            ({"Content-Type": "text/plain"}, 415),
        ]:
            self.assertEqual(self.post("studies/mlp/requests", note, **headers)[0], expected, headers)
        for method in ("PUT", "DELETE", "PATCH", "OPTIONS"):
            status, headers, _ = self.ask("/api/v1/studies/mlp/requests", method)
            self.assertEqual(status, 405, method)
            self.assertNotIn("access-control-allow-origin", headers)

    def test_read_only_takes_no_change(self):
        self.serve("--read-only", "--no-token")
        self.assertEqual(self.ask("/api/v1/studies")[0], 200)
        before = self.bapi("export", "mlp", "-f", "json").stdout
        self.assertEqual(self.post("studies/mlp/requests", {"action": "note", "text": "x"})[0], 405)
        self.assertEqual(self.bapi("export", "mlp", "-f", "json").stdout, before)

    def test_every_answer_says_what_a_browser_may_do_with_it(self):
        self.serve()
        for path in ("/", "/app.js", "/style.css", "/api/v1/studies", "/nothing", "/api/v1/studies/none"):
            _, headers, content = self.ask(path)
            policy = headers["content-security-policy"]
            self.assertTrue(policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'"), path)
            self.assertIn("frame-ancestors 'none'", policy)
            self.assertNotIn("unsafe", policy)
            self.assertEqual(headers["x-content-type-options"], "nosniff")
            self.assertEqual(headers["referrer-policy"], "no-referrer")
            self.assertEqual(headers["cross-origin-resource-policy"], "same-origin")
            self.assertEqual(headers["cache-control"], "no-store")
            self.assertNotIn("access-control-allow-origin", headers)
        page = self.ask("/")[2].decode()
        self.assertNotRegex(page, r"\son\w+=|style=|<script>")

    def test_no_path_leads_out_of_the_catalogue(self):
        self.serve()
        for part in ("..", "%2e%2e", "..%2f..%2fetc", "%2fetc", ".", "%00", "mlp%2f..", "mlp.bapi"):
            for path in (f"/api/v1/studies/{part}", f"/api/v1/studies/mlp/trials/{part}", f"/api/v1/studies/mlp/{part}",
                         f"/api/v1/studies/mlp/trials/0/{part}", f"/{part}", f"/{part}/etc/passwd"):
                status, _, content = self.ask(path)
                self.assertIn(status, (400, 404), path)
                self.assertNotIn(b"root:", content)

    def test_a_log_that_is_a_link_is_not_followed(self):
        self.serve()
        log = self.path("mlp.bapi", "trials", "0000", "log")
        self.assertIn("trained", self.get("studies/mlp/trials/0/log")["text"] + "trained")
        os.remove(log)
        os.symlink("/etc/passwd", log)
        self.assertEqual(self.get("studies/mlp/trials/0/log")["text"], "")
        os.rename(self.path("mlp.bapi", "trials", "0001"), self.path("elsewhere"))
        os.symlink(self.path("elsewhere"), self.path("mlp.bapi", "trials", "0001"))
        self.assertEqual(self.get("studies/mlp/trials/1/log")["size"], 0)

    def test_a_request_that_is_too_large_is_refused_unread(self):
        self.serve()
        own = {"Origin": f"http://127.0.0.1:{self.port}", "Content-Type": "application/json", "X-Bapi": "1"}
        path = "/api/v1/studies/mlp/requests"
        self.assertEqual(self.ask(path, "POST", {**own, "Content-Length": "65537"}, "")[0], 413)
        self.assertEqual(self.ask(path, "POST", {**own, "Content-Length": "9" * 30}, "")[0], 413)
        self.assertEqual(self.ask(path, "POST", {**own, "Transfer-Encoding": "chunked"}, "0\r\n\r\n")[0], 411)
        many = {f"X-{i}": "1" for i in range(200)}
        self.assertEqual(self.ask("/api/v1/studies", headers=many)[0], 431)
        self.assertGreaterEqual(self.ask("/api/v1/studies", headers={"X-Long": "x" * 9000})[0], 400)
        self.assertEqual(self.ask("/api/v1/studies")[0], 200)

    def test_bad_parameters_get_an_error_that_names_them(self):
        self.serve()
        for path in ("trials?limit=x", "trials?limit=0", "trials?sort=nothing", "decisions?trial=99", "burndown?points=1",
                     "forecast?trials=a"):
            status, _, content = self.ask("/api/v1/studies/mlp/" + path)
            self.assertEqual(status, 400, path)
            self.assertIn(path.split("?")[1].split("=")[0], json.loads(content)["error"]["message"])
        self.assertEqual(self.ask("/api/v1/stream?at=mlp")[0], 400)


class Answers(Dashboard):
    def test_answers_are_the_records_of_the_commands(self):
        self.finished_study()
        self.serve()
        status = self.json("status", "mlp")
        record = self.get("studies/mlp")
        self.assertEqual({name: record[name] for name in status}, status)
        self.assertEqual(self.get("studies/mlp/trials?limit=1000")["trials"], self.json("trials", "mlp"))
        shown = self.json("show", "mlp", "0")
        trial = self.get("studies/mlp/trials/0")
        for name in set(shown) - {"log", "report", "checkpoint"}:
            self.assertEqual(trial[name], shown[name], name)
        told = self.get("studies/mlp/decisions?limit=1000")["decisions"]
        explained = self.json("explain", "mlp")
        added = ("came_true", "segment")
        self.assertEqual([{k: v for k, v in row.items() if k not in added} for row in reversed(told)], explained)
        self.assertEqual(self.get("studies/mlp/calibration")["table"], self.json("calibration", "mlp"))

    def test_the_planners_answers_come_when_they_are_ready(self):
        self.finished_study()
        self.serve()
        for what in ("plan", "what-if", "forecast", "certificate"):
            while (record := self.get("studies/mlp/" + what)).get("as_of") != record["seq"]:
                time.sleep(0.1)
            self.assertIsNone(record["trouble"])
        # Everything is spent, so both plan with nothing.
        plan = self.get("studies/mlp/plan")["answer"]
        self.assertEqual(plan, self.json("plan", "mlp"))
        rows = self.get("studies/mlp/what-if")["answer"]["rows"]
        self.assertGreaterEqual(rows[-1]["budget"], 119)
        expected = self.json("what-if", "mlp", "--budget", "120 epochs")
        self.assertEqual(rows, expected)
        forecast = self.get("studies/mlp/forecast")["answer"]
        self.assertEqual({row["trial"] for row in forecast}, {row["trial"] for row in self.json("forecast", "mlp")})

    def test_curves_are_as_small_as_they_can_be(self):
        self.finished_study()
        self.serve()
        content = self.ask("/api/v1/studies/mlp/curves")[2]
        self.assertEqual(content[:4], b"BCV1")
        trials, seq = struct.unpack_from("<IQ", content, 4)
        offsets = struct.unpack_from(f"<{trials + 1}I", content, 16)
        values = struct.unpack_from(f"<{offsets[-1]}f", content, 16 + 4 * (trials + 1))
        self.assertEqual(len(content), 16 + 4 * (trials + 1) + 8 * offsets[-1])
        for trial in range(trials):
            curve = self.json("show", "mlp", str(trial))["curve"]
            for point, value in zip(curve, values[offsets[trial]:offsets[trial + 1]], strict=True):
                self.assertAlmostEqual(point["value"], value, places=6)
        self.assertEqual(seq, self.get("studies/mlp")["seq"])

    def test_sums_of_the_burn_down_are_the_total(self):
        self.finished_study()
        self.serve()
        points = self.get("studies/mlp/burndown")["points"]
        self.assertAlmostEqual(sum(points[-1]["spent"].values()), self.json("status", "mlp")["budget"]["spent"])
        self.assertEqual(points[0]["spent"]["epoch"], 0)

    def test_a_timeline_is_told_in_part(self):
        self.finished_study()
        self.serve()
        bars = self.get("studies/mlp/timeline")["bars"]
        now = int(bars[-1]["end"])
        self.assertEqual(self.get(f"studies/mlp/timeline?from={now + 100}")["bars"], [])
        self.assertEqual(self.get("studies/mlp/timeline?to=1")["bars"], [])
        self.assertEqual(self.get(f"studies/mlp/timeline?from={now - 86400}&to={now + 86400}")["bars"], bars)

    def test_what_was_seen_is_not_sent_again(self):
        self.finished_study()
        self.serve()
        _, headers, _ = self.ask("/api/v1/studies/mlp/trials")
        again = {"If-None-Match": headers["etag"]}
        self.assertEqual(self.ask("/api/v1/studies/mlp/trials", headers=again)[0], 304)
        self.post("studies/mlp/requests", {"action": "note", "text": "x"})
        self.assertEqual(self.ask("/api/v1/studies/mlp/trials", headers=again)[0], 200)

    def test_trials_seen_running_are_sent_again_once_nobody_trains_them(self):
        self.study(budget="1000s", delay=0.1, workers=2)
        run = self.start("run", "study.yaml", "-q")
        self.serve()
        self.wait_for(lambda: [study["state"] for study in self.get("studies")["studies"]] == ["running"], "the study to run")
        self.wait_for(lambda: len(self.get("studies/mlp")["running"]) == 2, "two trials to run")
        run.send_signal(signal.SIGSTOP)  # it writes no further event
        os.waitpid(run.pid, os.WUNTRACED)
        paths = [f"/api/v1/studies/mlp/{part}" for part in ("trials", "curves", "timeline", "trials/0")]
        seen = {path: self.ask(path)[1]["etag"] for path in paths}
        run.kill()
        self.wait_for(lambda: self.get("studies/mlp")["state"] == "interrupted", "the end of the controller")
        for path, version in seen.items():
            self.assertEqual(self.ask(path, headers={"If-None-Match": version})[0], 200, path)
        self.assertIn("interrupted", {trial["state"] for trial in self.get("studies/mlp/trials")["trials"]})

    def test_missing_values_sort_last_in_both_directions(self):
        self.finished_study()
        self.serve()
        for key in ("best", "-best"):
            best = [row["best"] for row in self.get(f"studies/mlp/trials?sort={key}&limit=1000")["trials"]]
            present = [value for value in best if value is not None]
            self.assertEqual(best[:len(present)], sorted(present, reverse=key.startswith("-")))
        first = self.get("studies/mlp/trials?limit=2")
        second = self.get(f"studies/mlp/trials?limit=2&cursor={first['next']}")
        self.assertEqual([row["trial"] for row in first["trials"] + second["trials"]], [0, 1, 2, 3])

    def test_an_unreadable_study_stays_in_the_list_and_the_others_are_shown(self):
        self.finished_study()
        os.makedirs(self.path("bad.bapi"))
        with open(self.path("bad.bapi", "study.db"), "w") as file:
            file.write("no database")
        self.serve()
        deadline = time.monotonic() + 20
        while True:
            studies = {study["id"]: study for study in self.get("studies")["studies"]}
            if all(study["state"] != "loading" for study in studies.values()) or time.monotonic() > deadline:
                break
            time.sleep(0.1)
        self.assertIn("study.db", studies["bad"]["error"])
        self.assertIsNone(studies["mlp"]["error"])
        self.assertEqual(self.ask("/api/v1/studies/bad")[0], 503)


class Live(Dashboard):
    def follow(self, path, heard, last_id=None):
        """Reads a stream in a thread; `heard` gets (event, id, data)."""
        headers = {"Authorization": f"Bearer {self.token}"}
        if last_id:
            headers["Last-Event-ID"] = last_id
        request = urllib.request.Request(f"{self.base}api/v1/{path}", headers=headers)
        answer = urllib.request.urlopen(request, timeout=PATIENCE)

        def read():
            event, name = None, None
            try:
                for line in answer:
                    field, _, value = line.decode().rstrip("\n").partition(": ")
                    if field == "event":
                        event = value
                    elif field == "id":
                        name = value
                    elif field == "data":
                        heard.append((event, name, json.loads(value)))
            except (OSError, ValueError, AttributeError):
                pass  # closed by the test

        threading.Thread(target=read, daemon=True).start()
        return answer

    def wait(self, condition, seconds=30):
        deadline = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), deadline, "waited too long")
            time.sleep(0.02)

    def test_a_stream_tells_every_event_once_and_resumes_where_it_was(self):
        self.study(budget="20s", delay=0.05, workers=2)
        run = self.start("run", "study.yaml", "-q")
        self.serve()
        self.wait(lambda: os.path.exists(self.path("mlp.bapi", "study.db")))
        heard = []
        first = self.follow("stream?at=mlp:0", heard)
        seen = lambda: [event["seq"] for kind, _, data in heard if kind == "log" for event in data["events"]]
        self.wait(lambda: len(seen()) >= 20)
        first.close()
        last = [name for kind, name, _ in heard if kind == "log"][-1]
        self.follow("stream?at=mlp:0", heard, last_id=last)
        self.wait(lambda: len(seen()) >= 40)
        self.assertEqual(seen(), list(range(1, len(seen()) + 1)))
        status = [data for kind, _, data in heard if kind == "status"][-1]
        self.assertEqual(status["state"], "running")
        os.kill(run.pid, signal.SIGKILL)
        self.wait(lambda: [data for kind, _, data in heard if kind == "status"][-1]["state"] == "interrupted")

    def test_new_studies_appear_by_themselves(self):
        self.serve()
        self.assertEqual(self.get("studies")["studies"], [])
        heard = []
        self.follow("stream", heard)
        self.finished_study()
        self.wait(lambda: any(kind == "studies" for kind, _, _ in heard))
        self.assertEqual([study["id"] for study in self.get("studies")["studies"]], ["mlp"])

    def test_a_study_that_appears_between_the_list_and_the_stream_is_told(self):
        self.serve()
        seen = self.get("studies")
        self.assertEqual(seen["studies"], [])
        self.finished_study()
        self.wait(lambda: self.get("studies")["version"] != seen["version"])
        version = self.get("studies")["version"]
        self.wait(lambda: [study["state"] for study in self.get("studies")["studies"]] == ["finished"])
        heard = []
        self.follow(f"stream?list={seen['version']}", heard)
        self.wait(lambda: any(kind == "studies" for kind, _, _ in heard))
        self.assertGreater(version, seen["version"])
        self.assertEqual(self.ask("/api/v1/stream?list=x")[0], 400)

    def test_a_study_that_can_be_read_again_is_shown_again(self):
        self.finished_study()
        os.rename(self.path("mlp.bapi", "study.db"), self.path("study.db"))
        with open(self.path("mlp.bapi", "study.db"), "w") as file:
            file.write("no database")
        self.serve()
        self.wait(lambda: [study["state"] for study in self.get("studies")["studies"]] == ["unreadable"])
        heard = []
        self.follow(f"stream?list={self.get('studies')['version']}", heard)
        os.rename(self.path("study.db"), self.path("mlp.bapi", "study.db"))
        self.wait(lambda: any(kind == "studies" for kind, _, _ in heard))
        self.wait(lambda: [study["state"] for study in self.get("studies")["studies"]] == ["finished"])

    def test_the_controller_takes_requests_up_and_stays_the_only_one_who_decides(self):
        self.study(budget="1000s", delay=0.1, workers=2)
        before = time.time()
        run = self.start("run", "study.yaml", "-q")
        self.serve()
        self.wait(lambda: [study["state"] for study in self.get("studies")["studies"]] == ["running"])
        self.wait(lambda: len(self.get("studies/mlp")["running"]) == 2)
        controller = self.get("studies/mlp")["controller"]
        self.assertEqual(controller["pid"], run.pid)
        self.assertTrue(before - 1 <= controller["since"] <= time.time() + 1, controller)

        def outcome(record):
            status, answer = self.post("studies/mlp/requests", record)
            self.assertEqual(status, 202, answer)
            path = f"studies/mlp/requests/{answer['request']}"
            self.wait(lambda: self.get(path)["state"] != "waiting")
            return self.get(path)

        self.assertEqual(outcome({"action": "note", "text": "hello"})["state"], "done")
        self.assertIn("hello", self.bapi("export", "mlp", "-f", "json").stdout)
        self.assertEqual(outcome({"action": "budget", "total": "2000s"})["state"], "done")
        self.assertEqual(self.json("status", "mlp")["budget"]["total"], 2000)
        refused = outcome({"action": "budget", "total": 1e-9})
        self.assertEqual(refused["state"], "refused")
        self.assertIn("spent", refused["reason"])
        self.assertEqual(self.post("studies/mlp/requests", {"action": "dance"})[0], 400)
        trial = self.get("studies/mlp")["running"][0]["trial"]
        self.assertEqual(outcome({"action": "stop_trial", "trial": trial})["state"], "done")
        self.wait(lambda: self.get(f"studies/mlp/trials/{trial}")["state"] == "stopped")
        last = max(self.get(f"studies/mlp/trials/{trial}")["decisions"], key=lambda decision: decision["seq"])
        self.assertEqual((last["rule"], last["because"]), ("asked-for-by-user", "Requested by the user."))
        self.wait(lambda: len(self.get("studies/mlp")["running"]) == 2)  # the study goes on with another one
        self.assertEqual(outcome({"action": "stop_trial", "trial": trial})["state"], "refused")
        self.assertEqual(outcome({"action": "pause"})["state"], "done")
        self.assertEqual(run.wait(30), 130)
        self.assertEqual(self.json("status", "mlp")["state"], "interrupted")
        self.assertEqual(os.listdir(self.path("mlp.bapi", "requests")),
                         [name for name in os.listdir(self.path("mlp.bapi", "requests")) if name.endswith(".refused")])

    def test_without_a_controller_budget_and_note_are_written_and_the_rest_refused(self):
        self.finished_study()
        self.serve()
        self.assertEqual(self.post("studies/mlp/requests", {"action": "note", "text": "later"})[0], 202)
        self.assertEqual(self.post("studies/mlp/requests", {"action": "budget", "total": "+10 epochs"})[0], 202)
        self.assertEqual(self.json("status", "mlp")["budget"]["total"], 70)
        self.assertEqual(self.post("studies/mlp/requests", {"action": "budget", "total": 1})[0], 409)
        self.assertEqual(self.post("studies/mlp/requests", {"action": "pause"})[0], 409)
        self.assertEqual(self.post("studies/mlp/requests", {"action": "stop_trial", "trial": 999})[0], 409)
        waiting = [row["trial"] for row in self.json("trials", "mlp") if row["state"] in ("paused", "interrupted")]
        for trial in waiting[:1]:
            self.assertEqual(self.post("studies/mlp/requests", {"action": "stop_trial", "trial": trial})[0], 202)
            self.assertEqual(self.json("show", "mlp", str(trial))["state"], "stopped")

    def test_the_program_leaves_the_same_requests(self):
        self.study(budget="1000s", delay=0.1, workers=2)
        run = self.start("run", "study.yaml", "-q")
        self.wait(lambda: os.path.exists(self.path("mlp.bapi", "study.db")))
        self.wait(lambda: self.json("status", "mlp")["trials"]["running"] == 2)
        self.bapi("note", "mlp", "a remark")
        running = [row["trial"] for row in self.json("trials", "mlp") if row["state"] == "running"][0]
        self.bapi("stop", "mlp", str(running))
        self.wait(lambda: self.json("show", "mlp", str(running))["state"] == "stopped")
        self.bapi("pause", "mlp")
        self.assertEqual(run.wait(60), 130)
        self.assertIn("a remark", self.bapi("export", "mlp", "-f", "json").stdout)
        self.assertIn("not running", self.bapi("pause", "mlp", code=2).stderr)

    def test_ctrl_c_ends_the_server_and_says_goodbye(self):
        self.finished_study()
        self.serve()
        heard = []
        self.follow("stream?at=mlp:0", heard)
        self.wait(lambda: heard)
        self.server.send_signal(signal.SIGINT)
        self.assertEqual(self.server.wait(30), 0)
        self.wait(lambda: heard[-1][0] == "bye")


if __name__ == "__main__":
    unittest.main()
