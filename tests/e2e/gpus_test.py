"""Workers and their GPUs, seen by training programs that write down what they were given."""

import collections
import json
import os
import sys

from harness import EndToEnd, main

WITNESS = """
import json, os, time
seen = {name: os.environ.get(name) for name in (
    "BAPI_WORKER", "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ONEAPI_DEVICE_SELECTOR")}
begin = time.time()
for epoch in range(int(os.environ["BAPI_FROM_EPOCH"]) + 1, int(os.environ["BAPI_MAX_EPOCH"]) + 1):
    time.sleep(0.02)
    print("bapi:", json.dumps({"epoch": epoch, "accuracy": epoch / 10}), flush=True)
    if epoch == int(os.environ["BAPI_UNTIL_EPOCH"]):
        break
with open("seen.jsonl", "a") as file:
    file.write(json.dumps({**seen, "begin": begin, "end": time.time()}) + "\\n")
"""

STUDY = """
name: gpu
command: ["{python}", witness.py]
metric: {{name: accuracy, goal: maximize}}
budget: "24 epochs"
epochs: 2
policy: random
parameters: {{x: {{min: 0.0, max: 1.0}}}}
{more}
"""


class Gpus(EndToEnd):
    def environment(self):
        hidden = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ONEAPI_DEVICE_SELECTOR")
        return {name: value for name, value in super().environment().items() if name not in hidden}

    def run_study(self, more, **environment):
        self.write("witness.py", WITNESS)
        self.write("study.yaml", STUDY.format(python=sys.executable, more=more))
        self.bapi("run", "study.yaml", "--quiet", env={**self.environment(), **environment})
        with open(self.path("seen.jsonl")) as file:
            return [json.loads(line) for line in file]

    def check_slots(self, seen, workers):
        """Worker numbers are those of the slots, and no two programs have the same one at a time."""
        self.assertEqual({int(one["BAPI_WORKER"]) for one in seen}, set(range(workers)))
        by_worker = collections.defaultdict(list)
        for one in seen:
            by_worker[one["BAPI_WORKER"]].append((one["begin"], one["end"]))
        for intervals in by_worker.values():
            intervals.sort()
            for (_, end), (begin, _) in zip(intervals, intervals[1:]):
                self.assertLessEqual(end, begin)

    def test_every_worker_has_a_gpu_of_its_own(self):
        seen = self.run_study("gpus: [0, 3]")
        self.check_slots(seen, 2)
        for one in seen:
            device = ["0", "3"][int(one["BAPI_WORKER"])]
            self.assertEqual(one["CUDA_VISIBLE_DEVICES"], device)
            self.assertEqual(one["HIP_VISIBLE_DEVICES"], device)
            self.assertEqual(one["ONEAPI_DEVICE_SELECTOR"], f"level_zero:{device}")
        with open(self.path("gpu.bapi", "trials", "0001", "log")) as file:
            self.assertIn("worker 1 on GPU 3", file.read())

    def test_workers_may_share_a_gpu(self):
        seen = self.run_study("gpus: {devices: [GPU-a1, GPU-b2], per_gpu: 2}")
        self.check_slots(seen, 4)
        self.assertEqual(
            {(one["BAPI_WORKER"], one["CUDA_VISIBLE_DEVICES"], one["ONEAPI_DEVICE_SELECTOR"]) for one in seen},
            {("0", "GPU-a1", None), ("1", "GPU-b2", None), ("2", "GPU-a1", None), ("3", "GPU-b2", None)},
        )

    def test_auto_divides_what_the_environment_leaves(self):
        seen = self.run_study("gpus: auto", CUDA_VISIBLE_DEVICES="2,5")
        self.assertEqual({(one["BAPI_WORKER"], one["CUDA_VISIBLE_DEVICES"]) for one in seen}, {("0", "2"), ("1", "5")})

    def test_without_gpus_a_worker_still_has_a_number(self):
        seen = self.run_study("workers: 3")
        self.check_slots(seen, 3)
        self.assertEqual({one["CUDA_VISIBLE_DEVICES"] for one in seen}, {None})

    def test_missing_gpus_are_told_before_a_study_is_made(self):
        self.write("witness.py", WITNESS)
        self.write("study.yaml", STUDY.format(python=sys.executable, more="gpus: auto"))
        result = self.bapi("run", "study.yaml", code=2, env={**self.environment(), "CUDA_VISIBLE_DEVICES": "-1"})
        self.assertIn('CUDA_VISIBLE_DEVICES="-1" hides them all', result.stderr)
        self.assertFalse(os.path.exists(self.path("gpu.bapi")))

    def test_the_doctor_says_which_gpus_and_how_many_workers_there_would_be(self):
        self.write("witness.py", WITNESS)
        self.write("study.yaml", STUDY.format(python=sys.executable, more="gpus: {devices: auto, per_gpu: 2}"))
        said = self.bapi("doctor", "study.yaml", env={**self.environment(), "ROCR_VISIBLE_DEVICES": "2,5"}).stdout
        self.assertRegex(said, r"policy +random, 4 workers\ngpus +0, 1; up to 2 workers each\n")

    def test_more_workers_than_places_are_refused(self):
        self.write("study.yaml", STUDY.format(python=sys.executable, more="gpus: [0, 1]"))
        result = self.bapi("run", "study.yaml", "--workers", "3", code=2)
        self.assertIn("workers: 3, but gpus has places for 2", result.stderr)


if __name__ == "__main__":
    main()
