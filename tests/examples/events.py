# SPDX-License-Identifier: Apache-2.0
"""Waiting for what programs write into files: by inotify, so that nobody looks again and again."""
import ctypes
import os
import select
import time

_libc = ctypes.CDLL(None, use_errno=True)
_CHANGES = 0x2 | 0x40 | 0x80 | 0x100 | 0x200  # modified, moved from and to, created, deleted


class Changes:
    """Tells that something was written to a file or in a directory since the last wait()."""

    def __init__(self, path):
        self._fd = _libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        if self._fd < 0 or _libc.inotify_add_watch(self._fd, os.fsencode(path), _CHANGES) < 0:
            raise OSError(ctypes.get_errno(), "inotify", path)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self._fd)

    def wait(self, seconds):
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        poll.poll(max(0, seconds) * 1000)
        try:
            os.read(self._fd, 65536)
        except BlockingIOError:
            pass


def until(what, path, seconds):
    """Waits until what() is true, which may change when PATH does, and returns it; None: in vain."""
    end = time.monotonic() + seconds
    with Changes(path) as changes:
        while True:
            found = what()
            left = end - time.monotonic()
            if found or left <= 0:
                return found or None
            changes.wait(left)
