"""Wrong arguments: each is named, and what is expected is said."""

import re

import numpy as np
import pytest

import ooc

A = np.ones((4, 4), "f4")

WRONG = [
    ("ooc.sum(A, threads='two')", "threads='two' is no integer"),
    ("ooc.sum(A, threads=1.5)", "threads=1.5 is no integer"),
    ("ooc.sum(A, threads=True)", "threads=True is no integer"),
    ("ooc.sum(A, threads=0)", "threads=0 is less than 1"),
    ("ooc.sum(A, threads=10**9)", "threads=1000000000 is more than 1,024"),
    ("ooc.sum(A, threads=10**5000)", "threads=<int> is more than 1,024"),
    ("ooc.sum(A, memory=1.5)", "memory=1.5 is no size: a number of bytes, or as '512M' or '2G'"),
    ("ooc.sum(A, memory=[])", "memory=[] is no size"),
    ("ooc.sum(A, memory='\\ud800')", "memory='?' is not a whole number"),
    ("ooc.sum(A, vram=True)", "vram=True is no size"),
    ("ooc.sum(A, device=3)", "device=3 is no name of a device"),
    ("ooc.sum(A, device='tpu')", "device='tpu' is no device"),
    ("ooc.sum(A, device='cuda:99999999999')", "device='cuda:99999999999' is no device"),
    ("ooc.sum(A, device='cuda:0,0')", "device='cuda:0,0' names a GPU twice"),
    ("ooc.sum(A, progress='yes')", "progress='yes' is neither True, False nor a function"),
    ("ooc.sum(A, keepdims=True)", "sum() got an unexpected keyword argument 'keepdims'"),
    ("ooc.sum(A, axis=1)", "axis=1 is not 0"),
    ("ooc.options(memory=[]).__enter__()", "memory=[] is no size"),
    ("ooc.histogram(A, None)", "bins=None is no number of bins, no list of edges and no rule"),
    ("ooc.histogram(A, 3.5)", "bins=3.5 is no number of bins"),
    ("ooc.histogram(A, True)", "bins=True is no number of bins"),
    ("ooc.histogram(A, {1: 2})", "bins={1: 2} is no number of bins"),
    ("ooc.histogram(A, 'doane')", "bins='doane' is no rule"),
    ("ooc.histogram(A, [[1, 2], [3]])", "bins[0]=[1, 2] is no number"),
    ("ooc.histogram(A, A)", "bins[0]=[1.0, 1.0, 1.0, 1.0] is no number"),
    ("ooc.histogram(A, [0, 'b'])", "bins[1]='b' is no number"),
    ("ooc.histogram(A, [0, 10**400])", "bins[1]=<int> is beyond double precision"),
    ("ooc.histogram(A, 5, ('a', 'b'))", "range[0]='a' is no number"),
    ("ooc.histogram(A, 5, (1, '2'))", "range[1]='2' is no number"),
    ("ooc.histogram(A, 5, (True, 2))", "range[0]=True is no number"),
    ("ooc.histogram(A, 5, 'ab')", "range='ab' is no pair of numbers"),
    ("ooc.histogram(A, 5, 5)", "range=5 is no pair of numbers"),
    ("ooc.histogram(A, 5, (1,))", "range=(1,) has not two ends"),
    ("ooc.histogram(A, 5, log='no')", "log='no' is neither True nor False"),
    ("ooc.reduce(A, nan=3)", "nan=3 is neither 'propagate' nor 'omit'"),
    ("ooc.reduce(A, nan=A)", "nan=<ndarray> is neither 'propagate' nor 'omit'"),
    ("ooc.reduce(A, exact=1)", "exact=1 is neither True nor False"),
    ("ooc.var(A, ddof='1')", "ddof='1' is no number"),
    ("ooc.std(A, ddof=[1])", "ddof=[1] is no number"),
    ("ooc.open(None)", "x=None is no path, array, file or socket"),
    ("ooc.open({1, 2})", "x={1, 2} is no path, array, file or socket"),
    ("ooc.open([[1, 2], [3]])", "x=[[1, 2], [3]] is no array"),
    ("ooc.open([])", "x=[] has no files"),
    ("ooc.open(['a.npy', 3])", "x[1]=3 is no path"),
    ("ooc.open(['a.npy', A])", "x[1]=<ndarray> is no path"),
    ("ooc.open(b'a.npy')", "x are bytes, which have no type"),
    ("ooc.open('a\\0b')", "x='a\\x00b' has a null character"),
    ("ooc.open('\\ud800')", "is no name that a file can have"),
    ("ooc.open('a.bin', 5)", "dtype=5 is no type, such as 'f4' or numpy.float32"),
    ("ooc.open('a.bin', object)", "dtype=object is no type that can be read"),
    ("ooc.open('a.bin', np.dtype('S4'))", "dtype=|S4 is no type that can be read"),
    ("ooc.open('a.bin', 'f5')", "unknown dtype 'f5'"),
    ("ooc.open('a.bin', 'f4', offset='x')", "offset='x' is no integer"),
    ("ooc.open('a.bin', 'f4', offset=1.0)", "offset=1.0 is no integer"),
    ("ooc.open('a.bin', 'f4', offset=2**64)", "offset=18446744073709551616 is more than"),
    ("ooc.shard(A, 'a', 2)", "index='a' is no integer"),
    ("ooc.shard(A, 0, 2.0)", "count=2.0 is no integer"),
    ("ooc.shard(A, True, 2)", "index=True is no integer"),
    ("ooc.convert(A, 7)", "out=7 is no path"),
    ("ooc.convert(A, 'x\\0')", "out='x\\x00' has a null character"),
    ("ooc.convert(A, 'x.npy', 5)", "dtype=5 is no type"),
    ("ooc.convert(A, 'x.npy', '{x:f4}')", "dtype='{x:f4}' has fields"),
    ("ooc.convert(A, 'x.npy', strict='no')", "strict='no' is neither True nor False"),
    ("ooc.convert(A, 'x.npy', clip=1)", "clip=1 is neither True nor False"),
    ("ooc.convert(A, 'x.npy', overwrite=None)", "overwrite=None is neither True nor False"),
    ("ooc.stream(A, sync=1)", "sync=1 is neither True nor False"),
    ("ooc.stream(A, sync='no')", "sync='no' is neither True nor False"),
    ("ooc.matmul(A, A, out=7)", "out=7 is no path"),
    ("ooc.matmul(None, A, 'x.npy')", "a=None is no path, array, file or socket"),
    ("ooc.matmul(A, None, 'x.npy')", "b=None is no path, array, file or socket"),
    ("ooc.open(A)[True]", "True is neither the number of a row nor a slice"),
    ("ooc.open(A)['x']", "'x' is neither the number of a row nor a slice"),
    ("ooc.open(A)[A]", "<ndarray> is neither the number of a row nor a slice"),
]


@pytest.mark.parametrize("call, message", WRONG)
def test_a_wrong_argument_is_named(call, message):
    A.tofile("a.bin")
    with pytest.raises((TypeError, ooc.UsageError), match=re.escape(message)):
        eval(call)


def test_numbers_of_numpy_are_numbers():
    A.tofile("a.bin")
    two = np.int64(2)
    assert ooc.sum(A, threads=np.uint8(1), memory=np.int64(2**30)) == 16
    assert ooc.sum(ooc.open("a.bin", "f4", offset=np.int16(4))) == 15
    assert ooc.shard(A, np.int8(1), two).size == 16
    assert ooc.reduce(A, exact=np.True_).sum == 16
    assert ooc.var(A, ddof=np.float32(1)) == 0
    found = ooc.histogram(A, two, (np.float32(0), two), log=np.False_)
    assert found.counts.tolist() == [0, 16]
    assert ooc.histogram(A, [np.float32(0), two]).counts.tolist() == [16]
    assert ooc.histogram(A, range(3)).counts.tolist() == [0, 16]
    np.testing.assert_array_equal(ooc.open(A)[two], A[2])
