# SPDX-License-Identifier: Apache-2.0
"""Container images without a network: one static busybox, packed as an OCI image layout in a tar file."""

import hashlib
import io
import json
import platform
import tarfile

PAUSE = "localhost/nri-e2e/pause:1"
BUSYBOX = "localhost/nri-e2e/busybox:1"

COMMANDS = ("cat", "echo", "env", "false", "id", "kill", "ls", "mount", "sh", "sleep", "true", "wc")
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "riscv64": "riscv64", "ppc64le": "ppc64le", "s390x": "s390x"}
OCI = "application/vnd.oci.image."


def _encode(value):
    return json.dumps(value, sort_keys=True).encode()


def _add(tar, name, data=None, mode=0o644, link=None):
    """Add one entry that is the same on every machine and day."""
    entry = tarfile.TarInfo(name)
    entry.mode = mode
    if link is not None:
        entry.type = tarfile.SYMTYPE
        entry.linkname = link
    elif data is None:
        entry.type = tarfile.DIRTYPE
    else:
        entry.size = len(data)
    tar.addfile(entry, None if data is None else io.BytesIO(data))


def _root_layer(busybox):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for directory in ("bin", "dev", "etc", "proc", "sys"):
            _add(tar, directory, mode=0o755)
        _add(tar, "tmp", mode=0o1777)
        _add(tar, "bin/busybox", busybox, mode=0o755)
        for command in COMMANDS:
            _add(tar, "bin/" + command, mode=0o777, link="busybox")
        _add(tar, "etc/passwd", b"root:x:0:0::/:/bin/sh\n")
    return buffer.getvalue()


class _Layout:
    """The blobs of an image layout, by digest."""

    def __init__(self):
        self.blobs = {}

    def store(self, kind, data):
        digest = hashlib.sha256(data).hexdigest()
        self.blobs[digest] = data
        return {"mediaType": OCI + kind, "digest": "sha256:" + digest, "size": len(data)}


def build(busybox_path, tar_path):
    """Write TAR_PATH with the images PAUSE and BUSYBOX, made of the busybox at BUSYBOX_PATH."""
    with open(busybox_path, "rb") as file:
        layer = _root_layer(file.read())
    layout = _Layout()
    target = {"os": "linux", "architecture": ARCHITECTURES.get(platform.machine(), platform.machine())}
    layer_entry = layout.store("layer.v1.tar", layer)
    manifests = []
    for name, command in ((PAUSE, ["sleep", "2147483647"]), (BUSYBOX, ["sh"])):
        config = dict(
            target,
            config={"Cmd": command, "Env": ["PATH=/bin"]},
            rootfs={"type": "layers", "diff_ids": [layer_entry["digest"]]},
        )
        manifest = {
            "schemaVersion": 2,
            "mediaType": OCI + "manifest.v1+json",
            "config": layout.store("config.v1+json", _encode(config)),
            "layers": [layer_entry],
        }
        entry = layout.store("manifest.v1+json", _encode(manifest))
        entry["platform"] = target
        entry["annotations"] = {"io.containerd.image.name": name}
        manifests.append(entry)
    index = {"schemaVersion": 2, "mediaType": OCI + "index.v1+json", "manifests": manifests}
    with tarfile.open(tar_path, "w", format=tarfile.USTAR_FORMAT) as tar:
        _add(tar, "oci-layout", _encode({"imageLayoutVersion": "1.0.0"}))
        _add(tar, "index.json", _encode(index))
        for digest, data in layout.blobs.items():
            _add(tar, "blobs/sha256/" + digest, data)
