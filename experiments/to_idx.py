#!/usr/bin/env python3
"""Converts the MATLAB files of the Olivetti faces and SVHN to the IDX files that train_network reads. Needs scipy.

  experiments/to_idx.py olivetti olivettifaces.mat DATA/olivetti
  experiments/to_idx.py svhn train_32x32.mat DATA/svhn
"""

import pathlib
import struct
import sys


def write_idx(path, array):
    sizes = struct.pack(f">{array.ndim}I", *array.shape)
    path.write_bytes(bytes([0, 0, 8, array.ndim]) + sizes + array.astype("uint8").tobytes())


def faces(mat):
    """4096 x 400, each column an image by columns; ten images of each subject in order."""
    images = mat["faces"].T.reshape(-1, 64, 64).transpose(0, 2, 1)
    return images, [i // 10 for i in range(len(images))], "faces-idx3-ubyte", "subjects-idx1-ubyte"


def digits(mat):
    """32 x 32 x 3 x n; the digit 0 has the label 10."""
    images = mat["X"].transpose(3, 2, 0, 1)
    return images, mat["y"].ravel() % 10, "train-images-idx4-ubyte", "train-labels-idx1-ubyte"


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("olivetti", "svhn"):
        sys.exit(__doc__)
    import numpy
    import scipy.io

    images, labels, image_file, label_file = {"olivetti": faces, "svhn": digits}[sys.argv[1]](
        scipy.io.loadmat(sys.argv[2]))
    folder = pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    write_idx(folder / image_file, numpy.ascontiguousarray(images))
    write_idx(folder / label_file, numpy.asarray(labels))


if __name__ == "__main__":
    main()
