#!/usr/bin/env python3
"""MATLAB's arrays become the IDX files that train_network reads: to_idx.py on arrays made up here."""

import pathlib
import struct
import sys
import tempfile
import unittest

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import to_idx  # noqa: E402


def read_idx(path):
    data = path.read_bytes()
    sizes = struct.unpack_from(f">{data[3]}I", data, 4)
    return numpy.frombuffer(data, "uint8", offset=4 + 4 * len(sizes)).reshape(sizes)


class ToIdx(unittest.TestCase):
    def test_columns_of_faces_become_upright_images_of_their_subjects(self):
        draw = numpy.random.default_rng(1)
        faces = draw.integers(0, 256, (20, 64, 64))   # image, row, column
        columns = numpy.stack([face.ravel(order="F") for face in faces], axis=1)
        images, subjects, *files = to_idx.faces({"faces": columns.astype(float)})
        self.assertTrue((images == faces).all())
        self.assertEqual(subjects, [0] * 10 + [1] * 10)
        self.assertEqual(files, ["faces-idx3-ubyte", "subjects-idx1-ubyte"])

    def test_digits_are_images_by_channel_and_ten_is_zero(self):
        draw = numpy.random.default_rng(2)
        digits = draw.integers(0, 256, (5, 3, 32, 32))   # image, channel, row, column
        images, labels, *_ = to_idx.digits({"X": digits.transpose(2, 3, 1, 0), "y": numpy.array([[1], [10], [3], [9], [10]])})
        self.assertTrue((images == digits).all())
        self.assertEqual(list(labels), [1, 0, 3, 9, 0])

    def test_files_hold_sizes_and_bytes(self):
        array = numpy.arange(2 * 3 * 4).reshape(2, 3, 4)
        with tempfile.TemporaryDirectory() as scratch:
            path = pathlib.Path(scratch) / "images"
            to_idx.write_idx(path, array.astype(float))
            self.assertTrue((read_idx(path) == array).all())


if __name__ == "__main__":
    unittest.main()
