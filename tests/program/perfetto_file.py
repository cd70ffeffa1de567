"""Reads Perfetto's protobuf files without its libraries, by the numbers of fields in perfetto/protos/perfetto/trace/*.proto."""
import struct


def fields(data):
    """(number, value) of each field of a message: int, or bytes of what has a length; 64 bits as bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        tag = varint()
        kind = tag & 7
        if kind == 0:
            yield tag >> 3, varint()
        else:
            size = varint() if kind == 2 else {1: 8, 5: 4}[kind]
            assert at + size <= len(data), "a field is cut off"
            yield tag >> 3, data[at:at + size]
            at += size


def message(data):
    """Fields by number, each a list of values."""
    out = {}
    for number, value in fields(data):
        out.setdefault(number, []).append(value)
    return out


def signed(value):
    return value - (1 << 64) if value >= 1 << 63 else value


class Perfetto:
    """tracks: {uuid: {name, parent, key, counter}}; slices and instants: dicts with track, name, category, start, dur, args, flows,
    ends (of flows); counters: (track, at, value). Raises AssertionError for what trace_processor would drop or count as an error."""

    def __init__(self, data):
        self.tracks, self.slices, self.instants, self.counters, self.clocks = {}, [], [], [], {}
        self._interned, self._open, self._last = {}, {}, {}
        for number, packet in fields(data):
            assert number == 1, number
            self._packet(message(packet))
        assert not any(self._open.values()), "a slice is never closed"

    def _packet(self, packet):
        sequence = packet[10][0]
        if packet.get(13, [0])[0] & 1:  # incremental state is cleared
            self._interned[sequence] = {}
        texts = self._interned.setdefault(sequence, {})
        for interned in packet.get(12, []):
            for kind, entry in fields(interned):
                entry = message(entry)
                assert (kind, entry[1][0]) not in texts, "interned twice"
                texts[kind, entry[1][0]] = entry[2][0].decode()  # strictly UTF-8
        for descriptor in packet.get(60, []):
            descriptor = message(descriptor)
            uuid, parent = descriptor[1][0], descriptor.get(5, [0])[0]
            assert uuid not in self.tracks and (parent == 0 or parent in self.tracks), "a track without its parent, or twice"
            self.tracks[uuid] = {"name": descriptor[2][0].decode(), "parent": parent, "key": descriptor.get(17, [0])[0], "counter": 8 in descriptor}
        for snapshot in packet.get(6, []):
            self.clocks = {message(clock)[1][0]: message(clock)[2][0] for clock in message(snapshot)[1]}
        for event in packet.get(11, []):
            self._event(signed(packet[8][0]), message(event), texts)

    def _event(self, at, event, texts):
        kind, track = event[9][0], event[11][0]
        assert track in self.tracks and at >= 0
        assert self._last.get(track, 0) <= at, "a track's events are not in the order of time"
        self._last[track] = at
        if kind == 4:
            value = signed(event[30][0]) if 30 in event else struct.unpack("<d", event[44][0])[0]
            return self.counters.append((track, at, value))
        stack = self._open.setdefault(track, [])
        if kind == 2:
            opened = stack.pop()
            opened["dur"] = at - opened["start"]
            return None
        args = {}
        for annotation in event.get(4, []):
            annotation = message(annotation)
            value = texts[29, annotation[17][0]] if 17 in annotation else signed(annotation[4][0]) if 4 in annotation else \
                bool(annotation[2][0]) if 2 in annotation else struct.unpack("<d", annotation[5][0])[0]
            args[texts[3, annotation[1][0]]] = value
        one = {"track": track, "name": texts[2, event[10][0]], "category": texts[1, event[3][0]] if 3 in event else "", "start": at, "args": args,
               "flows": event.get(47, []), "ends": event.get(48, []), "depth": len(stack)}
        if kind == 1:
            stack.append(one)
        (self.slices if kind == 1 else self.instants).append(one)
        return None

    def path(self, track):
        """The names of its parents and its own."""
        of = self.tracks[track]
        return (self.path(of["parent"]) if of["parent"] else ()) + (of["name"],)
