"""Fields of structs as lazy arrays."""

import os

import numpy as np
import pytest

import ooc

TYPE = np.dtype({"names": ["price", "n", "is", "v", "big"],
                 "formats": ["<f8", "<i2", "?", ("<f4", (3,)), ">f4"],
                 "offsets": [4, 12, 15, 16, 28], "itemsize": 36})


@pytest.fixture(name="table")
def _table():
    random = np.random.default_rng(5)
    table = np.zeros(300_001, TYPE)
    for name in "price", "n", "v", "big":
        table[name] = random.normal(0, 1000, table[name].shape)
    table["is"] = random.random(len(table)) < 0.3
    np.save("a.npy", table)
    return table


def test_a_field_is_a_lazy_array(table):
    a = ooc.open("a.npy")
    for name in "price", "n", "is", "big":
        field = a[name]
        assert isinstance(field, ooc.Array)
        assert field.dtype == table[name].dtype.newbyteorder("=")
        assert (field.shape, field.size) == (a.shape, a.size)
        assert field.nbytes == a.size * field.dtype.itemsize
        np.testing.assert_array_equal(np.asarray(field), table[name])
        np.testing.assert_array_equal(np.asarray(field[1000:250_000][5:-7]),
                                      table[name][1000:250_000][5:-7])
        np.testing.assert_array_equal(np.asarray(a[10:20][name]), table[name][10:20])
    assert a["price"][7] == table["price"][7]


def test_functions_have_the_results_of_the_same_numbers(table):
    a = ooc.open("a.npy")
    for name in "price", "n", "big":
        numbers = np.ascontiguousarray(table[name]).astype(table[name].dtype.newbyteorder("="))
        assert ooc.reduce(a[name]) == ooc.reduce(numbers)
        assert ooc.sum(a[name]) == ooc.sum(numbers)
        counts, edges = ooc.histogram(a[name], 50)
        expected, expected_edges = np.histogram(numbers.astype("f8"), 50)
        np.testing.assert_array_equal(counts, expected)
        np.testing.assert_array_equal(edges, expected_edges)
    ooc.convert(a["big"], "b.npy", dtype="f8")
    np.testing.assert_array_equal(np.load("b.npy"), table["big"])
    parts = [ooc.reduce(ooc.shard(a["price"], i, 3)) for i in range(3)]
    assert sum(parts[1:], parts[0]).count == len(table)


def test_loops_give_elements(table):
    a = ooc.open("a.npy")
    seen = []
    for chunk in ooc.stream(a["n"], rows=7000):
        assert chunk.shape == (min(7000, len(table) - chunk.first),)
        seen.append(chunk.numpy().copy())
    np.testing.assert_array_equal(np.concatenate(seen), table["n"])
    for prices, flags in ooc.stream(ooc.zip(a["price"], a["is"])):
        part = slice(prices.first, prices.first + len(prices))
        np.testing.assert_array_equal(prices.numpy(), table["price"][part])
        np.testing.assert_array_equal(flags.numpy(), table["is"][part])
    with ooc.resident(a["price"]) as kept:
        for _ in range(2):
            total = sum(chunk.numpy().sum() for chunk in ooc.stream(kept))
            assert total == pytest.approx(table["price"].sum())


def test_of_files_and_arrays_in_memory(table):
    table.tofile("b.bin")
    raw = ooc.open(["b.bin", "b.bin"], TYPE)
    assert ooc.sum(raw["n"]) == 2 * table["n"].sum(dtype="i8")
    matrix = ooc.open(table[:300_000].reshape(1000, 300))
    assert matrix["n"].shape == (1000, 300)
    np.testing.assert_array_equal(np.asarray(matrix["n"][5:9]),
                                  table[:300_000].reshape(1000, 300)["n"][5:9])
    for chunk in ooc.stream(matrix["big"], rows=10):
        assert chunk.numpy().shape == (10, 300)


def test_what_cannot_be_read_by_itself_says_so(table):
    a = ooc.open("a.npy")
    with pytest.raises(ooc.UsageError, match="'v' has several elements") as several:
        a["v"]
    assert several.value.hint == "numpy.asarray(a[i:j])['v'] reads those of some rows"
    np.testing.assert_array_equal(np.asarray(a[3:5])["v"], table["v"][3:5])
    with pytest.raises(TypeError):
        a["price"]["price"]
    out, given = os.pipe()
    os.write(given, table[:10].tobytes())
    os.close(given)
    with open(out, "rb", buffering=0) as pipe:
        with pytest.raises(ooc.UsageError, match="fields of a stream"):
            ooc.open(pipe, TYPE)["price"]


def test_dates_and_strings_are_numbers():
    trades = np.zeros(1000, [("time", "<M8[ns]"), ("lag", ">m8[s]"), ("symbol", "S5"),
                             ("venue", "<U2"), ("raw", "V3", (2,)), ("price", "<f4")])
    trades["time"] = np.datetime64("2026-01-01", "ns") + np.arange(1000) * np.timedelta64(1, "s")
    trades["lag"] = np.arange(1000)
    trades["symbol"], trades["venue"], trades["price"] = b"OOC", "NY", 2.5
    np.save("trades.npy", trades)
    trades.tofile("trades.bin")
    numbers = np.dtype([("time", "<i8"), ("lag", ">i8"), ("symbol", "u1", (5,)),
                        ("venue", "<u4", (2,)), ("raw", "u1", (6,)), ("price", "<f4")])
    for a in (ooc.open("trades.npy"), ooc.open("trades.bin", trades.dtype), ooc.open(trades)):
        assert a.dtype == numbers
        assert ooc.mean(a["price"]) == 2.5
        assert ooc.max(a["lag"]) == 999
        time = np.asarray(a["time"]).view("M8[ns]")
        np.testing.assert_array_equal(time, trades["time"])
        assert np.asarray(a[7:8]).tobytes() == trades[7:8].tobytes()


def test_fields_of_types_that_numpy_does_not_know_are_refused():
    types = pytest.importorskip("ml_dtypes")
    table = np.zeros(10, [("a", "<f4"), ("e", types.float8_e4m3fn)])
    with pytest.raises(ooc.UsageError, match="a field is no type that can be read"):
        ooc.open(table)
    np.save("e.npy", table)
    with pytest.raises(ooc.BadInput, match="field 'e' holds opaque bytes"):
        ooc.open("e.npy")
    half = np.zeros(10, [("a", "<f4"), ("b", types.bfloat16)])
    half["b"] = 1.5
    assert ooc.mean(ooc.open(half)["b"]) == 1.5


def test_a_stream_is_no_matrix():
    ends = os.pipe()
    np.save("a.npy", np.ones((4, 4), "f4"))
    with open("a.npy", "rb") as saved, os.fdopen(ends[1], "wb") as file:
        file.write(saved.read())
    with os.fdopen(ends[0], "rb", buffering=0) as file:
        a = ooc.open(file)
        with pytest.raises(ooc.BadInput, match="can be read once"):
            ooc.matmul(a, np.ones((4, 4), "f4"), "c.npy")
