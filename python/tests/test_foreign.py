"""Arrays of h5py and pyarrow."""

import numpy as np
import pytest

import ooc


@pytest.mark.parametrize("userblock", [0, 1024])
def test_datasets_of_h5py(userblock):
    h5py = pytest.importorskip("h5py")
    array = np.arange(30_000, dtype=">f4").reshape(10_000, 3)
    with h5py.File("a.h5", "w", userblock_size=userblock) as file:
        dataset = file.create_dataset("group/a", data=array)
        opened = ooc.open(dataset)
        assert opened.shape == array.shape and opened.dtype == np.float32
        np.testing.assert_array_equal(opened, array)
        np.testing.assert_array_equal(opened[17:400], array[17:400])
        assert ooc.sum(dataset) == array.sum(dtype="f8")
        file["flags"] = np.array([True, False, True])
        assert ooc.sum(file["flags"]) == 2
        file["pairs"] = np.zeros(5, [("x", "f4"), ("y", ">i8")])
        np.testing.assert_array_equal(ooc.open(file["pairs"]), file["pairs"])
        refused = {
            "in chunks": file.create_dataset("chunks", data=array, chunks=(100, 3)),
            "nothing was written": file.create_dataset("empty", shape=(5,), dtype="f4"),
            "of type": file.create_dataset("text", data=["a", "b"]),
        }
        for why, wrong in refused.items():
            with pytest.raises(ooc.BadInput) as caught:
                ooc.open(wrong)
            assert why in caught.value.why
            assert "a.h5::/" in str(caught.value)
    with h5py.File("a.h5") as file:
        parts = [chunk.numpy() for chunk in ooc.stream(file["group/a"], rows=999)]
        np.testing.assert_array_equal(np.concatenate(parts), array)


def test_arrays_of_pyarrow():
    pa = pytest.importorskip("pyarrow")
    array = np.arange(10_000, dtype="i4")
    x = pa.array(array)
    assert ooc.sum(x) == array.sum() == ooc.sum(pa.chunked_array([x]))
    with pa.OSFile("a.arrow", "wb") as sink, pa.ipc.new_file(sink, pa.schema([("x", x.type)])) as f:
        f.write(pa.record_batch([x], names=["x"]))
    with pa.memory_map("a.arrow") as mapped:
        column = pa.ipc.open_file(mapped).read_all()["x"]
        assert pa.total_allocated_bytes() < 10 * array.nbytes
        np.testing.assert_array_equal(ooc.open(column), array)
    for wrong, message in [(pa.chunked_array([x, x]), "has 2 chunks"),
                           (pa.array([1, None]), "has 1 nulls"),
                           (pa.array(["a"]), "cannot be read"), (pa.array([True]), "bool cannot"),
                           (pa.table({"x": x}), "is a table")]:
        with pytest.raises(ooc.BadInput, match=message):
            ooc.open(wrong)
