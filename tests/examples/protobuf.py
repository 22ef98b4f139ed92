# SPDX-License-Identifier: Apache-2.0
"""As much of protobuf as a runtime played by a test needs."""


def varint(number):
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    """A field: a varint for an int, else a length-delimited one. A str is UTF-8."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def pairs(number, mapping):
    """A map from text to text."""
    return b"".join(field(number, field(1, key) + field(2, value)) for key, value in mapping.items())


def _varint_at(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """The varint and length-delimited fields of a message: {number: [values in order]}."""
    found, at = {}, 0
    while at < len(data):
        tag, at = _varint_at(data, at)
        value, at = _varint_at(data, at)
        if tag & 7 == 2:
            length = value
            value, at = data[at : at + length], at + length
        elif tag & 7 != 0:
            raise ValueError(f"field {tag >> 3}: wire type {tag & 7}")
        found.setdefault(tag >> 3, []).append(value)
    return found


def last(message, number, default=b""):
    return message.get(number, [default])[-1]


def text_pairs(messages):
    """Those of a map, or of a list of {1 key, 2 value}, in order."""
    parsed = [fields(message) for message in messages]
    return [(last(pair, 1).decode(), last(pair, 2).decode()) for pair in parsed]
