"""Arrays of CuPy, PyTorch and Numba on a GPU. Run with OOC_TEST_DEVICE=cuda."""

import os

import numpy as np
import pytest

import ooc

if not os.environ.get("OOC_TEST_DEVICE", "cpu").startswith("cuda"):
    pytest.skip("these tests need a GPU", allow_module_level=True)
cupy = pytest.importorskip("cupy")
torch = pytest.importorskip("torch")


def numbers(count):
    return np.arange(count, dtype="u4")


def spin(stream):
    """Keeps a stream of PyTorch busy for a while."""
    with torch.cuda.stream(stream):
        torch.cuda._sleep(200_000_000)


def test_cupy_takes_chunks_without_a_copy():
    array = numbers(1_000_000)
    total = 0
    for chunk in ooc.stream(array, rows=10_000):
        x = cupy.from_dlpack(chunk)
        assert x.data.ptr == chunk.__cuda_array_interface__["data"][0]
        total += int(x.sum())
        x[:] = 0
    assert total == array.sum(dtype="u8")
    assert chunk.__dlpack_device__() == (2, 0)
    assert not hasattr(chunk, "__array_interface__")
    with pytest.raises(TypeError, match="chunk.numpy"):
        np.asarray(chunk)
    np.testing.assert_array_equal(np.from_dlpack(chunk, device="cpu"), 0)


def test_by_the_interface_of_arrays():
    array = numbers(1_000_000)
    parts = [int(cupy.asarray(chunk).sum()) for chunk in ooc.stream(array, rows=10_000)]
    assert sum(parts) == array.sum(dtype="u8")


@pytest.mark.parametrize("rows", [1000, 100_000])
def test_slow_work_on_side_streams_sees_its_own_rows(rows):
    """Tensors are dropped long before the work on them is done."""
    array = numbers(4_000_000)
    streams = [torch.cuda.Stream() for _ in range(3)]
    sums = []
    for i, chunk in enumerate(ooc.stream(array, rows=rows)):
        stream = streams[i % 3]
        if i < 20:
            spin(stream)
        with torch.cuda.stream(stream):
            x = torch.from_dlpack(chunk)
            sums.append((x.to(torch.int64) * 1).sum())
            x.zero_()
        del x, chunk
    torch.cuda.synchronize()
    expected = [array[first:first + rows].sum(dtype="u8") for first in range(0, len(array), rows)]
    assert [int(each) for each in sums] == expected


def test_kept_tensors_stay_as_they_are():
    array = numbers(2_000_000)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        kept = [torch.from_dlpack(chunk) for chunk in ooc.stream(array, rows=10_000)]
    ooc.sum(array)
    stream.synchronize()
    whole = torch.cat([each.to(torch.int64) for each in kept]).cpu().numpy()
    np.testing.assert_array_equal(whole, array)


def test_a_loop_that_waits_for_the_device_orders_all_streams():
    """The work on a side stream is ordered with nothing, and the rows are dropped before it."""
    array = numbers(1_000_000)
    side, sums = torch.cuda.Stream(), []
    with ooc.resident(array, nbytes=1 << 21) as kept:
        for data in array, kept, kept:
            for chunk in ooc.stream(data, rows=100_000, sync=True):
                assert side.query()  # the work of the step before is done
                x = torch.from_dlpack(chunk)
                with torch.cuda.stream(side):
                    torch.cuda._sleep(50_000_000)
                    sums.append(x.to(torch.int64).sum())
                del x, chunk
            assert side.query()
    expected = [part.sum(dtype="u8") for part in np.split(array, 10)]
    assert [int(each) for each in sums] == expected * 3


def test_limits_of_memory():
    array = numbers(64 << 20)
    kept = []
    with pytest.raises(BufferError, match="still in use"):
        for chunk in ooc.stream(array, rows=1 << 20, vram="64M"):
            kept.append(cupy.from_dlpack(chunk))
    assert 2 < len(kept) < 17
    for i, x in enumerate(kept):
        assert int(x[0]) == i << 20


def test_the_stream_of_a_loop():
    array = numbers(1_000_000)
    for given in (cupy.cuda.Stream(non_blocking=True), torch.cuda.Stream()):
        sums = []
        for chunk in ooc.stream(array, rows=10_000, stream=given):
            capsule = chunk.__dlpack__()
            assert "dltensor" in repr(capsule)
            sums.append(int(chunk.numpy().sum(dtype="u8")))
        assert sum(sums) == array.sum(dtype="u8")
    chunk = next(ooc.stream(array))
    for stream in (None, 1, 2, -1, torch.cuda.Stream().cuda_stream):
        chunk.__dlpack__(stream=stream)
    for stream in (0, -2):
        with pytest.raises(BufferError, match="is no stream"):
            chunk.__dlpack__(stream=stream)


def test_what_stays_on_the_gpu():
    array = np.random.default_rng(1).normal(size=(100_000, 8)).astype("f4")
    np.save("a.npy", array)
    with ooc.resident("a.npy") as kept:
        for _ in range(3):
            total = 0
            for chunk in ooc.stream(kept, rows=5000):
                x = torch.from_dlpack(chunk)
                total += float(x.double().sum())
                x = cupy.from_dlpack(chunk)
            assert total == pytest.approx(array.sum(dtype="f8"))
        assert kept.nbytes == array.nbytes
    assert float(x[-1, -1]) == array[-1, -1]


@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_a_filter_on_the_gpu(library):
    array = np.random.default_rng(1).normal(size=(100_000, 8)).astype("f4")
    take = cupy.from_dlpack if library == "cupy" else torch.from_dlpack
    side = torch.cuda.Stream()
    with ooc.writer("some.npy") as out:
        for chunk in ooc.stream(array, rows=3000):
            with torch.cuda.stream(side):
                x = take(chunk)
                found = x[x[:, 0] > 0]
                out.write(found)
                found[:] = 0
        with pytest.raises(ooc.UsageError, match="has f4, not b1"):
            out.write(found != 0)
    np.testing.assert_array_equal(np.load("some.npy"), array[array[:, 0] > 0])


def test_what_is_written_and_copied_is_complete():
    """Slow work on a side stream comes first, though the loop does not wait for it."""
    array = numbers(100_000)
    side = torch.cuda.Stream()
    with ooc.writer("twice.npy") as out:
        for chunk in ooc.stream(array, rows=20_000, stream=side):
            with torch.cuda.stream(side):
                x = torch.from_dlpack(chunk).view(torch.int32)
                spin(side)
                x.mul_(2)
                y = x + 1
                out.write(y)
                y.zero_()
            np.testing.assert_array_equal(chunk.numpy(),
                                          2 * array[chunk.first:chunk.first + 20_000])
    np.testing.assert_array_equal(np.load("twice.npy"), 2 * array + 1)
    with ooc.writer("rows.npy") as out:
        out.write(torch.arange(12, device="cuda").view(3, 4).T)  # not contiguous
        out.write(cupy.arange(12).reshape(3, 4).T)
    np.testing.assert_array_equal(np.load("rows.npy"), [*np.arange(12).reshape(3, 4).T] * 2)


def test_files_are_of_one_device():
    with ooc.writer("a.npy") as out:
        out.write(np.ones(3, "f4"))
        with pytest.raises(ooc.UsageError, match="was begun with an array on cpu"):
            out.write(torch.ones(3, device="cuda"))
    with ooc.writer("b.npy") as out:
        out.write(torch.ones(3, device="cuda"))
        out.write(np.zeros(2, "f4"))
    assert np.load("b.npy").tolist() == [1, 1, 1, 0, 0]


def test_types_of_tensors():
    for dtype, expected in [("bf16", torch.bfloat16), ("f2", torch.float16), ("i8", torch.int64),
                            ("u1", torch.uint8)]:
        np.zeros(1000, "u1").tofile("a.bin")
        for chunk in ooc.stream(ooc.open("a.bin", dtype)):
            assert torch.from_dlpack(chunk).dtype == expected
    with ooc.writer("half.bin", "bf16") as out:
        out.write(torch.ones(10, dtype=torch.bfloat16, device="cuda"))
    assert ooc.sum(ooc.open("half.bin", "bf16")) == 10
    for chunk in ooc.stream(np.array([True, False])):
        assert torch.from_dlpack(chunk).tolist() == [True, False]


def test_batches_of_pytorch():
    import ooc.torch

    points = np.random.default_rng(1).normal(size=(10_000, 4)).astype("f4")
    labels = np.arange(10_000, dtype="i8")
    data = ooc.torch.Chunks(ooc.zip(points, labels), rows=256, seed=3)
    seen = {}
    for epoch in range(2):
        data.set_epoch(epoch)
        order = []
        for x, y in torch.utils.data.DataLoader(data, batch_size=None):
            assert x.is_cuda and y.dtype == torch.int64
            order += y.tolist()
            np.testing.assert_array_equal(x.cpu().numpy(), points[y.cpu().numpy()])
        assert sorted(order) == labels.tolist()
        seen[epoch] = order
    assert seen[0] != seen[1]

    whole = [y.tolist() for _, y in data]
    begun = iter(data)
    first = [next(begun)[1].tolist() for _ in range(10)]
    state = data.state_dict()
    other = ooc.torch.Chunks(ooc.zip(points, labels), rows=256, seed=3)
    other.load_state_dict(state)
    assert first + [y.tolist() for _, y in other] == whole
    assert [y.tolist() for _, y in other] == whole  # a new loop begins at the beginning


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i8", "u2", "u1"])
def test_arrays_on_a_gpu_are_read_there(dtype):
    values = (np.random.default_rng(3).normal(0, 100, 3_000_001)).astype(dtype)
    host = ooc.reduce(values, device="cuda")
    for array in (cupy.asarray(values), torch.from_numpy(values).cuda()):
        found = ooc.reduce(array)
        assert found == host
        counts, edges = ooc.histogram(array, 77)
        expected = ooc.histogram(values, 77, device="cuda")
        np.testing.assert_array_equal(counts, expected.counts)
        np.testing.assert_array_equal(edges, expected.edges)
        np.testing.assert_array_equal(np.asarray(array.cpu() if hasattr(array, "cpu")
                                                 else array.get()), values)  # not changed


def test_parts_of_arrays_on_a_gpu():
    values = np.random.default_rng(4).normal(0, 100, (10_001, 33)).astype("f4")
    x = cupy.asarray(values)
    assert ooc.sum(x[1:, :]) == ooc.sum(values[1:], device="cuda")  # at no aligned place
    assert ooc.sum(x[:, 3:17]) == ooc.sum(np.ascontiguousarray(values[:, 3:17]), device="cuda")
    assert ooc.sum(x.T) == ooc.sum(np.ascontiguousarray(values.T), device="cuda")
    lazy = ooc.open(x)
    assert (lazy.shape, lazy.dtype, lazy.device) == ((10_001, 33), np.dtype("f4"), "cuda:0")
    assert ooc.max(lazy[5:9000]) == values[5:9000].max()
    parts = [ooc.reduce(ooc.shard(lazy, i, 3)) for i in range(3)]
    merged, whole = sum(parts[1:], parts[0]), ooc.reduce(x)
    assert (merged.count, merged.argmin, merged.argmax) == (whole.count, whole.argmin, whole.argmax)
    assert merged.variance == pytest.approx(whole.variance)
    assert ooc.sum(cupy.float32(7)) == 7
    assert ooc.sum(cupy.zeros(0, "f4")) == 0
    assert ooc.sum(torch.tensor([True, False, True], device="cuda")) == 2
    ooc.convert(x, "a.npy", dtype="f8")
    np.testing.assert_array_equal(np.load("a.npy"), values)
    assert ooc.mean(torch.ones(1000, dtype=torch.bfloat16, device="cuda")) == 1


def test_work_on_side_streams_is_waited_for():
    stream = torch.cuda.Stream()
    x = torch.zeros(1_000_000, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        spin(stream)
        x += 1
        assert ooc.sum(x) == 1_000_000


def test_arrays_on_a_gpu_are_refused_where_they_cannot_be_read():
    x = cupy.ones((4, 4), "f4")
    with pytest.raises(ooc.UsageError, match="is not in the memory of this device"):
        ooc.sum(x, device="cpu")
    with pytest.raises(ooc.UsageError, match="on a GPU already"):
        ooc.stream(x)
    with pytest.raises(ValueError, match="is in the memory of a GPU"):
        ooc.matmul(x, x, "c.npy")
    with pytest.raises(TypeError, match="copies it"):
        np.asarray(ooc.open(x))


def test_numba_takes_chunks():
    cuda = pytest.importorskip("numba.cuda")
    array = numbers(100_000)
    for chunk in ooc.stream(array, rows=10_000):
        x = cuda.as_cuda_array(chunk)
        np.testing.assert_array_equal(x.copy_to_host(), array[chunk.first:chunk.first + 10_000])


def test_a_child_of_fork_may_not_use_the_gpu():
    array = numbers(1000)
    ooc.sum(array, device="cuda")
    child = os.fork()
    if child == 0:
        try:
            ooc.sum(array, device="cuda")
        except ooc.DeviceError as error:
            is_right = "spawn" in error.hint and ooc.sum(array, device="cpu") == array.sum()
            os._exit(0 if is_right else 1)
        os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
