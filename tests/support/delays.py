"""How long this machine keeps a process waiting that has something to do: what bapi cannot be blamed for."""

import threading
import time


class Delays(threading.Thread):
    STEP = 0.02  # seconds

    def __init__(self):
        super().__init__(daemon=True)
        self.seen = []  # (when, seconds)
        self.start()

    def run(self):
        while True:
            begin = time.monotonic()
            time.sleep(self.STEP)
            end = time.monotonic()
            if end - begin > 2 * self.STEP:
                self.seen.append((end, end - begin - self.STEP))

    def worst_since(self, begin):
        return max((late for when, late in self.seen if when >= begin), default=0.0)


# An end takes a few steps, each of which the machine may delay: the controller or its guardian wakes, the program is
# given its signal, it dies, its end is seen.
STEPS_TO_AN_END = 4
KILL_LATENCY = 0.1  # seconds per worker: kKillLatency of bapi/control/allowance.h


def latency(delays, begin, stated=KILL_LATENCY):
    """Seconds per worker by which a budget in seconds may be passed on a machine that was this busy since `begin`."""
    return stated + STEPS_TO_AN_END * delays.worst_since(begin)
