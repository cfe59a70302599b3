#!/usr/bin/env python3
"""database.py BAPI DIR: starts a database of its own in DIR, prints its address, and stops it when its input ends.

Prints the reason instead and ends with 77 where there can be none.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from private_database import PrivateDatabase, missing  # noqa: E402

reason = missing()
if reason:
    print(reason)
    sys.exit(77)
database = PrivateDatabase(sys.argv[1], sys.argv[2])
if not database.url:
    print(database.started.stderr)
    sys.exit(77 if "built without PostgreSQL" in database.started.stderr else 1)
print(database.url, flush=True)
try:
    sys.stdin.read()
finally:
    database.stop()
