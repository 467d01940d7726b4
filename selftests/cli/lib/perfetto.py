#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""perfetto.py FILE: the faults of a trace, by the rules that Perfetto's trace_processor has for
track events; prints nothing if there are none. perfetto.py --slices FILE: a line for each slice
and instant: track, category, name, begin, duration, arguments as JSON, separated by tabs. Without
Perfetto's library: numbers are those of protos/perfetto/trace/trace_packet.proto."""
import json
import sys

CLEARED, NEEDS_STATE = 1, 2
BEGIN, END, INSTANT = 1, 2, 3
# Tables of names, by their fields of InternedData.
CATEGORIES, NAMES, ARGUMENTS, LOCATIONS, STRINGS = 1, 2, 3, 4, 29


class Fault(Exception):
    pass


def require(holds, what):
    if not holds:
        raise Fault(what)


def varint(data, at):
    value = shift = 0
    while True:
        require(at < len(data) and shift < 70, "a varint has no end")
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            require(value < 1 << 64, "a varint is too large")
            return value, at


def fields(data):
    """Pairs of number and value: an integer or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        require(number > 0 and wire in (0, 2), f"field {number} of type {wire}")
        value, at = varint(data, at)
        if wire == 2:
            require(at + value <= len(data), f"field {number} is cut off")
            value, at = data[at : at + value], at + value
        yield number, value


def once(data):
    """The same of a message in which no field is repeated."""
    out = {}
    for number, value in fields(data):
        require(number not in out, f"field {number} twice")
        out[number] = value
    return out


def text(data):
    require(isinstance(data, bytes), "a number in place of text")
    try:
        line = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Fault(f"no UTF-8: {data[:60]!r}") from error
    require(all(ord(c) >= 32 and ord(c) != 127 for c in line), f"control characters: {line[:60]!r}")
    return line


class Trace:
    def __init__(self):
        self.tracks, self.threads, self.processes = {}, set(), set()
        self.names = {table: {} for table in (CATEGORIES, NAMES, ARGUMENTS, LOCATIONS, STRINGS)}
        self.open, self.slices = {}, []
        self.sequence = self.clock = None
        self.clocks = set()
        self.last = 0

    def look_up(self, table, iid):
        require(iid in self.names[table], f"id {iid} of table {table} is not defined")
        return self.names[table][iid]

    def intern(self, data):
        for table, entry in fields(data):
            require(table in self.names, f"an unknown table {table}")
            entry = once(entry)
            iid = entry.get(1, 0)
            require(iid and iid not in self.names[table], f"id {iid} of table {table} again")
            if table == LOCATIONS:
                self.names[table][iid] = [text(entry[2]), text(entry[3]), entry.get(4, 0)]
            else:
                self.names[table][iid] = text(entry[2])

    def describe(self, data):
        track = once(data)
        uuid, parent = track.get(1, 0), track.get(5, 0)
        require(uuid and uuid not in self.tracks, f"track {uuid} again")
        require(not parent or parent in self.tracks, f"track {uuid} has no parent {parent}")
        above = self.tracks[parent]["path"] + "/" if parent else ""
        mine = {"pid": None}
        if 3 in track:
            process = once(track[3])
            require(process[1] not in self.processes, f"process {process[1]} again")
            self.processes.add(process[1])
            mine = {"pid": process[1], "path": f"{text(process[6])} {process[1]}"}
        elif 4 in track:
            thread = once(track[4])
            require(0 < thread[2] < 1 << 31 and 0 < thread[1] < 1 << 31, "no number of a thread")
            require((thread[1], thread[2]) not in self.threads, f"thread {thread[2]} again")
            require(parent and self.tracks[parent]["pid"] == thread[1], "a thread of no process")
            self.threads.add((thread[1], thread[2]))
            mine["path"] = f"{above}{text(thread[5])} {thread[2]}"
        else:
            mine["path"] = above + text(track[2])
        self.tracks[uuid] = mine

    def event(self, time, data):
        event, arguments = {}, {}
        for number, value in fields(data):
            if number == 4:
                argument = once(value)
                name = self.look_up(ARGUMENTS, argument.pop(1))
                (kind, value), = argument.items()
                require(name not in arguments, f"argument {name} twice")
                arguments[name] = (
                    self.look_up(STRINGS, value) if kind == 17 else bool(value) if kind == 2 else value
                )
            else:
                require(number not in event, f"field {number} of an event twice")
                event[number] = value
        if 34 in event:
            arguments["location"] = self.look_up(LOCATIONS, event[34])
        track, kind = event[11], event[9]
        require(track in self.tracks, f"an event on track {track}, which is not described")
        stack = self.open.setdefault(track, [])
        path = self.tracks[track]["path"]
        if kind == END:
            require(stack, f"an end without a beginning at {time} on {path}")
            self.slices[stack.pop()][4] = time
            return
        require(kind in (BEGIN, INSTANT), f"an event of type {kind}")
        if kind == BEGIN:
            stack.append(len(self.slices))
        line = [path, self.look_up(CATEGORIES, event[3]), self.look_up(NAMES, event[10])]
        self.slices.append(line + [time, time, arguments])

    def packet(self, data):
        packet = once(data)
        first = self.sequence is None
        sequence, flags = packet.get(10, 0), packet.get(13, 0)
        if first:
            self.sequence = sequence
            require(sequence and flags & CLEARED, "the state of the sequence is not cleared")
            self.clock = once(packet[59])[58]
        require(sequence == self.sequence, f"sequence {sequence}")
        if 6 in packet:
            clocks = [value for number, value in fields(packet[6]) if number == 1]
            self.clocks |= {once(clock)[1] for clock in clocks}
            require((2, self.clock) in list(fields(packet[6])), "another clock is the primary one")
        if 12 in packet:
            self.intern(packet[12])
        if 60 in packet:
            self.describe(packet[60])
        if 11 in packet:
            require(flags & NEEDS_STATE, "an event may be read without the state it needs")
            require(self.clock in self.clocks, "a time of an unknown clock")
            time = packet[8]
            require(self.last <= time < 1 << 63, f"time {time} after {self.last}")
            self.last = time
            self.event(time, packet[11])

    def read(self, data):
        for number, value in fields(data):
            require(number == 1, f"field {number} of a trace")
            self.packet(value)
        require(self.sequence is not None, "no packets")
        for track, stack in self.open.items():
            require(not stack, f"no end of a slice on {self.tracks[track]['path']}")


def main():
    with open(sys.argv[-1], "rb") as file:
        data = file.read()
    trace = Trace()
    try:
        trace.read(data)
    except (Fault, KeyError, ValueError, TypeError) as fault:
        print(f"{sys.argv[-1]}: {fault!r}" if not isinstance(fault, Fault) else fault)
        return 1
    if sys.argv[1] == "--slices":
        for path, category, name, begin, end, arguments in trace.slices:
            print(path, category, name, begin, end - begin, json.dumps(arguments, sort_keys=True), sep="\t")
    return 0


if __name__ == "__main__":
    sys.exit(main())
