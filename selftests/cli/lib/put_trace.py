#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""put_trace.py STORE [overlap]: gives run 1 of the store a trace of its classes 1 and 2, laid out
as in userspace/store/rows.h. With overlap each of 200 locks is held into the time of the next."""
import sqlite3
import struct
import sys

ACQUIRED, RELEASED, WAITED, GAVE_UP, LOST = range(5)
A, B = 1, 2  # classes
SHARED, TRY, SOFTIRQ, IRQ_OFF = 1 << 20, 1 << 22, 1 << 23, 1 << 25
TASKS = [(10, 10, b"opener"), (20, 20, b"worker"), (21, 20, b"\xff\x1b<b>" + b"x" * 11), (0, 0, b"swapper/1")]


def event(time, kind, pid, val, lock=0xA0, ns=0, cpu=0, code=1):
    return struct.pack("<QQQIIIHBB", time, ns, lock, val, code, pid, cpu, kind, 0)


def usual():
    return [
        # One within the other.
        event(1000, ACQUIRED, 10, A),
        event(1100, ACQUIRED, 10, B, lock=0xB0),
        event(1200, RELEASED, 10, B, lock=0xB0, ns=100),
        event(1300, RELEASED, 10, A, ns=300),
        # Released in the order of acquiring.
        event(2000, ACQUIRED, 20, A),
        event(2100, ACQUIRED, 20, B | SHARED, lock=0xB0),
        event(2200, RELEASED, 20, A, ns=200),
        event(2300, RELEASED, 20, B | SHARED, lock=0xB0, ns=200),
        # A wait of a function that cannot fail, and of two that can.
        event(3000, ACQUIRED, 21, A, lock=0xA1),
        event(3500, WAITED, 21, A, lock=0xA1, ns=480),
        event(3600, RELEASED, 21, A, lock=0xA1, ns=100),
        event(3700, GAVE_UP, 21, B, lock=0xB1, ns=50),
        event(3800, WAITED, 21, B, lock=0xB1, ns=40),
        event(3800, ACQUIRED, 21, B | TRY, lock=0xB1),
        event(3900, RELEASED, 21, B | TRY, lock=0xB1, ns=100),
        # An interrupt, and an idle task.
        event(4000, ACQUIRED, 10, A | SOFTIRQ, cpu=1),
        event(4100, RELEASED, 10, A | SOFTIRQ, cpu=1, ns=100),
        event(4200, ACQUIRED, 0, B | IRQ_OFF, lock=0xB2, cpu=1),
        event(4300, RELEASED, 0, B | IRQ_OFF, lock=0xB2, cpu=1, ns=100),
        # Held before the trace; and to its end.
        event(4400, RELEASED, 10, B, lock=0xB3, ns=4000),
        event(4500, ACQUIRED, 10, A),
    ]


def lossy():
    return [
        event(6000, ACQUIRED, 10, A),
        event(6100, ACQUIRED, 20, B, lock=0xB0),
        event(6200, LOST, 0, 0, lock=0, ns=77, cpu=1, code=0),
        event(6300, RELEASED, 20, B, lock=0xB0, ns=190),
    ]


def main():
    db = sqlite3.connect(sys.argv[1])
    tasks = b"".join(struct.pack("<II16s", *task) for task in TASKS)
    if "overlap" in sys.argv[2:]:
        events = []
        for i in range(200):
            events.append(event(1000 + i, RELEASED, 10, A, lock=i + 1, ns=2**64 - 1 if i == 7 else 500))
        rows = [(0, 1, 9000, events)]
    else:
        # Two rows that belong together, and one of another recorder.
        events = usual()
        rows = [(0, 900, 3000, events[:9]), (1, 3000, 5000, events[9:]), (2, 5900, 7000, lossy())]
    for n, begin, end, events in rows:
        db.execute(
            "INSERT INTO trace VALUES(1, ?, ?, ?, ?, ?, ?)",
            (n, begin, end, 10**18 + end, b"".join(events), tasks),
        )
    db.execute("INSERT OR REPLACE INTO counter VALUES(1, 'trace_overflow', 77)")
    db.commit()


main()
