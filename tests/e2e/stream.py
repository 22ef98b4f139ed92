# SPDX-License-Identifier: Apache-2.0
"""The lines that a process has written so far, and waiting for those to come."""

import threading
import time

from harness import PATIENCE, Unmet, short


class Stream:
    """Reads FILE line by line in a thread of its own, until its end or until a line equals LAST."""

    def __init__(self, file, parse=str.rstrip, last=None):
        self._file = file
        self._parse = parse
        self._last = last
        self._changed = threading.Condition()
        self._items = []
        self._ended = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self):
        for line in self._file:
            if line == self._last:
                break
            item = self._parse(line)
            with self._changed:
                self._items.append(item)
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def all(self):
        with self._changed:
            return list(self._items)

    def wait(self, wanted, what, count=1):
        """The COUNTth item for which WANTED(item) holds; raises Unmet when it does not come."""
        end = time.monotonic() + PATIENCE
        seen = 0
        with self._changed:
            while True:
                for item in self._items[seen:]:
                    count -= bool(wanted(item))
                    if count == 0:
                        return item
                seen = len(self._items)
                left = end - time.monotonic()
                if self._ended or left <= 0:
                    break
                self._changed.wait(left)
            state = "has ended" if self._ended else "is still open"
            last = "\n         ".join(short(str(item)) for item in self._items[-5:])
        raise Unmet("no %s; the output %s and ends in: %s" % (what, state, last))

    def join(self):
        """Wait until everything is read; for a process that has ended."""
        self._thread.join(PATIENCE)
