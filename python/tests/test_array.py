import gzip
import io
import json
import os
import pickle
import socket
import threading
from pathlib import Path

import numpy as np
import pytest
from conftest import TYPES

import ooc


@pytest.mark.parametrize("dtype", TYPES)
def test_rows_are_those_of_numpy(values, dtype):
    array = values(dtype, 100, 3, 2)
    np.save("a.npy", array)
    for lazy in (ooc.open("a.npy"), ooc.open(array)):
        assert lazy.shape == array.shape and lazy.dtype == array.dtype
        assert (lazy.ndim, lazy.size, lazy.nbytes, len(lazy)) == (3, 600, array.nbytes, 100)
        for rows in (slice(None), slice(10, 20), slice(-5, None), slice(90, 200), slice(7, 7)):
            np.testing.assert_array_equal(np.asarray(lazy[rows]), array[rows])
        np.testing.assert_array_equal(np.asarray(lazy[20:80][10:][:5]), array[30:35])
        np.testing.assert_array_equal(lazy[3], array[3])
        np.testing.assert_array_equal(lazy[-1], array[-1])
        assert ooc.sum(lazy[20:30]) == pytest.approx(float(array[20:30].astype("f8").sum()))
        with pytest.raises(IndexError):
            lazy[100]


def test_it_is_not_pickled():
    with pytest.raises(TypeError, match="its path"):
        pickle.dumps(ooc.open(np.ones(3)))


def test_what_cannot_be_selected_is_refused():
    lazy = ooc.open(np.ones((4, 4)))
    for key in (slice(None, None, 2), (0, 1), (slice(1), slice(1))):
        with pytest.raises(ooc.UsageError):
            lazy[key]


def test_raw_files_lists_and_patterns(values):
    array = values("f4", 3000)
    for i in range(3):
        array[1000 * i:1000 * (i + 1)].tofile(f"part-{i}.f32")
    for path in (["part-0.f32", "part-1.f32", "part-2.f32"], "part-*.f32"):
        lazy = ooc.open(path)
        assert lazy.shape == (3000,)
        np.testing.assert_array_equal(np.asarray(lazy[900:2100]), array[900:2100])
    array.tofile("x.bin")
    np.testing.assert_array_equal(np.asarray(ooc.open("x.bin", "f4", offset=8)), array[2:])
    np.testing.assert_array_equal(np.asarray(ooc.open("x.bin", np.float32)), array)
    with pytest.raises(FileNotFoundError, match="no file matches"):
        ooc.open("other-*.f32")


def test_arrays_of_zarr_are_selected_by_their_names(tmp_path):
    values = np.arange(12, dtype="<i2").reshape(3, 4)
    group, array = tmp_path / "s.zarr", tmp_path / "s.zarr" / "x"
    (array / "c" / "0").mkdir(parents=True)
    (group / "zarr.json").write_text('{"zarr_format": 3, "node_type": "group"}')
    (array / "zarr.json").write_text(json.dumps({
        "zarr_format": 3, "node_type": "array", "shape": [3, 4], "data_type": "int16",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [3, 2]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": -1,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}))
    (array / "c" / "0" / "1").write_bytes(values[:, 2:].tobytes())
    expected = values.copy()
    expected[:, :2] = -1
    lazy = ooc.open(f"{group}::x")
    assert (lazy.shape, lazy.dtype) == ((3, 4), np.dtype("i2"))
    np.testing.assert_array_equal(np.asarray(lazy), expected)
    np.testing.assert_array_equal(np.asarray(lazy[1:]), expected[1:])
    with pytest.raises(ooc.UsageError, match="has no array"):
        ooc.open(f"{group}::y")


def test_arrays_of_npz_files_and_slices_are_selected_by_their_names(values):
    arrays = {"a": values("<f4", 30, 2), "b": values("<f8", 7)}
    np.savez("arrays.npz", **arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(np.asarray(ooc.open("arrays.npz::" + name)), array)
    np.testing.assert_array_equal(np.asarray(ooc.open("arrays.npz::a[1:3]")), arrays["a"][1:3])
    np.save("x[0].npy", arrays["b"])
    np.save("x0.npy", arrays["b"])
    np.testing.assert_array_equal(np.asarray(ooc.open("x0.npy[2:5]")), arrays["b"][2:5])
    np.testing.assert_array_equal(np.asarray(ooc.open("x[0].npy[-2:]")), arrays["b"][-2:])
    assert ooc.open("x[0].npy").size == ooc.open("x[0-9].npy").size == 7
    assert ooc.open("x[0-9].npy[:3]").size == 3
    with pytest.raises(ooc.InputNotFound):
        ooc.open("y*.npy[:3]")


def test_compressed_files_are_opened(values):
    array = values("<f4", 1000)
    with open("x.f32.gz", "wb") as file:
        file.write(gzip.compress(array.tobytes()))
    lazy = ooc.open("x.f32.gz")
    assert lazy.is_stream
    assert ooc.sum(lazy) == pytest.approx(float(array.sum(dtype="f8")))


def test_arrays_of_safetensors_are_selected_by_their_names(values):
    safetensors = pytest.importorskip("safetensors.numpy")
    arrays = {f"layer.{code}": values(code, 10, 3) for code in
              ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1")}
    safetensors.save_file(arrays, "model.safetensors", {"format": "np"})
    for name, array in arrays.items():
        lazy = ooc.open("model.safetensors::" + name)
        assert lazy.shape == array.shape and lazy.dtype == array.dtype
        np.testing.assert_array_equal(np.asarray(lazy[2:7]), array[2:7])
    with pytest.raises(ooc.UsageError, match="has 11 arrays") as caught:
        ooc.open("model.safetensors")
    assert "layer.f8 (float64, 10 x 3)" in caught.value.hint
    safetensors.save_file({"one": arrays["layer.f4"]}, "one.safetensors")
    np.testing.assert_array_equal(np.asarray(ooc.open("one.safetensors")), arrays["layer.f4"])


def test_images_of_fits_files_are_selected_by_their_names(values):
    def unit(array, first, *further):
        cards = [first, "BITPIX  = -32", f"NAXIS   = {array.ndim}",
                 *(f"NAXIS{i + 1}  = {length}" for i, length in enumerate(array.shape[::-1])),
                 *further, "END"]
        header = "".join(card.ljust(80) for card in cards).ljust(2880).encode()
        data = array.astype(">f4").tobytes()
        return header + data + bytes(-len(data) % 2880)

    primary, image = values("f4", 20, 30), values("f4", 4, 5, 6)
    Path("x.fits").write_bytes(unit(primary, "SIMPLE  =                    T") +
                               unit(image, "XTENSION= 'IMAGE   '", "EXTNAME = 'SCI     '"))
    for name, array in ("0", primary), ("SCI", image), ("1", image):
        lazy = ooc.open("x.fits::" + name)
        assert lazy.shape == array.shape and lazy.dtype.newbyteorder("=") == array.dtype
        np.testing.assert_array_equal(np.asarray(lazy), array)
        assert ooc.sum(lazy) == ooc.sum(array)


def test_raw_files_have_the_shape_that_is_given(values):
    array = values("f4", 50, 4, 3)
    array.tofile("a.f32")
    for shape in ((50, 4, 3), (None, 4, 3)):
        lazy = ooc.open("a.f32", shape=shape)
        assert lazy.shape == (50, 4, 3)
        np.testing.assert_array_equal(np.asarray(lazy[10:20]), array[10:20])
    with pytest.raises(ooc.BadInput, match="no array of shape"):
        ooc.open("a.f32", shape=(None, 7))
    np.save("a.npy", array)
    for x in ("a.npy", array):
        with pytest.raises(ooc.UsageError, match="its shape already"):
            ooc.open(x, shape=(50, 12))


def test_doubts_about_types_are_warnings(values):
    values("f4", 1000).tofile("a.f32")
    with pytest.warns(UserWarning, match="read as float64, as asked; the ending says float32"):
        ooc.open("a.f32", "f8")
    with pytest.warns(UserWarning, match="as asked") as warned:
        ooc.sum(ooc.open("a.f32", "i4"))
    assert warned[0].filename == __file__
    (np.arange(5000) % 100).astype(">f4").tofile("b.f32")
    with pytest.warns(UserWarning, match="dtype='>f4' reads it so"):
        ooc.sum("b.f32")


def test_names_need_not_be_unicode(values):
    name = os.fsdecode(b"a-\xff.f32")
    values("f4", 10).tofile(name)
    assert ooc.open(name).name == name
    assert ooc.sum("a-*.f32") == ooc.sum(name)
    assert ooc.convert(name, os.fsencode(name) + b".npy").size == 10
    with pytest.raises(FileNotFoundError) as missing:
        ooc.open(os.fsdecode(b"\xff.f32"))
    assert missing.value.path == os.fsdecode(b"\xff.f32")


def test_fortran_order(values):
    array = np.asfortranarray(values("f8", 30, 4))
    np.save("a.npy", array)
    lazy = ooc.open("a.npy")
    np.testing.assert_array_equal(np.asarray(lazy), array)
    assert ooc.argmax(lazy) == array.argmax()
    with pytest.raises(ooc.UsageError, match="Fortran order"):
        lazy[1:2]


def test_structs_and_bools(values):
    dtype = np.dtype({"names": ["x", "n"], "formats": ["<f4", ">i2"], "offsets": [0, 6],
                      "itemsize": 8})
    array = np.zeros(10, dtype)
    array["x"], array["n"] = values("f4", 10), values("i2", 10)
    np.save("a.npy", array)
    array.tofile("a.bin")
    for lazy in (ooc.open("a.npy"), ooc.open("a.bin", dtype)):
        read = np.asarray(lazy)
        for name in ("x", "n"):
            np.testing.assert_array_equal(read[name], array[name])
    bools = values("f4", 100) > 0
    np.save("b.npy", bools)
    assert ooc.open("b.npy").dtype == bool
    np.testing.assert_array_equal(np.asarray(ooc.open("b.npy")), bools)
    assert ooc.sum(bools) == ooc.sum("b.npy") == bools.sum()


def test_structs_have_other_types_too():
    dtype = np.dtype([("it's", "<u2", (2, 3)), ("a:b", "|u1")], align=True)
    array = np.frombuffer(bytes(range(dtype.itemsize * 5)), dtype)
    array.tofile("a.bin")
    lazy = ooc.open("a.bin", dtype)
    assert lazy.dtype.itemsize == dtype.itemsize
    np.testing.assert_array_equal(np.asarray(lazy)["it's"], array["it's"].reshape(5, 6))
    np.testing.assert_array_equal(np.asarray(lazy)["a:b"], array["a:b"])
    overlapping = np.dtype({"names": ["a", "b"], "formats": ["f4", "f4"], "offsets": [0, 2]})
    with pytest.raises(ooc.UsageError, match="overlap"):
        ooc.open("a.bin", overlapping)


def test_bfloat16(values):
    bits = values("f4", 100).view("u4") >> 16
    bits.astype("u2").tofile("a.bf16")
    lazy = ooc.open("a.bf16")
    assert lazy.dtype.itemsize == 2
    np.testing.assert_array_equal(np.asarray(lazy).view("u2"), bits)
    assert ooc.sum(lazy) == (bits.astype("u4") << 16).view("f4").astype("f8").sum()
    bits.astype("u2").tofile("a.bin")
    assert ooc.open("a.bin", "{x:bf16,y:u2}").dtype.names == ("x", "y")
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert lazy.dtype == ml_dtypes.bfloat16
    assert ooc.sum(ooc.open("a.bf16", ml_dtypes.bfloat16)) == ooc.sum(lazy)


def test_functions_refuse_structs_and_say_what_to_do():
    array = np.array([(1, 2), (3, 4)], [("price", "<f4"), ("n", "<i2")])
    np.save("a.npy", array)
    array.tofile("a.bin")
    a = ooc.open("a.npy")
    for call in (ooc.reduce, ooc.histogram, lambda x: ooc.convert(x, "b.npy"),
                 lambda x: ooc.matmul(x, x, "b.npy")):
        for x in (a, ooc.open("a.bin", array.dtype), array):
            with pytest.raises(ValueError) as caught:
                call(x)
            assert caught.value.hint == "give it one field: a['price']"
    with pytest.raises(ooc.UsageError, match="no field 'cost'") as missing:
        a["cost"]
    assert missing.value.hint == "the fields are price, n"
    with pytest.raises(ooc.BadInput, match="has gaps"):
        ooc.matmul(a["price"], a["price"], "b.npy")


def test_memory_is_not_copied():
    array = np.zeros(10, "f4")
    lazy = ooc.open(array)
    array[3] = 5
    assert ooc.sum(lazy) == 5
    assert ooc.sum(memoryview(array)) == 5
    assert ooc.sum(array[::3]) == 5
    del array
    assert ooc.sum(lazy) == 5  # which keeps the memory


def test_other_types_are_refused():
    for wrong in (np.array(["a"]), np.array([1j]), np.array([None]), np.ones(3, np.longdouble)):
        with pytest.raises(ooc.BadInput):
            ooc.open(wrong)
    with pytest.raises(ooc.UsageError, match="mask"):
        ooc.open(np.ma.masked_array([1, 2], [0, 1]))
    np.ones(4).tofile("a.bin")
    for dtype in (np.longdouble, "f16", np.complex128):
        with pytest.raises(ooc.UsageError):
            ooc.open("a.bin", dtype)
    with pytest.raises(ooc.UsageError, match="negative"):
        ooc.open("a.bin", "f4", offset=-1)
    with pytest.raises(ooc.UsageError, match="no files"):
        ooc.sum([])
    for key in (None, ..., "x", 3.0):
        with pytest.raises(TypeError):
            ooc.open(np.ones(3))[key]


def test_a_pipe_is_read_once(values):
    array = values("f4", 100_000)
    reading, writing = os.pipe()

    def write():
        with os.fdopen(writing, "wb") as file:
            file.write(array.tobytes())

    writer = threading.Thread(target=write)
    writer.start()
    with os.fdopen(reading, "rb", buffering=0) as file:
        lazy = ooc.open(file, "f4")
        assert lazy.is_stream
        with pytest.raises(ooc.UsageError, match="reads it twice"):
            ooc.histogram(lazy)
        assert ooc.histogram(lazy, 10, (0, 100)).count == array.size
        with pytest.raises(ooc.UsageError):
            ooc.sum(lazy)
    writer.join()


def test_a_file_is_read_from_where_it_is():
    np.arange(100, dtype="f4").tofile("a.f32")
    with open("a.f32", "rb") as file:
        file.read(40)
        lazy = ooc.open(file, "f4")
    assert ooc.sum(lazy) == sum(range(10, 100))  # though it is closed
    reading, writing = os.pipe()
    os.close(writing)
    with os.fdopen(reading, "rb") as file, pytest.raises(ooc.UsageError, match="read ahead"):
        ooc.open(file, "f4")
    for wrong in (io.StringIO("a"), io.BytesIO(b"abcd")):
        with pytest.raises(ooc.UsageError):
            ooc.open(wrong)


def test_a_slice_is_of_the_same_file(tmp_path, monkeypatch):
    np.save("a.npy", np.ones(10))
    lazy = ooc.open("a.npy")
    np.save("b.npy", np.zeros(10))
    os.replace("b.npy", "a.npy")
    with pytest.raises(ooc.InputChanged, match="another file"):
        lazy[:5]


def test_rows_of_several_files(values):
    array = values("f4", 150, 12)
    np.save("a.npy", array[:100])
    np.save("b.npy", array[100:])
    lazy = ooc.open(["a.npy", "b.npy"])
    assert lazy.shape == (150, 12)
    np.testing.assert_array_equal(np.asarray(lazy), array)
    np.testing.assert_array_equal(np.asarray(lazy[95:105]), array[95:105])
    assert ooc.convert(lazy, "c.npy").shape == (150, 12)


def test_shards_have_one_dimension(values):
    array = values("f8", 300, 500)
    np.save("a.npy", array)
    parts = [np.asarray(ooc.shard("a.npy", i, 3)) for i in range(3)]
    np.testing.assert_array_equal(np.concatenate(parts), array.ravel())
    for index, count in ((3, 3), (-1, 3), (0, 0)):
        with pytest.raises(ooc.UsageError, match="index=3 of|index=-1 is|count=0 is"):
            ooc.shard("a.npy", index, count)


def test_an_array_does_not_change():
    lazy = ooc.open(np.ones(3))
    with pytest.raises(AttributeError):
        lazy.dtype = np.dtype("u1")


def test_a_socket_is_a_stream():
    ours, theirs = socket.socketpair()
    theirs.sendall(np.arange(100, dtype="u1").tobytes())
    theirs.close()
    with ours:
        lazy = ooc.open(ours, "u1")
        with pytest.raises(ooc.UsageError, match="reads it twice") as caught:
            ooc.histogram(lazy)
        assert caught.value.hint == "set range=(low, high)"
        assert ooc.sum(lazy) == 4950


def test_formats_that_are_not_read_are_refused():
    with gzip.open("a.f32", "wb") as file:
        file.write(bytes(1000))
    with pytest.raises(ooc.BadInput) as caught:
        ooc.open("a.f32")
    assert caught.value.cause == "bad_input" and caught.value.path == "a.f32"
    with pytest.raises(FileNotFoundError) as missing:
        ooc.open("nothing.npy")
    assert missing.value.errno == 2 and missing.value.filename == "nothing.npy"
    assert missing.value.hint in "".join([str(missing.value),
                                          *getattr(missing.value, "__notes__", [])])


def test_a_notebook_shows_it():
    html = ooc.open(np.zeros((1000, 2), "f4"))._repr_html_()
    assert "1,000 × 2" in html and "8,000 bytes" in html


def test_examples(examples):
    examples(ooc)
