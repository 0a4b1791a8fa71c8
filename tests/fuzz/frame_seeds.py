"""The initial inputs of the fuzzer of frames, for seeds.py."""

import struct
import zlib


def zstd_frame(data, has_size=True):
    """Returns a frame of zstd with one block that is not compressed."""
    flags = b"\xa0" + struct.pack("<L", len(data)) if has_size else b"\0\x58"
    return b"\x28\xb5\x2f\xfd" + flags + struct.pack("<L", len(data) << 3 | 1)[:3] + data


def skippable(data, kind=0):
    return struct.pack("<LL", 0x184d2a50 + kind, len(data)) + data


def bgzip_block(data):
    """Returns a member of gzip that says how long it is, with a stored block."""
    body = b"\1" + struct.pack("<HH", len(data), len(data) ^ 0xffff) + data
    return (b"\x1f\x8b\x08\x04" + bytes(6) + struct.pack("<H2sHH", 6, b"BC", 2, len(body) + 25) +
            body + struct.pack("<LL", zlib.crc32(data), len(data)))


def seekable(*parts, claimed=None):
    """Returns frames that do not say how long they are, and a table that does."""
    frames = [zstd_frame(part, False) for part in parts]
    sizes = [len(part) for part in parts] if claimed is None else claimed
    table = b"".join(struct.pack("<LL", len(frame), size) for frame, size in zip(frames, sizes))
    return b"".join(frames) + skippable(
        table + struct.pack("<LBL", len(frames), 0, 0x8f92eab1), 14)


# Files that are compressed as a whole.
FRAMES = {
    "good": zstd_frame(b"abc"), "good_two": zstd_frame(b"abc") + zstd_frame(b"de"),
    "good_skippable": skippable(b"x") + zstd_frame(b"abc") + skippable(b""),
    "good_seekable": seekable(b"abc", b"de"), "good_bgzip": bgzip_block(b"abc") + bgzip_block(b""),
    "empty": zstd_frame(b""), "cut": zstd_frame(b"abc")[:-1], "stream": zstd_frame(b"abc", False),
    "table_lies": seekable(b"abc", claimed=[5]), "table_of_64_mib": seekable(b"a", claimed=[2**26]),
    "table_of_4_gib": seekable(b"abc", claimed=[2**32 - 1]),
    "bgzip_lies": bgzip_block(b"abc")[:-4] + struct.pack("<L", 4),
    "bgzip_cut": bgzip_block(b"abc")[:-1], "gzip": b"\x1f\x8b\x08" + bytes(20),
    "size_2_64": b"\x28\xb5\x2f\xfd\xe0" + b"\xff" * 8 + b"\1\0\0",
    "skippable_beyond": skippable(b"")[:-4] + b"\xff" * 4,
}
