"""Ray: workers of bapi.tune as actors, and the planner of Ray Tune. Exact epochs are counted, whatever dies."""

import collections
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import time

import pytest

ray = pytest.importorskip("ray")
pytest.importorskip("ray.tune")

import bapi  # noqa: E402
from bapi.integrations import ray as bapi_ray  # noqa: E402
from ray import tune  # noqa: E402

EPOCHS = 9
LOOP = {"space": {"x": bapi.Float(0, 1)}, "budget": "60 epochs", "max_epochs": EPOCHS, "policy": "hyperband"}
PATIENCE = 300.0


def value(x, epoch):
    return (1 - 0.7**epoch) * (1 - (x - 0.3) ** 2)


def write_whole(path, text):
    """A kill leaves the old text or the new one."""
    new = pathlib.Path(f"{path}.{os.getpid()}")
    new.write_text(text)
    new.replace(path)


def note(book, *words):
    """Appends a line to a file that several processes write to."""
    with open(book, "ab", buffering=0) as file:
        file.write((" ".join(map(str, words)) + "\n").encode())


def notes(book):
    return [tuple(line.split()) for line in pathlib.Path(book).read_text().splitlines()]


def once(flag):
    """True for the first process that asks."""
    try:
        os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


@pytest.fixture(scope="module")
def local_ray():
    """Ray on this machine. The package is where this process found it."""
    paths = os.pathsep.join([str(pathlib.Path(bapi.__file__).parents[1]), str(pathlib.Path(__file__).parent)])
    ray.init(
        num_cpus=3, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": paths}}
    )
    yield
    ray.shutdown()


# ---- The executor


def make_train(folder, before_report=lambda trial, epoch: None):
    """A training function that counts every epoch it trains; it saves before it reports."""

    def train(trial):
        path = trial.checkpoint_dir / "epoch"
        start = int(path.read_text()) if path.exists() else 0
        for epoch in trial.epochs(start):
            note(f"{folder}/trained", trial.number, epoch)
            before_report(trial, epoch)
            trial.report(epoch, value(trial.config["x"], epoch))
            write_whole(path, str(epoch))

    return train


def check_curves(study, spent=60):
    """Every epoch is on its curve once, the ledger adds up, and no trial has failed."""
    assert study.state == "finished" and study.spent == spent
    assert sum(row["cost"] for row in study.ledger()) == spent
    assert not any(trial.failure for trial in study.trials)
    for trial in study.trials:
        assert trial.reported == list(range(1, trial.epochs + 1))


def test_a_study_trains_in_actors(tmp_path, local_ray):
    study = bapi.tune(make_train(tmp_path), workers=2, storage=tmp_path / "s", executor=bapi_ray.executor(), **LOOP)
    check_curves(study)
    trained = notes(tmp_path / "trained")
    assert len(trained) == len(set(trained)) == 60


def test_an_actor_that_is_killed_puts_its_segment_back(tmp_path, local_ray):
    folder = str(tmp_path)

    def die_once(trial, epoch):
        first = epoch == 2 and once(f"{folder}/trial-{trial.number}")
        if first and any(once(f"{folder}/death-{n}") for n in range(3)):
            os.kill(os.getpid(), signal.SIGKILL)

    train = make_train(tmp_path, die_once)
    study = bapi.tune(train, workers=2, storage=tmp_path / "s", executor=bapi_ray.executor(), retries=0, **LOOP)
    check_curves(study)
    counts = collections.Counter(notes(tmp_path / "trained"))
    assert sum(counts.values()) == 63 and {epoch for (_, epoch), n in counts.items() if n > 1} == {"2"}
    lost = [row for row in study.ledger() if row["kind"] == "unfinished"]
    assert not lost, "epochs are counted, and none that was not reported costs anything"


def test_a_node_that_is_lost_puts_its_segments_back(tmp_path):
    """On a cluster of its own: the training continues on the nodes that are left."""
    script = tmp_path / "script.py"
    script.write_text(NODE_LOST)
    paths = [str(pathlib.Path(bapi.__file__).parents[1]), str(pathlib.Path(__file__).parent)]
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert "finished 60.0 {''}" in done.stdout, done.stdout + done.stderr
    trained = notes(tmp_path / "trained")
    assert len(set(trained)) == 60 and len(trained) <= 62, "at most what two workers were training is repeated"


NODE_LOST = """
import pathlib
import threading
import time

import bapi
import ray
from bapi.integrations.ray import executor
from ray.cluster_utils import Cluster
from test_ray import LOOP, make_train

HERE = pathlib.Path(__file__).parent


def slow(trial, epoch):
    time.sleep(0.2)


if __name__ == "__main__":
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    stays, goes = cluster.add_node(num_cpus=2), cluster.add_node(num_cpus=2)
    ray.init(address=cluster.address, log_to_driver=False)

    def lose_a_node():
        book = HERE / "trained"
        while not book.exists() or book.read_text().count("\\n") < 12:
            time.sleep(0.05)
        cluster.remove_node(goes, allow_graceful=False)

    threading.Thread(target=lose_a_node, daemon=True).start()
    spread = executor(scheduling_strategy="SPREAD")
    study = bapi.tune(make_train(HERE, slow), workers=2, storage=HERE / "s", executor=spread, retries=0, **LOOP)
    print(study.state, study.spent, {trial.failure for trial in study.trials})
    ray.shutdown()
    cluster.shutdown()
"""


def test_an_exception_in_an_actor_is_raised_here(local_ray):
    def fails(trial):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine") as raised:
        bapi.tune(fails, executor=bapi_ray.executor(), **LOOP)
    assert 'raise KeyError("mine")' in str(raised.value.__cause__)


def test_waiting_for_resources_costs_nothing(tmp_path, local_ray):
    @ray.remote(num_cpus=3)
    def occupy():
        pathlib.Path(tmp_path, "occupied").touch()
        time.sleep(4)

    def one_epoch(trial):
        if trial.number == 1:
            raise ValueError("that was all")
        trial.report(1, 0.5)

    busy = occupy.remote()
    while not (tmp_path / "occupied").exists():
        time.sleep(0.01)
    begin = time.monotonic()
    with pytest.raises(bapi.TooManyFailures):
        loop = {**LOOP, "budget": "1h", "policy": "one-epoch", "max_failures": 1}
        bapi.tune(one_epoch, storage=tmp_path / "s", executor=bapi_ray.executor(), **loop)
    took = time.monotonic() - begin
    ray.get(busy)
    assert 0 < bapi.open_study(tmp_path / "s").spent < took - 3, "three of the four seconds at least were waited for"


def test_a_function_that_a_node_cannot_load_is_refused(local_ray):
    class Unloadable:
        def __call__(self, trial):
            pass

        def __reduce__(self):
            return __import__, ("no_such_module_of_this_name",)

    with pytest.raises(bapi.InvalidInput, match="cannot load the training function: ModuleNotFoundError"):
        bapi.tune(Unloadable(), executor=bapi_ray.executor(), **LOOP)


def test_a_node_that_does_not_see_the_study_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(bapi_ray, "_PATIENCE", 0.0)
    with pytest.raises(Exception, match="a file system that all nodes of the cluster share"):
        bapi_ray._wait_for_directory(str(tmp_path / "elsewhere"))


def test_another_version_on_a_node_is_refused():
    with pytest.raises(Exception, match="has bapi .*, and the process that called bapi.tune 0.0.1"):
        bapi_ray._Actor().place(0, "0.0.1")


def test_options_that_the_executor_sets_itself_are_refused():
    with pytest.raises(bapi.InvalidInput, match="max_restarts: found 3"):
        bapi_ray.executor(max_restarts=3)


# ---- Ray Tune. Every start of a trial costs Ray a process of its own, so that these studies are small.

SHORT = 3
PAIR = {"budget": "16 epochs", "max_epochs": SHORT, "policy": "hyperband"}


def make_trainable(folder, before_report=lambda config, epoch: None, epochs=SHORT):
    """A function of Ray Tune that counts every epoch it trains, and saves with every report."""

    def train(config):
        import tempfile

        start, checkpoint = 0, tune.get_checkpoint()
        if checkpoint is not None:
            with checkpoint.as_directory() as saved:
                start = int(pathlib.Path(saved, "epoch").read_text())
        for epoch in range(start + 1, epochs + 1):
            note(f"{folder}/trained", tune.get_context().get_trial_id(), epoch)
            before_report(config, epoch)
            with tempfile.TemporaryDirectory() as new:
                pathlib.Path(new, "epoch").write_text(str(epoch))
                tune.report(
                    {"score": value(config["x"], epoch), "epoch": epoch},
                    checkpoint=tune.Checkpoint.from_directory(new),
                )

    return train


def tuner(trainable, plan, folder, max_failures=0, **more):
    config = {"metric": "score", "mode": "max", "num_samples": -1, "max_concurrent_trials": 2, **more}
    return tune.Tuner(
        trainable,
        param_space={"x": tune.uniform(0, 1)},
        tune_config=tune.TuneConfig(search_alg=plan.searcher, scheduler=plan.scheduler, **config),
        run_config=tune.RunConfig(
            name="run",
            storage_path=str(folder / "ray"),
            verbose=0,
            failure_config=tune.FailureConfig(max_failures=max_failures),
        ),
    )


def planner(folder, **more):
    return bapi_ray.planner(**{**PAIR, "storage": folder / "s", **more})


def test_the_pair_trains_what_the_budget_pays_and_nothing_twice(tmp_path, local_ray):
    plan = planner(tmp_path)
    results = tuner(make_trainable(tmp_path), plan, tmp_path).fit()
    check_curves(plan.study, 16)
    trained = notes(tmp_path / "trained")
    assert len(trained) == len(set(trained)) == 16, "what was paused continued from its checkpoint"
    assert len(plan.study.trials) == len(results) > 3, "more than two were paused at a time, and new ones came"
    assert {result.metrics["epoch"] for result in results} >= {1, SHORT}
    assert plan.study.best.value == pytest.approx(results.get_best_result(scope="all").metrics["score"])


def test_an_actor_that_dies_is_put_back_if_ray_may_retry(tmp_path, local_ray):
    folder = str(tmp_path)

    def die_once(config, epoch):
        if epoch == 2 and once(f"{folder}/died"):
            os.kill(os.getpid(), signal.SIGKILL)

    plan = planner(tmp_path)
    tuner(make_trainable(tmp_path, die_once), plan, tmp_path, max_failures=2).fit()
    check_curves(plan.study, 16)
    assert len(notes(tmp_path / "trained")) == 17


def test_what_ray_does_not_retry_has_failed(tmp_path, local_ray):
    def fails(config, epoch):
        if epoch == 2 and config["x"] < 0.5:
            raise ValueError("too small")

    plan = planner(tmp_path)
    tuner(make_trainable(tmp_path, fails), plan, tmp_path).fit()
    assert plan.study.state == "finished" and plan.study.spent == 16
    failures = [trial.failure for trial in plan.study.trials if trial.state == "failed"]
    assert failures and all("too small" in failure for failure in failures)


def test_a_function_that_returns_early_completes_its_trial(tmp_path, local_ray):
    plan = planner(tmp_path, policy="random")
    tuner(make_trainable(tmp_path, epochs=2), plan, tmp_path).fit()
    assert plan.study.spent == 16
    assert {(trial.state, trial.epochs) for trial in plan.study.trials[:6]} == {("completed", 2)}
    assert len(notes(tmp_path / "trained")) == 16


RESTORED = """
import os
import pathlib
import signal
import sys
import time

import ray
from ray import tune
from test_ray import make_trainable, notes, planner, tuner

HERE = pathlib.Path(__file__).parent


def slow(config, epoch):
    time.sleep(0.3)


if __name__ == "__main__":
    paths = os.environ["PYTHONPATH"]
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": paths}})
    trainable = make_trainable(HERE, slow)
    path = HERE / "ray" / "run"
    if sys.argv[1] == "restore":
        again = tune.Tuner.restore(
            str(path), trainable=trainable, param_space={"x": tune.uniform(0, 1)}, resume_unfinished=True
        )
        again.fit()
    else:
        tuner(trainable, planner(HERE), HERE).fit()
    print("over")
"""


def test_a_search_that_was_killed_is_restored_from_the_log(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(RESTORED)
    paths = [str(pathlib.Path(bapi.__file__).parents[1]), str(pathlib.Path(__file__).parent)]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "TUNE_GLOBAL_CHECKPOINT_S": "1",
        "RAY_DEDUP_LOGS": "0",
    }
    book = tmp_path / "trained"
    first = subprocess.Popen(
        [sys.executable, str(script), "begin"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    deadline = time.monotonic() + PATIENCE
    while not book.exists() or len(notes(book)) < 7:
        assert first.poll() is None, first.stdout.read().decode()
        assert time.monotonic() < deadline
        time.sleep(0.1)
    first.kill()
    first.communicate()
    before = bapi.open_study(tmp_path / "s").spent
    assert 0 < before < 16
    done = subprocess.run(
        [sys.executable, str(script), "restore"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert "over" in done.stdout, done.stdout + done.stderr
    study = bapi.open_study(tmp_path / "s")
    assert study.state == "finished" and study.spent == 16
    assert sum(row["cost"] for row in study.ledger()) == 16
    assert not any(trial.failure for trial in study.trials)


def test_spaces_of_ray_tune_are_understood():
    from bapi.integrations._ray_tune import _Space

    space = _Space(
        {
            "lr": tune.loguniform(1e-5, 1),
            "layers": tune.randint(1, 5),
            "width": tune.lograndint(16, 513),
            "drop": tune.quniform(0, 0.5, 0.1),
            "step": tune.qrandint(10, 30, 10),
            "kind": tune.choice(["a", "b"]),
            "object": tune.choice([(1, 2), (3, 4)]),
            "fixed": 7,
            "inner": {"momentum": tune.uniform(0, 0.99)},
        }
    )
    domains = space.domains()
    assert domains["lr"] == bapi.Float(1e-5, 1, log=True)
    assert domains["layers"] == bapi.Int(1, 4), "Ray leaves the upper bound out"
    assert domains["width"] == bapi.Int(16, 512, log=True)
    assert domains["drop"].options == pytest.approx([0, 0.1, 0.2, 0.3, 0.4, 0.5])
    assert domains["step"].options == [10, 20, 30], "and not, where it steps"
    assert domains["kind"].options == ["a", "b"] and domains["object"].options == [0, 1]
    assert domains["inner/momentum"] == bapi.Float(0, 0.99)
    assert "fixed" not in domains
    values = {"lr": 0.1, "layers": 2, "width": 32, "drop": 0.1, "step": 10, "kind": "b", "object": 1}
    config = space.config({**values, "inner/momentum": 0.5})
    assert config["object"] == (3, 4) and config["inner"] == {"momentum": 0.5}
    for wrong, message in [
        ({"x": tune.grid_search([1, 2])}, "x: found tune.grid_search"),
        ({"x": tune.randn(0, 1)}, "x: found Float with _Normal"),
        ({"x": tune.sample_from(lambda: 1)}, "x: found Function"),
        ({"x": 1}, "nothing to tune"),
    ]:
        with pytest.raises(bapi.InvalidInput, match=message):
            _Space(wrong).domains()


def test_mistakes_are_named(tmp_path, local_ray):
    trainable = make_trainable(tmp_path)
    with pytest.raises(bapi.InvalidInput, match="num_samples: found 4; expected"):
        tuner(trainable, planner(tmp_path), tmp_path, num_samples=4).fit()
    with pytest.raises(Exception, match="metric and mode: not given"):
        tuner(trainable, planner(tmp_path), tmp_path, metric=None, mode=None).fit()


def test_the_pair_can_be_copied_to_disk(tmp_path):
    plan = planner(tmp_path)
    copied = pickle.loads(pickle.dumps({"search_alg": plan.searcher, "scheduler": plan.scheduler}))
    assert copied["search_alg"]._planner is copied["scheduler"]._planner
    assert copied["search_alg"]._planner.study is None
