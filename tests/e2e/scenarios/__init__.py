# SPDX-License-Identifier: Apache-2.0
"""All scenarios; importing a module registers its scenarios, in the order they are played."""

from . import life, changes, chain, refusal, size, ending, shipped, inject, devices, pinner, slow, restart  # noqa: F401
