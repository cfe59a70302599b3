"""A Slurm of one node that belongs to the calling user: its own key, ports and directories."""

import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel")
PATIENCE = 120.0  # seconds, on a busy machine

# Processes of a job are found by their group, nothing is accounted for, and whoever is late is not waited for. `high`
# takes places from `low`, whose jobs are then queued again.
CONFIGURATION = """
ClusterName=bapi
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthInfo=socket={dir}/munge/socket
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool
SlurmctldPidFile={dir}/slurmctld.pid
SlurmdPidFile={dir}/slurmd.pid
SlurmctldLogFile={dir}/slurmctld.log
SlurmdLogFile={dir}/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=0
JobCompType=jobcomp/none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
KillWait=10
SchedulerParameters=sched_interval=1,batch_sched_delay=0
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=low Nodes=ALL Default=YES PriorityTier=1 MaxTime=60 State=UP
PartitionName=high Nodes=ALL PriorityTier=10 PreemptMode=OFF MaxTime=60 State=UP
"""


def missing_programs():
    """What has to be installed for Slurm to be started here."""
    return [name for name in PROGRAMS if shutil.which(name, path=_path()) is None]


def _path():
    return os.environ.get("PATH", "") + os.pathsep + "/usr/sbin"


def _free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def wait_until(condition, what, patience=PATIENCE):
    """What the condition returns once that is true."""
    deadline = time.monotonic() + patience
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {patience:.0f} s: {what() if callable(what) else what}")
        time.sleep(0.2)


class Slurm:
    """Starts in a directory of its own and ends with `stop`."""

    def __init__(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="bapi-slurm-"))  # short: paths of sockets are limited
        self.host = socket.gethostname().split(".")[0]
        self.environment = {**os.environ, "SLURM_CONF": str(self.dir / "slurm.conf"), "PATH": _path()}

    def start(self):
        for name in ("state", "spool", "munge"):
            (self.dir / name).mkdir(mode=0o700)
        key = self.dir / "munge/key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        (self.dir / "slurm.conf").write_text(
            CONFIGURATION.format(
                host=self.host, user=pwd.getpwuid(os.getuid()).pw_name, dir=self.dir, ports=_free_ports(2)
            )
        )
        munge = self.dir / "munge"
        files = [f"--{name}-file={munge / name}" for name in ("key", "pid", "log", "seed")]
        self.run("munged", "--force", *files, f"--socket={munge / 'socket'}")
        self.run("slurmctld", "-c")
        self.run("slurmd")
        wait_until(lambda: "idle" in self.try_run("sinfo", "-h", "-o", "%t"), "an idle node")

    def stop(self):
        self.try_run("scancel", "--full", "--signal=KILL", "-u", pwd.getpwuid(os.getuid()).pw_name)
        for file in ("slurmd.pid", "slurmctld.pid", "munge/pid"):
            _end(self.dir / file)
        shutil.rmtree(self.dir, ignore_errors=True)

    def run(self, *words, expect=0):
        """What a program of Slurm prints; its message if it is expected to fail."""
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == expect, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout if expect == 0 else done.stderr

    def try_run(self, *words):
        """The same, if it works."""
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True, timeout=PATIENCE)
        return done.stdout

    def jobs(self):
        """The states of all jobs that are not over: {"1_2": "RUNNING"}."""
        rows = [line.split() for line in self.run("squeue", "-h", "-r", "-o", "%i %T").splitlines()]
        return {job: state for job, state in rows}

    def pending(self):
        """Why jobs wait: {"1_2": "BeginTime"}."""
        rows = [line.split() for line in self.run("squeue", "-h", "-r", "-t", "PENDING", "-o", "%i %r").splitlines()]
        return {row[0]: row[-1] for row in rows}


def _end(pid_file):
    """Ends the process that has written the file."""
    try:
        pid = int(pid_file.read_text())
        os.kill(pid, signal.SIGTERM)
    except (OSError, ValueError):
        return
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and os.path.exists(f"/proc/{pid}"):
        time.sleep(0.05)
    if os.path.exists(f"/proc/{pid}"):
        os.kill(pid, signal.SIGKILL)
