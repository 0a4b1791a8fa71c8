#!/usr/bin/env python3
"""Writes the files of a corpus to an archive: pack.py FOLDER ARCHIVE. The archive depends only on
their names and contents."""

import lzma
import sys
import tarfile
from pathlib import Path


def bare(entry):
    """Returns the entry without its owner and time, which must not change the archive."""
    plain = tarfile.TarInfo(entry.name)
    plain.size, plain.mode = entry.size, 0o644
    return plain


def pack(folder, archive):
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    with tarfile.open(archive, "w:xz", format=tarfile.USTAR_FORMAT,
                      preset=9 | lzma.PRESET_EXTREME) as tar:
        for path in paths:
            tar.add(path, f"corpus/{path.relative_to(folder)}", filter=bare)
    print(f"{len(paths)} files in {archive}")


if __name__ == "__main__":
    pack(Path(sys.argv[1]), Path(sys.argv[2]))
