#!/usr/bin/env python3
"""The convolutional network of examples/cnn, in C++ and in Python, on images made up here.

Usage: examples_test.py TRAIN_CNN
"""

import gzip
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unittest

TRAIN_CNN = ""
ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = "/usr/bin/python3"   # the one that Debian's python3-torch belongs to
CONFIGURATION = ["--examples", "64", "--lr", "0.05", "--momentum", "0.9", "--l2", "1e-5", "--batch", "16",
                 "--filters", "4", "--dense", "16"]


def write_idx(path, sizes, data):
    path.write_bytes(gzip.compress(bytes([0, 0, 8, len(sizes)]) + struct.pack(f">{len(sizes)}I", *sizes) + data))


def write_images(directory):
    """Images whose brightness is their class."""
    draw = random.Random(1)
    labels = [draw.randrange(10) for _ in range(96)]
    pixels = b"".join(bytes(min(255, 25 * label + draw.randrange(20)) for _ in range(3 * 32 * 32)) for label in labels)
    write_idx(directory / "train-images-idx4-ubyte.gz", [96, 3, 32, 32], pixels)
    write_idx(directory / "train-labels-idx1-ubyte.gz", [96], bytes(labels))


class Laws:
    """Of a training program, whatever it is written in."""

    command = []

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.directory = pathlib.Path(scratch.name)
        write_images(self.directory)

    def train(self, epochs, checkpoint, reported=0):
        environment = {**os.environ, "BAPI_DATA": str(self.directory), "BAPI_MAX_EPOCH": str(epochs), "BAPI_SEED": "3",
                       "BAPI_FROM_EPOCH": str(reported)}
        if checkpoint:
            (self.directory / checkpoint).mkdir(exist_ok=True)
            environment["BAPI_CHECKPOINT_DIR"] = str(self.directory / checkpoint)
        answer = subprocess.run([*self.command, *CONFIGURATION], env=environment, capture_output=True, text=True)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return answer.stdout.splitlines()

    def test_a_resumed_training_equals_an_uninterrupted_one(self):
        whole = self.train(6, None)
        self.assertEqual(len(whole), 6)
        self.assertEqual(self.train(2, "c") + self.train(6, "c", reported=2), whole)

    def test_an_epoch_that_was_saved_and_not_reported_is_reported_again(self):
        first = self.train(3, "c")
        self.assertEqual(self.train(3, "c", reported=1), first[1:])

    def test_missing_data_are_an_error(self):
        answer = subprocess.run([*self.command, "--data", str(self.directory / "none"), *CONFIGURATION],
                                capture_output=True, text=True)
        self.assertNotEqual(answer.returncode, 0)
        self.assertIn("train-images-idx4-ubyte.gz", answer.stderr)


class InCpp(Laws, unittest.TestCase):
    @property
    def command(self):
        return [TRAIN_CNN]


class InPython(Laws, unittest.TestCase):
    command = [PYTHON, str(ROOT / "examples/cnn/train.py")]

    @classmethod
    def setUpClass(cls):
        if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode != 0:
            raise unittest.SkipTest("without python3-torch")

    def test_it_has_sixty_lines(self):
        self.assertLessEqual(len((ROOT / "examples/cnn/train.py").read_text().splitlines()), 60)


if __name__ == "__main__":
    TRAIN_CNN = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
