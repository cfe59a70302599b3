"""GPUs and numbers of workers, as training functions see them."""

import json
import os

import bapi

NAMES = ("BAPI_WORKER", "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ONEAPI_DEVICE_SELECTOR")
LOOP = {"space": {"x": bapi.Float(0, 1)}, "budget": "12 epochs", "max_epochs": 2, "policy": "random"}

SCRIPT = """
import json, os, sys, time
AT_IMPORT = os.environ.get("CUDA_VISIBLE_DEVICES")
import bapi
def train(trial):
    with open("seen.jsonl", "a") as file:
        file.write(json.dumps([os.environ["BAPI_WORKER"], os.environ.get("CUDA_VISIBLE_DEVICES"), AT_IMPORT]) + "\\n")
    for epoch in trial.epochs():
        time.sleep(0.05)
        trial.report(epoch, 0.5)
if __name__ == "__main__":
    study = bapi.tune(train, space={"x": bapi.Float(0, 1)}, budget="12 epochs", max_epochs=2, policy="random", **ARGUMENTS)
    print(study.state, os.environ.get("CUDA_VISIBLE_DEVICES"))
"""


def witness(seen):
    def train(trial):
        seen.append({name: os.environ.get(name) for name in NAMES})
        for epoch in trial.epochs():
            trial.report(epoch, 0.5)

    return train


def test_in_this_process_the_worker_is_number_0_for_as_long_as_it_trains(monkeypatch):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "9")
    seen = []
    bapi.tune(witness(seen), gpus=[3], **LOOP)
    expected = ["0", "3", "3", "level_zero:3"]
    assert [one[name] for one in seen[:1] for name in NAMES] == expected
    assert [os.environ.get(name) for name in NAMES] == [None, None, "9", None]


def test_without_gpus_nothing_is_said_of_them(monkeypatch):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    seen = []
    bapi.tune(witness(seen), **LOOP)
    assert seen[0] == {"BAPI_WORKER": "0", **dict.fromkeys(NAMES[1:])}


def test_workers_have_their_gpu_before_they_import_anything(tmp_path, run_script, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,5")
    out = run_script(SCRIPT.replace("ARGUMENTS", '{"gpus": "auto"}'))
    assert out.split() == ["finished", "2,5"]
    seen = [json.loads(line) for line in (tmp_path / "seen.jsonl").read_text().splitlines()]
    assert {tuple(one) for one in seen} == {("0", "2", "2"), ("1", "5", "5")}


def test_no_gpu_is_an_error_that_says_what_to_do(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    try:
        bapi.tune(witness([]), gpus="auto", **LOOP)
    except bapi.InvalidInput as error:
        assert "hides them all" in str(error)
    else:
        raise AssertionError("there is no GPU")
