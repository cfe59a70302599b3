"""What the hooks of this directory have in common: the trials that they log."""

import json
import os
import subprocess
import sys
from typing import NamedTuple


class Trial(NamedTuple):
    name: str  # mlp-0007
    state: str
    config: dict
    curve: list  # of (epoch, {metric: value}); a value that is not finite is None


def told(*command):
    program = os.environ.get("BAPI_PROGRAM", "bapi")
    return json.loads(subprocess.run([program, *command, "-f", "json"], check=True, stdout=subprocess.PIPE).stdout)


def trials():
    """(study, directory, trials): the trial of a hook's event; all with a curve at the end of the study, or by hand."""
    by_hand = len(sys.argv) > 1
    place = sys.argv[1] if by_hand else os.environ["BAPI_STUDY_PLACE"]
    if not by_hand and "BAPI_TRIAL" in os.environ:
        study, metric = os.environ["BAPI_STUDY"], os.environ["BAPI_METRIC"]
        records = [told("show", place, os.environ["BAPI_TRIAL"])]
    else:
        export = told("export", place)
        study, metric = export["study"]["name"], export["study"]["metric"]
        records = [record for record in export["trials"] if record["curve"]]
    found = []
    for record in records:
        curve = [(point["epoch"], {metric: point["value"], **point.get("metrics", {})}) for point in record["curve"]]
        found.append(Trial(f"{study}-{record['trial']:04}", record["state"], record["config"], curve))
    directory = place if by_hand else os.environ["BAPI_STUDY_DIR"]
    return study, directory if os.path.isdir(directory) else ".", found  # a database is no place for files
