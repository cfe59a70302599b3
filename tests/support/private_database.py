"""A PostgreSQL server for one test, started by `bapi database`, and a study in it."""

import os
import pathlib
import pwd
import shutil
import sqlite3
import subprocess
import time

OLD_STUDY = pathlib.Path(__file__).parents[1] / "data" / "study-schema-1.db"
SERVERS = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))
PATIENCE = 200  # seconds that a busy machine may take


def missing():
    """Why there can be no server here; fails if there must be one."""
    reason = "" if SERVERS or shutil.which("initdb") else "there is no PostgreSQL server (initdb) here"
    if reason and os.environ.get("BAPI_REQUIRE_CLUSTER_TESTS"):
        raise SystemExit(reason)
    return reason


def ordinary_user():
    """Whom root becomes, since PostgreSQL refuses it; None for everybody else."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            pass
    return None


class PrivateDatabase:
    """In the directory `place`; `url` is its address. The program is copied, to where that user may read it."""

    def __init__(self, program, place):
        self.place = str(place)
        self.directory = os.path.join(self.place, "db")
        self.program = os.path.join(self.place, "bapi")
        shutil.copy(program, self.program)
        user = ordinary_user()
        self.options = {}
        if user:
            os.chown(self.place, user.pw_uid, user.pw_gid)
            self.options = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        self.user = user
        self.started = self.bapi("database", "start", self.directory)
        self.url = self.started.stdout.strip()

    def start_again(self):
        """Also after it was killed, as soon as what is left of it has ended; nothing if it runs."""
        deadline = time.monotonic() + PATIENCE
        while True:
            done = self.bapi("database", "start", self.directory)
            if done.returncode == 0:
                return
            assert time.monotonic() < deadline, done.stderr
            time.sleep(0.2)

    def stop(self):
        return self.bapi("database", "stop", self.directory)

    def bapi(self, *arguments, env=None):
        return subprocess.run([self.program, *arguments], cwd=self.place, capture_output=True, text=True, env=env,
                              timeout=PATIENCE, **self.options)

    def sql(self, text):
        psql = SERVERS[-1].parent / "psql" if SERVERS else "psql"
        done = subprocess.run([str(psql), "-X", "-q", "-v", "ON_ERROR_STOP=1", self.url], input=text, text=True,
                              capture_output=True, timeout=PATIENCE, cwd=self.place, **self.options)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def copy_study(self):
        """An old study, as here.bapi in the directory and as `there` in the database; returns the latter's address."""
        here = os.path.join(self.place, "here.bapi")
        os.makedirs(here)
        shutil.copy(OLD_STUDY, os.path.join(here, "study.db"))
        for path, mode in ((here, 0o755), (os.path.join(here, "study.db"), 0o644)):
            os.chmod(path, mode)
            if self.user:
                os.chown(path, self.user.pw_uid, self.user.pw_gid)
        with sqlite3.connect(f"file:{OLD_STUDY}?immutable=1", uri=True) as source:
            spec = source.execute("SELECT spec_json FROM study").fetchone()[0]
            events = source.execute("SELECT seq, at, kind, trial, epoch, value, cost, payload FROM event").fetchall()

        def quoted(value):
            return "NULL" if value is None else "'" + str(value).replace("'", "''") + "'"

        rows = ",\n".join(
            "(1, {}, to_timestamp({}), {})".format(
                seq, repr(at), ", ".join(quoted(repr(v) if isinstance(v, float) else v) for v in rest))
            for seq, at, *rest in events)
        self.sql(f"INSERT INTO bapi.study (name, spec_json, last_seq) VALUES ('there', {quoted(spec)}, {len(events)});"
                 "INSERT INTO bapi.pace (study) VALUES (1);"
                 f"INSERT INTO bapi.event (study, seq, at, kind, trial, epoch, value, cost, payload) VALUES {rows};")
        return self.url + "#there"
