"""Tells how much of a file is in the page cache."""
import ctypes
import mmap
import os


def cached_fraction(path):
    """Returns the fraction of the pages that mincore(2) finds in memory; 1 for an empty file."""
    size = os.path.getsize(path)
    if size == 0:
        return 1.0
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                          ctypes.c_int, ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    with open(path, "rb") as file:
        address = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), 0)
    if address == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "mmap", path)
    pages = (ctypes.c_ubyte * -(-size // mmap.PAGESIZE))()
    failed = libc.mincore(address, size, pages)
    libc.munmap(address, size)
    if failed:
        raise OSError(ctypes.get_errno(), "mincore", path)
    # The lowest bit of each byte is set if the page is in memory; the others are reserved.
    return sum(state & 1 for state in pages) / len(pages)
