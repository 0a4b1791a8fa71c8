"""Extent tables of a file of 4096 bytes, each of them 1: the initial inputs of fuzz_extents."""

import json
import struct

MISSING = (2**64 - 1, 2**64 - 1)


def table(*arrays, places=(), **members):
    """Returns a table, and the places of chunks behind it."""
    header = {"schema": "ooc.extents/1", "files": ["x.h5"], "arrays": arrays} | members
    return (json.dumps(header, separators=(",", ":")).encode() + b"\n" +
            b"".join(struct.pack("<QQ", *place) for place in places))


def array(name="/x", dtype="<f4", shape=(10, 5), **members):
    return {"name": name, "dtype": dtype, "shape": shape} | members


def chunks(count, *codecs, **members):
    return array(chunks=[4, 3], codecs=codecs, entries=count, **members)


SLABS = array("/y", shape=[10, 5], chunks=[4, 5], codecs=[], entries=3)
PLACES = [(48 * i, 48) for i in range(6)]

EXTENTS = {
    "good": table(array(extents=[[0, 96, 200]])),
    "good_none": table(),
    "good_not_stored": table(array(extents=[], fill="0x7fc00000")),
    "good_scalar": table(array(shape=[], dtype=">i8", extents=[[0, 4088, 8]])),
    "good_empty": table(array(shape=[0, 7], extents=[])),
    "good_chunks": table(chunks(6), places=PLACES),
    "good_slabs": table(SLABS, places=[(0, 80), MISSING, (80, 80)]),
    "good_two": table(chunks(6), SLABS, places=PLACES + [(1000, 80), MISSING, (2000, 80)]),
    "good_alias": table(array(extents=[[0, 0, 200]]), {"name": "/z", "alias": "/x"}),
    "good_why_not": table({"name": "/s", "shape": [3], "why_not": "strings"}),
    "good_bool": table(array(dtype="|b1", shape=[9], chunks=[2], codecs=[], entries=5, fill=True),
                       places=[MISSING] * 5),
    "shuffle": table(chunks(6, ["shuffle", 4]), places=PLACES),
    "fletcher32": table(chunks(6, ["fletcher32"]), places=[(60 * i, 52) for i in range(6)]),
    "deflate": table(chunks(6, ["shuffle", 4], ["deflate"]), places=PLACES),
    "zstd": table(chunks(6, ["zstd"], ["fletcher32"]), places=PLACES),
    "lz4": table(chunks(6, ["lz4"]), places=PLACES),
    "bitshuffle": table(chunks(6, ["bitshuffle", 4]), places=PLACES),
    "blosc": table(chunks(6, ["blosc"]), places=PLACES),
    "twice": table(chunks(6, ["deflate"], ["zstd"]), places=PLACES),
    "unknown_codec": table(chunks(6, ["szip"]), places=PLACES),
    "skipped": table(chunks(6, ["shuffle", 4], ["fletcher32"]), places=[
        (60 * i, 48 + 4 * (i % 2) | (3 - 2 * (i % 2)) << 32) for i in range(6)]),
    "overlap": table(chunks(6), places=PLACES[:5] + [(1, 48)]),
    "beyond_the_end": table(array(extents=[[0, 4000, 200]])),
    "offset_wraps": table(array(extents=[[0, 2**64 - 1, 200]])),
    "shape_wraps": table(array(shape=[2**33, 2**33], extents=[])),
    "chunks_2_60": table(array(shape=[2**60], dtype="|u1", chunks=[1], codecs=[], entries=2**60)),
    "chunk_of_0": table(array(chunks=[0, 1], codecs=[], entries=1)),
    "places_missing": table(chunks(6), places=PLACES[:5]),
    "places_left": table(chunks(6), places=PLACES + PLACES),
    "name_twice": table(array(extents=[]), array(extents=[])),
    "other_schema": table(schema="ooc.extents/2"),
    "no_line": b"{}", "brackets": b"[" * 900 + b"\n", "empty": b"", "newline": b"\n",
}
