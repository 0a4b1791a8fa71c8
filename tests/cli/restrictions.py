"""Restrictions of a process: functions for preexec_fn."""

import ctypes
import resource
import struct

LIBC = ctypes.CDLL(None, use_errno=True)
SYSTEM_CALLS = {"ioctl": 16, "link": 86, "linkat": 265, "fallocate": 285, "statx": 332,
                "renameat2": 316, "io_uring_setup": 425, "io_uring_register": 427,
                "clone3": 435, "cachestat": 451}  # on x86-64


def refusing(name, errno_value):
    """Returns a function that installs a seccomp filter: the system call fails with this error."""
    load, jump_if_equal, give_back = 0x20, 0x15, 0x06
    refused, allowed = 0x00050000 | errno_value, 0x7fff0000
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in (
        (load, 0, 0, 0), (jump_if_equal, 0, 1, SYSTEM_CALLS[name]), (give_back, 0, 0, refused),
        (give_back, 0, 0, allowed)))
    buffer = ctypes.create_string_buffer(code)
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 4, ctypes.addressof(buffer)))

    def install(_keep_alive=buffer):
        no_new_privileges, set_seccomp, filtered = 38, 22, 2
        if LIBC.prctl(no_new_privileges, 1, 0, 0, 0) or LIBC.prctl(set_seccomp, filtered, program):
            raise OSError(ctypes.get_errno(), "no seccomp")
    return install


def limiting(kind, value):
    return lambda: resource.setrlimit(kind, (value, value))
