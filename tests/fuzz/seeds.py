#!/usr/bin/env python3
"""Writes the initial inputs of the fuzzers to the folder of a corpus: seeds.py FOLDER. All other
inputs in corpus.tar.xz were found by fuzzing."""

import json
import struct
import sys
import zlib
from pathlib import Path

from extent_seeds import EXTENTS
from frame_seeds import FRAMES
from header_seeds import HEADERS as FILES

CORPUS = Path(sys.argv[1])


def npy(header, data=b"", version=(1, 0), length=None):
    text = header.encode("latin1")
    claimed = len(text) if length is None else length
    return (b"\x93NUMPY" + bytes(version) +
            struct.pack("<H" if version[0] == 1 else "<I", claimed) + text + data)


def fields(descr="'|u1'", order="False", shape="(3,)"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"


# Valid .npy files, and files that have broken other readers of .npy files or the format's rules.
NPY = {
    "good": npy(fields() + "   \n", b"abc"),
    "good_version_2": npy(fields("'<f4'"), bytes(12), (2, 0)),
    "good_version_3": npy(fields("'>i2'"), bytes(6), (3, 0)),
    "good_matrix": npy(fields("'<f8'", shape="(2, 3)"), bytes(48)),
    "good_scalar": npy(fields("'<u8'", shape="()"), bytes(8)),
    "good_nothing": npy(fields(shape="(4, 0, 5)")),
    "good_other_order_of_keys": npy('{"shape":(1,),"fortran_order":True,"descr":"=f2"}', bytes(2)),
    "good_long_integers": npy(fields(shape="(1L, 3L)"), b"abc"),
    "header_length_0xfffffff0": npy("", version=(2, 0), length=0xfffffff0),
    "header_length_65536": npy("", version=(2, 0), length=65536),
    "header_length_65537": npy("", version=(2, 0), length=65537),
    "header_beyond_the_end": npy(fields(), b"abc", length=65535),
    "header_shorter_than_it_is": npy(fields(), b"abc", length=20),
    "header_empty": npy(""),
    "cut_in_magic": b"\x93NUM",
    "cut_in_version": b"\x93NUMPY\x01",
    "cut_in_length": b"\x93NUMPY\x02\x00\x10\x00",
    "empty_file": b"",
    "version_0": npy(fields(), b"abc", (0, 0)),
    "version_4": npy(fields(), b"abc", (4, 0)),
    "version_1_1": npy(fields(), b"abc", (1, 1)),
    "shape_wraps_to_0": npy(fields(shape="(4294967296, 4294967296)")),
    "shape_wraps_to_3": npy(fields(shape="(12297829382473034411, 9)"), b"abc"),
    "shape_times_type_wraps": npy(fields("'<f8'", shape="(2305843009213693952,)")),
    "shape_and_offset_wrap": npy(fields(shape="(18446744073709551615,)")),
    "shape_0_times_huge": npy(fields(shape="(18446744073709551615, 18446744073709551615, 0)")),
    "shape_beyond_64_bits": npy(fields(shape="(18446744073709551616,)")),
    "shape_of_many_digits": npy(fields(shape="(" + "9" * 400 + ",)")),
    "shape_negative": npy(fields(shape="(-3,)"), b"abc"),
    "shape_negative_twice": npy(fields(shape="(-1, -3)"), b"abc"),
    "shape_with_sign": npy(fields(shape="(+3,)"), b"abc"),
    "shape_octal": npy(fields(shape="(03,)"), b"abc"),
    "shape_hexadecimal": npy(fields(shape="(0x3,)"), b"abc"),
    "shape_with_underscore": npy(fields(shape="(1_0,)"), bytes(10)),
    "shape_fraction": npy(fields(shape="(3.0,)"), b"abc"),
    "shape_is_a_number": npy(fields(shape="(3)"), b"abc"),
    "shape_is_a_list": npy(fields(shape="[3]"), b"abc"),
    "shape_of_nothing_but_a_comma": npy(fields(shape="(,)"), b"abc"),
    "shape_nested": npy(fields(shape="((3,),)"), b"abc"),
    "shape_unclosed": npy("{'descr': '|u1', 'fortran_order': False, 'shape': (3,"),
    "shape_of_64_axes": npy(fields(shape="(" + "1," * 64 + ")"), b"a"),
    "shape_of_65_axes": npy(fields(shape="(" + "1," * 65 + ")"), b"a"),
    "column_major": npy(fields(order="True", shape="(2, 3)"), b"abcdef"),
    "column_major_of_one_axis": npy(fields(order="True", shape="(1, 3, 1)"), b"abc"),
    "order_is_a_number": npy(fields(order="0"), b"abc"),
    "order_is_truly": npy(fields(order="Truly"), b"abc"),
    "type_object": npy(fields("'|O'"), b"\x80\x04N."),
    "type_huge_string": npy(fields("'|S18446744073709551615'"), b"abc"),
    "type_unicode": npy(fields("'<U3'"), bytes(36)),
    "type_unicode_digits": npy(fields("'|u\xb9'"), b"abc"),
    "type_boolean": npy(fields("'|b1'"), b"\0\1\2"),
    "type_complex": npy(fields("'<c8'"), bytes(24)),
    "type_long_double": npy(fields("'<f16'"), bytes(48)),
    "type_void": npy(fields("'|V2'"), bytes(6)),
    "type_date": npy(fields("'<M8[ns]'"), bytes(24)),
    "type_records": npy(fields("[('a', '<f4'), ('b', '<i4')]"), bytes(24)),
    "type_in_a_letter": npy(fields("'<f'"), bytes(12)),
    "type_in_a_name": npy(fields("'float32'"), bytes(12)),
    "type_without_order": npy(fields("'f4'"), bytes(12)),
    "type_of_no_order": npy(fields("'|f4'"), bytes(12)),
    "type_empty": npy(fields("''")),
    "type_none": npy(fields("None")),
    "type_escaped": npy(fields("'\\x7cu1'"), b"abc"),
    "type_unclosed": npy("{'descr': '|u1"),
    "type_of_1000_characters": npy(fields("'" + "f" * 1000 + "'")),
    "keys_missing": npy("{'descr': '|u1', 'shape': (3,)}", b"abc"),
    "keys_none": npy("{}"),
    "keys_doubled": npy("{'descr': '|u1', 'descr': '<f8', 'fortran_order': False, 'shape': (3,)}"),
    "keys_too_many": npy(fields().replace("}", "'more': 1}"), b"abc"),
    "keys_without_quotes": npy("{descr: '|u1', fortran_order: False, shape: (3,)}", b"abc"),
    "commas_doubled": npy(fields().replace(",", ",,"), b"abc"),
    "commas_missing": npy(fields().replace(",", ""), b"abc"),
    "code": npy("__import__('os').system('true')"),
    "braces": npy("{" * 900),
    "parentheses": npy("{'shape': " + "(" * 900),
    "garbage_behind_the_header": npy(fields() + "x", b"abc"),
    "zero_behind_the_header": npy(fields() + "\0", b"abc"),
    "header_twice": npy(fields() * 2, b"abc"),
    "data_too_short": npy(fields(), b"ab"),
    "data_too_long": npy(fields(), b"abcd"),
    "not_npy": b"hello, world",
    "zip": b"PK\x03\x04" + bytes(30),
}


def npz(*members, method=0, end=b"", cut=0):
    """Returns an archive of pairs of a name and a content."""
    data, directory = b"", b""
    for name, content in members:
        sizes = struct.pack("<LLHH", len(content), len(content), len(name), 0)
        directory += (b"PK\x01\x02" + struct.pack("<HHHHHHL", 20, 20, 0, method, 0, 0, 0) + sizes +
                      struct.pack("<HHHLL", 0, 0, 0, 0, len(data)) + name)
        data += (b"PK\x03\x04" + struct.pack("<HHHHHL", 20, 0, method, 0, 0, 0) + sizes + name +
                 content)
    place = struct.pack("<HHHHLLH", 0, 0, len(members), len(members), len(directory), len(data),
                        len(end))
    archive = data + directory + b"PK\x05\x06" + place + end
    return archive[:len(archive) - cut]


# .npz files, that is, zip archives of .npy files.
NPZ = {
    "good": npz((b"a.npy", NPY["good"])),
    "good_two": npz((b"a.npy", NPY["good_matrix"]), (b"b.npy", NPY["good_scalar"])),
    "good_comment": npz((b"a.npy", NPY["good"]), end=b"PK\x05\x06"),
    "good_none": npz(),
    "other_member": npz((b"a.txt", b"hello"), (b"a.npy", NPY["good"])),
    "deflated": npz((b"a.npy", b"\x03\0"), method=8),
    "not_understood": npz((b"a.npy", NPY["code"])),
    "name_twice": npz((b"a.npy", NPY["good"]), (b"a.npy", NPY["good"])),
    "cut": npz((b"a.npy", NPY["good"]), cut=1),
    "large": npz((b"a.npy", NPY["good"]))[:-22] + b"PK\x06\x06" + struct.pack(
        "<QHHLLQQQQ", 44, 45, 45, 0, 0, 1, 1, 51, 109) + b"PK\x06\x07" + struct.pack(
        "<LQL", 0, 160, 1) + b"PK\x05\x06" + bytes(4) + b"\xff" * 12 + bytes(2),
}


def safetensors(header, data=b"", length=None):
    text = header.encode("latin1")
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def array(name="w", dtype="U8", shape="[3]", offsets="[0,3]"):
    return f'"{name}":{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}'


# Valid safetensors files, and files that break the rules of the format.
SAFETENSORS = {
    "good": safetensors("{" + array() + "}  ", b"abc"),
    "good_two": safetensors("{" + array("v", "F32", "[2,1]", "[3,11]") + "," + array() + "}",
                            bytes(11)),
    "good_metadata": safetensors('{"__metadata__":{"format":"pt"},' + array() + "}", b"abc"),
    "good_nothing": safetensors("{" + array(shape="[0,5]", offsets="[0,0]") + "}"),
    "good_scalar": safetensors("{" + array("w", "BF16", "[]", "[0,2]") + "}", bytes(2)),
    "good_none": safetensors("{}"),
    "type_of_4_bits": safetensors("{" + array("w", "F4", "[2,3]") + "}", b"abc"),
    "type_not_known": safetensors("{" + array("w", "Q9") + "}", b"abc"),
    "header_length_2_64": safetensors("{" + array() + "}", b"abc", 2**64 - 1),
    "header_length_100_mb": safetensors("{" + array() + "}", b"abc", 100_000_000),
    "header_beyond_the_end": safetensors("{" + array() + "}", b"", 200),
    "header_shorter_than_it_is": safetensors("{" + array() + "}", b"abc", 20),
    "cut_in_length": b"\x10\0\0",
    "empty_file": b"",
    "arrays_overlap": safetensors("{" + array() + "," + array("v", offsets="[2,5]") + "}",
                                  bytes(5)),
    "arrays_with_a_gap": safetensors("{" + array(offsets="[1,4]") + "}", b"abcd"),
    "name_twice": safetensors("{" + array() + "," + array(offsets="[3,6]") + "}", b"abcabc"),
    "offsets_wrap": safetensors("{" + array(offsets="[0,18446744073709551615]") + "}", b"abc"),
    "shape_wraps": safetensors("{" + array(shape="[9223372036854775808,2]") + "}", b"abc"),
    "shape_beyond_64_bits": safetensors("{" + array(shape="[18446744073709551616]") + "}"),
    "shape_negative": safetensors("{" + array(shape="[-3]") + "}", b"abc"),
    "brackets": safetensors("{\"w\":" + "[" * 900),
    "braces": safetensors("{\"__metadata__\":" + "{" * 900),
    "name_with_null": safetensors("{" + array("\\u0000") + "}", b"abc"),
    "not_utf_8": safetensors("{" + array("\xff") + "}", b"abc"),
}

def zarr(chunk=b"", **members):
    """Returns a zarr.json of 3 x 5 numbers, with other members, and the file of the first chunk."""
    header = {"zarr_format": 3, "node_type": "array", "shape": [3, 5], "data_type": "uint8",
              "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 4]}},
              "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
              "fill_value": 0, "codecs": [{"name": "bytes"}]} | members
    return json.dumps(header, separators=(",", ":")).encode() + b"\0" + chunk


def zarr2(chunk=b"", **members):
    """Returns a .zarray of 3 x 5 numbers, with other members, and the file of the first chunk."""
    header = {"zarr_format": 2, "shape": [3, 5], "chunks": [2, 4], "dtype": "|u1", "order": "C",
              "fill_value": 0, "filters": None, "compressor": None} | members
    return json.dumps(header, separators=(",", ":")).encode() + b"\0" + chunk


def blosc(data, flags, element_bytes=1, block_bytes=None, blocks=(), version=2):
    """Returns a frame of these bytes: their copy or, if there are blocks, made of these."""
    place, starts = 16 + 4 * len(blocks), b""
    for block in blocks:
        starts += struct.pack("<I", place)
        place += len(block)
    body = starts + b"".join(blocks) if blocks else data
    return struct.pack("<4B3I", version, 1, flags, element_bytes, len(data),
                       block_bytes or len(data), 16 + len(body)) + body


def stream(data):
    return struct.pack("<I", len(data)) + data


def sized(data, frame):
    return struct.pack("<H", len(data)) + frame


def lz4(data):
    return bytes([0xF0, len(data) - 15]) + data


TEXT = bytes(range(64)) * 4
BLOSC = {
    "good_copy": sized(TEXT, blosc(TEXT, 2)),
    "good_lz4": sized(TEXT, blosc(TEXT, 0x31, 4, blocks=[stream(lz4(TEXT))])),
    "good_bits": sized(TEXT, blosc(TEXT, 0x34, 4, blocks=[stream(lz4(TEXT))])),
    "good_split": sized(TEXT, blosc(TEXT, 0x21, 2, blocks=[stream(lz4(TEXT[:128])) +
                                                             stream(TEXT[:128])])),
    "good_blocks": sized(TEXT, blosc(TEXT, 0x31, 8, 100, [stream(lz4(TEXT[:100])),
                                                          stream(TEXT[:100]), stream(TEXT[:56])])),
    "zlib": sized(b"abc", blosc(b"abc", 0x70, blocks=[stream(zlib.compress(b"abc"))])),
    "zstd": sized(b"abc", blosc(b"abc", 0x90, blocks=[stream(bytes.fromhex(
        "28b52ffd2003190000616263"))])),
    "blosclz": sized(TEXT, blosc(TEXT, 0x10, blocks=[b""])),
    "snappy": sized(TEXT, blosc(TEXT, 0x50, blocks=[b""])),
    "version_5": sized(TEXT, blosc(TEXT, 2, version=5)),
    "block_of_1": sized(TEXT, blosc(TEXT, 0x30, 1, 1, [stream(b"x")] * 256)),
    "start_beyond": sized(b"abc", blosc(b"abc", 0x30, blocks=[stream(b"")])[:-8] + b"\xff" * 8),
    "header_only": sized(TEXT, blosc(TEXT, 0x30)[:16]),
}


def shard(*places, location="end", codecs=("bytes",)):
    """Returns members and a file of a shard of 2 x 2 chunks, with an index."""
    index = b"".join(struct.pack("<QQ", *place) for place in places)
    little = {"name": "bytes", "configuration": {"endian": "little"}}
    options = {"chunk_shape": [1, 2], "codecs": list(codecs), "index_codecs": [little],
               "index_location": location}
    return {"chunk": bytes(range(8)) + index if location == "end" else index + bytes(range(8)),
            "codecs": [{"name": "sharding_indexed", "configuration": options}]}


MISSING = (2**64 - 1, 2**64 - 1)
ZARR = {
    "good": zarr(bytes(range(8))),
    "good_group": b'{"zarr_format":3,"node_type":"group","attributes":{"a":[1,{}]}}',
    "good_scalar": zarr(b"5", shape=[], chunk_grid={"name": "regular",
                                                    "configuration": {"chunk_shape": []}}),
    "good_big_endian": zarr(bytes(32), data_type="float32", fill_value="NaN", codecs=[
        {"name": "bytes", "configuration": {"endian": "big"}}]),
    "good_shard": zarr(**shard((0, 2), (2, 2), MISSING, (6, 2))),
    "good_shard_index_first": zarr(**shard((64, 2), (66, 2), MISSING, (70, 2), location="start")),
    "good_v2_names": zarr(bytes(8), chunk_key_encoding={"name": "v2"}),
    "good_checksum": zarr(bytes(8) + bytes.fromhex("aa36918c"), codecs=["bytes", "crc32c"]),
    "zstd": zarr(b"\x28\xb5\x2f\xfd", codecs=["bytes", "zstd"]),
    "gzip": zarr(b"\x1f\x8b\x08", codecs=["bytes", "gzip"]),
    "blosc": zarr(blosc(bytes(range(8)), 2), codecs=["bytes", "blosc"]),
    "blosclz": zarr(codecs=["bytes", {"name": "blosc", "configuration": {"cname": "blosclz"}}]),
    "good_2": zarr2(bytes(range(8))),
    "good_2_blosc": zarr2(blosc(bytes(range(8)), 2), compressor={"id": "blosc", "cname": "lz4"}),
    "good_2_date": zarr2(bytes(64), dtype="<M8[ns]", fill_value=None),
    "good_2_shuffle": zarr2(bytes(8), filters=[{"id": "shuffle", "elementsize": 4}]),
    "good_2_struct": zarr2(bytes(40), dtype=[["x", "<f4"], ["y", "|u1"]], fill_value="AAAAAAA="),
    "2_delta": zarr2(filters=[{"id": "delta"}], compressor={"id": "lz4"}),
    "2_by_columns": zarr2(order="F"),
    "2_fill": zarr2(fill_value="Infinity", dtype=">f2", dimension_separator="/"),
    "shard_beyond_the_end": zarr(**shard((2**63, 2**63), (2, 2), MISSING, (6, 2))),
    "shard_without_bytes": zarr(**shard((0, 0), (2, 2), MISSING, (6, 2))),
    "shard_in_shard": zarr(**shard(MISSING, codecs=(shard()["codecs"][0],))),
    "shape_wraps": zarr(shape=[2**33, 2**33]),
    "chunk_of_0": zarr(chunk_grid={"name": "regular", "configuration": {"chunk_shape": [0, 1]}}),
    "chunks_2_60": zarr(shape=[2**60, 1]),
    "fill_hex": zarr(data_type="float16", fill_value="0x7e00", codecs=[
        {"name": "bytes", "configuration": {"endian": "little"}}]),
    "key_twice": b'{"zarr_format":3,"zarr_format":3}',
    "brackets": b'{"shape":' + b"[" * 900,
    "understood": zarr(new={"must_understand": False}, other={}),
}

DTYPES = ("u1 u2 u4 u8 i1 i2 i4 i8 f2 f4 f8 bf16 <f4 >f4 =f4 |f4 |u1 <u1 >bf16 uint8 float64 "
          "bfloat16 >uint16 .u8 .f32 .bf16 .f4 f16 float F4 f4x <> < || bfloat161616161616 "
          ".float32 .half >u32 {x:f4,'a:b':>i2[3],:V4,'''':u1}").split()

SIZES = ("0 1 4096 4K 4k 64KiB 5GB 5gb 1T 1TiB 1TB 1.5GiB 16777215T 16777216T 18446744T "
         "18446744073709551615 18446744073709551616 18446745TB -1 +1 -0 0x10 1e3 1e400 1e-400 "
         "-1e5 1e 1K1 KB K 1KK 1P inf -inf nan NaN infinity -9223372036854775808 "
         "-9223372036854775809 00007 1000x2000 64Kx3 1x2x3x4 x 1x x1 1xx2 1KBx2 .5 5. "
         "1,000").split() + ["", " 1", "1 ", "1 K"]
SIZES += "1_000 1e6 1.5e3 1_ _1 1__0 1e19 2e19 1e6K 1e6x2 1K 1Kx1K".split()

COMMANDS = [
    "histogram a.f32", "histogram a b --bins 64 --range -1:2 --log-scale --json",
    "histogram a --edges=0,1,2", "histogram a --range=-1:2", "histogram --log-bins a --quiet",
    "reduce a --nan omit --dtype >f4 --offset 512 --count 1M", "reduce a --chunk 16M --chunk 16M",
    "reduce a --device cuda:1 --engine uring --direct yes --memory 1GiB --vram 2GB",
    "reduce a --streams 4 --threads 8 --trace t --progress plain --force",
    "matmul a b -o c --shape-a 3x4 --shape-b 4x5 --compute f64 --verify --explain",
    "matmul a b -oc", "matmul a b -o", "convert a -o b.npy --to f2 --shape 1Kx1K --strict",
    "bench a --runs 3 --sweep --plot p.svg",
    "gen -o x --size 1G --pattern zipf --seed 3 --value -7",
    "gen -o x --value=-7 word", "gen --count 5", "help reduce", "--version", "-h", "histogran a",
    "reduce", "reduce --json", "reduce a --bin 3", "reduce a --chunk", "reduce a --chunk --json",
    "reduce a --chunk=", "reduce a --json=1", "reduce a --=x", "reduce a -", "reduce -- --json -",
    "reduce a --nan", "reduce a -x", "reduce a -o b", "reduce a --shape-a 3x4", "reduce a --", "",
    "reduce a -jo", "gen -o", "gen -o=x", "gen -o --size 5", "reduce a --FILE b", "reduce --FILE=b",
]

# Headers of servers' answers, and addresses.
HEADERS = [
    "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-99/1000\r\nETag: \"a\"\r\n\r\n",
    "HTTP/2 416\ncontent-range: bytes */0\nretry-after: 7\nlast-modified: Mon, 01 Jan 2024",
    "HTTP/1.1 302 Found\nLocation: x\n\nHTTP/1.1 200\nContent-Length: 18446744073709551616\n",
    "Content-Range: bytes 5-4/*\nContent-Range: bytes -1-3/10\nETag: W/\"1\"\n"
    "Content-Encoding: gzip",
    "Retry-After: Fri, 31 Dec 1999 23:59:59 GMT\nRetry-After: -1\nx-amz-bucket-region: eu-west-3",
    "https://example.org/a.f32?X-Amz-Signature=0#f\nhttp://u:p@example.org/a\nhttp://[::1]:80/a\n"
    "s3://bucket/a b\ns3://bucket\ngs://b/c\nHTTPS://?a\n/a/b\nhttp://h?u@v",
]


def number(value):
    """Encodes a value for Numbers::of_any_size()."""
    return b"\0" + struct.pack(">Q", value)


# A column of two bytes in rows of two pages: each row's bytes are on both sides of a page border.
ROWS_ACROSS_PAGES = (b"\0" + number(0) + b"\0" + number(2 * 4096 - 1) + number(999) + number(0) +
                     number(999) + b"\0" + number(4095) + number(1) + b"\0\xd0\0")


def write(target, name, data):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


for name, data in NPY.items():
    write("npy_header", name, data)
for name, data in NPZ.items():
    write("npz", name, data)
for name, data in SAFETENSORS.items():
    write("safetensors_header", name, data)
for name, data in FILES.items():
    write("headers", name, data)
for name, data in FRAMES.items():
    write("frames", name, data)
for name, data in EXTENTS.items():
    write("extents", name, data)
for name, data in ZARR.items():
    write("zarr", name, data)
for name, data in BLOSC.items():
    write("blosc", name, data)
for number, text in enumerate(DTYPES):
    write("dtype", f"seed_{number:02}", text.encode())
for number, text in enumerate(SIZES):
    write("sizes", f"seed_{number:02}", text.encode())
for number, text in enumerate(COMMANDS):
    write("arguments", f"seed_{number:02}", text.replace(" ", "\n").encode())
for number, text in enumerate(HEADERS):
    write("http_header", f"seed_{number:02}", text.encode())
write("histogram_bins", "empty", b"")
write("sequential_plan", "empty", b"")
write("region_plan", "empty", b"")
write("region_plan", "rows_across_pages", ROWS_ACROSS_PAGES)
