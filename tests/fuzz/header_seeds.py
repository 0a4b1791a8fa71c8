"""Files of formats with a small header, behind the number of their format: the initial inputs of
fuzz_headers."""

FITS, = (bytes([number]) for number in range(1))


def unit(first, *pairs, data=b"", name="'IMAGE'"):
    """Returns a header of FITS and data, in whole blocks."""
    pairs = [(first, "T" if first == "SIMPLE" else name), *pairs]
    text = "".join(f"{key:<8}= {value:>20}".ljust(80) for key, value in pairs) + "END"
    return (text.ljust(-len(text) % 2880 + len(text)).encode() +
            data.ljust(-len(data) % 2880 + len(data), b"\0"))


def image(bitpix, *lengths):
    return [("BITPIX", bitpix), ("NAXIS", len(lengths)),
            *((f"NAXIS{i + 1}", length) for i, length in enumerate(lengths))]


PRIMARY = unit("SIMPLE", *image(8))
HUGE = 2**63 - 1

HEADERS = {
    "fits_good": FITS + unit("SIMPLE", *image(16, 3, 2), data=bytes(12)),
    "fits_extensions": FITS + PRIMARY + unit(
        "XTENSION", *image(-32, 5), ("EXTNAME", "'SCI'"), data=bytes(20)) + unit(
            "XTENSION", *image(8, 4, 6), ("PCOUNT", 9), name="'BINTABLE'", data=bytes(33)),
    "fits_scaled": FITS + unit("SIMPLE", *image(16, 5), ("BSCALE", "1.0"), ("BZERO", "3.2768D4"),
                               ("BLANK", -1), data=bytes(10)),
    "fits_groups": FITS + unit("SIMPLE", *image(16, 0, 2), ("GROUPS", "T"), ("PCOUNT", 3),
                               ("GCOUNT", 2), data=bytes(20)),
    "fits_none": FITS + PRIMARY,
    "fits_padding_cut": FITS + unit("SIMPLE", *image(8, 5)) + b"abcde",
    "fits_truncated": FITS + unit("SIMPLE", *image(8, 5)) + b"abcd",
    "fits_no_end": FITS + PRIMARY.replace(b"END", b"   "),
    "fits_behind": FITS + PRIMARY + bytes(2880),
    "fits_huge": FITS + unit("SIMPLE", *image(8, HUGE, HUGE)),
    "fits_huge_groups": FITS + unit("SIMPLE", *image(64, 1), ("PCOUNT", HUGE), ("GCOUNT", HUGE)),
    "fits_negative": FITS + unit("SIMPLE", *image(8, -5)),
    "fits_name_open": FITS + PRIMARY + unit("XTENSION", *image(8), name="'IMAGE"),
    "empty": b"",
}
