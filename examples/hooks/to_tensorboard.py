#!/usr/bin/env python3
"""Writes the curve of each trial as an event file of TensorBoard, without TensorFlow.

    hooks: {trial_end: [python3, to_tensorboard.py], study_end: [python3, to_tensorboard.py]}
    tensorboard --logdir NAME.bapi/tensorboard

or afterwards: python3 to_tensorboard.py mlp.bapi. Of a study in a database, that writes to tensorboard/ here.

An event file is a sequence of records: length, checksum of the length, bytes, checksum of the bytes; the bytes are an
Event of tensorflow/core/util/event.proto: wall_time = 1, step = 2, file_version = 3, summary = 5 with values (1) of
tag = 1 and simple_value = 2. Checksums are masked CRC-32C.
"""

import os
import pathlib
import struct
import time

from trials import trials


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def record(data):
    length = struct.pack("<Q", len(data))
    return length + masked(length) + data + masked(data)


def varint(number):
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def text(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def event(time, step, rest):
    return record(b"\x09" + struct.pack("<d", time) + b"\x10" + varint(step) + rest)


def scalar(tag, value):
    return text(5, text(1, text(1, tag.encode()) + b"\x15" + struct.pack("<f", value)))


def write(file, curve, time):
    data = event(time, 0, text(3, b"brain.Event:2"))
    for epoch, metrics in curve:
        for name, value in metrics.items():
            if value is not None:  # NaN is null in JSON
                data += event(time, epoch, scalar(name, value))
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_suffix(".new")
    beside.write_bytes(data)
    os.replace(beside, file)


if __name__ == "__main__":
    _, place, found = trials()
    for trial in found:
        write(pathlib.Path(place) / "tensorboard" / trial.name / "events.out.tfevents.0.bapi", trial.curve, time.time())
