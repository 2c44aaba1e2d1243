"""Verifies a chain of receipts with nothing but Python's standard library.

Reads the body of `GET /v1/receipts` and prints the height and the digest of its last receipt; whatever is wrong ends it
with a sentence and status 1. It shares no code with the server, so that an error in one is not an error in both.

With `--by-code-points` it sorts names as many libraries do and RFC 8785 does not: by code points, not by UTF-16 units.
"""

import hashlib
import json
import sys

LARGEST = 2**53 - 1
SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
BY_CODE_POINTS = sys.argv[1:] == ["--by-code-points"]


def refuse(problem):
    sys.exit(f"the chain does not verify: {problem}")


def integer(text):
    number = int(text)
    if str(number) != text or abs(number) > LARGEST:
        refuse("a number is not a bare integer that every parser keeps")
    return number


def members(pairs):
    if len(dict(pairs)) != len(pairs):
        refuse("a name stands twice in one object")
    return dict(pairs)


def read(raw):
    def fraction(_):
        refuse("a number is spelled with a fraction, an exponent or no digits")

    return json.loads(
        raw.decode("utf-8"),
        parse_float=fraction,
        parse_constant=fraction,
        parse_int=integer,
        object_pairs_hook=members,
    )


def rank(name):
    return name.encode("utf-32-be") if BY_CODE_POINTS else name.encode("utf-16-be")


def quoted(text):
    escaped = (SHORT.get(c) or (f"\\u{ord(c):04x}" if c < " " else c) for c in text)
    return '"' + "".join(escaped) + '"'


def canonical(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    return "{" + ",".join(quoted(name) + ":" + canonical(value[name]) for name in sorted(value, key=rank)) + "}"


def sha256(text):
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def verify(receipts):
    previous = "sha256:" + "0" * 64
    for height, receipt in enumerate(receipts, start=1):
        chain = receipt.pop("chain")
        if sorted(chain) != ["digest", "height", "prev_digest"]:
            refuse(f"the link at {height} has other members than a link has")
        if chain["height"] != height:
            refuse(f"after {height - 1} comes {chain['height']}")
        if chain["prev_digest"] != previous:
            refuse(f"the receipt at {height} does not follow the one before it")
        digest = "sha256:" + sha256(f"{height}\n{previous}\n{sha256(canonical(receipt))}")
        if chain["digest"] != digest:
            refuse(f"the receipt at {height} is not what was sealed")
        previous = digest
    return len(receipts), previous


listing = read(sys.stdin.buffer.read())
if listing["has_more"]:
    refuse("this is a page and not the whole chain")
print(*verify(listing["data"]))
