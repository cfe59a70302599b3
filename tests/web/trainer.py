"""A training program for the page's tests: quick, with colours, markup and directions of writing in its output."""

import json
import math
import os
import sys
import time

lr, units, kind, delay, fail = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3], float(sys.argv[4]), float(sys.argv[5])
state = os.path.join(os.environ["BAPI_CHECKPOINT_DIR"], "epoch")
done = int(open(state).read()) if os.path.exists(state) else 0
print("\x1b[31mred\x1b[0m <img src=x onerror=alert(1)> \u202egnp.exe \x1b]8;;http://evil\x07link\x1b]8;;\x07 \x00 end", flush=True)
if fail and (units % 100) / 100 < fail:
    print("x" * 100_000)
    sys.exit("<b>it failed</b>")
for epoch in range(done + 1, int(os.environ["BAPI_MAX_EPOCH"]) + 1):
    time.sleep(delay)
    top = 0.9 - 0.05 * (math.log10(lr) + 1.5) ** 2 - (0.03 if kind == "sgd" else 0)
    value = 0.1 + (max(0.2, top) - 0.1) * (1 - math.exp(-0.3 * epoch)) + 0.003 * math.sin(units * epoch)
    with open(state + ".new", "w") as file:
        file.write(str(epoch))
    os.replace(state + ".new", state)
    print("bapi:", json.dumps({"epoch": epoch, "accuracy": value, "loss": 1 - value}), flush=True)
