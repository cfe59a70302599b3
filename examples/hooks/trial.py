"""What the hooks of this directory have in common: the trial that they are told of, with its curve."""

import json
import os
import subprocess


def trial():
    """(name, configuration, [(epoch, {metric: value}), ...]) of the trial that this hook was called for."""
    number = os.environ["BAPI_TRIAL"]
    program = os.environ.get("BAPI", "bapi")
    shown = subprocess.run(
        [program, "show", os.environ["BAPI_STUDY_DIR"], number, "-f", "json"], check=True, stdout=subprocess.PIPE
    )
    record = json.loads(shown.stdout)
    curve = [
        (point["epoch"], {os.environ["BAPI_METRIC"]: point["value"], **point.get("metrics", {})})
        for point in record["curve"]
    ]
    return f"{os.environ['BAPI_STUDY']}-{int(number):04}", record["config"], curve
