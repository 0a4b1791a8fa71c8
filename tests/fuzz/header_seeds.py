"""Headers of formats whose data lie in one piece, behind the number of their format: the initial
inputs of fuzz_headers. Beside each file are x.raw, x.img and x.sigmf-data, of 48 bytes."""

import struct

(FITS, MATRIX, ROWS, NIFTI, WAV, NRRD, METAIMAGE, ENVI, SIGMF) = (bytes([i]) for i in range(9))
HUGE = 2**63 - 1


def unit(first, *pairs, data=b"", name="'IMAGE'"):
    """Returns a header of FITS and data, in whole blocks."""
    pairs = [(first, "T" if first == "SIMPLE" else name), *pairs]
    text = "".join(f"{key:<8}= {value:>20}".ljust(80) for key, value in pairs) + "END"
    return (text.ljust(-len(text) % 2880 + len(text)).encode() +
            data.ljust(-len(data) % 2880 + len(data), b"\0"))


def image(bitpix, *lengths):
    return [("BITPIX", bitpix), ("NAXIS", len(lengths)),
            *((f"NAXIS{i + 1}", length) for i, length in enumerate(lengths))]


def nifti(order, *lengths, code=4, bits=16, offset=352, slope=0, data=b""):
    header = bytearray(352)
    struct.pack_into(order + "i", header, 0, 348)
    struct.pack_into(f"{order}{1 + len(lengths)}h", header, 40, len(lengths), *lengths)
    struct.pack_into(order + "hh", header, 70, code, bits)
    struct.pack_into(order + "ff", header, 108, offset, slope)
    header[344:348] = b"n+1\0"
    return NIFTI + bytes(header) + data


def chunk(name, content, size=None):
    return name + struct.pack("<I", len(content) if size is None else size) + content


def wav(kind=1, channels=1, bits=16, data=bytes(12), size=None, before=b""):
    fields = struct.pack("<HHIIHH", kind, channels, 9, 9, channels * bits // 8, bits)
    chunks = before + chunk(b"fmt ", fields) + chunk(b"data", data, size)
    return WAV + chunk(b"RIFF", b"WAVE" + chunks)


def nrrd(further="", data=b"", sizes="3 2", kind="short"):
    return NRRD + (f"NRRD0004\ntype: {kind}\ndimension: 2\nsizes: {sizes}\nencoding: raw\n"
                   f"endian: big\n{further}").encode() + data


def metaimage(file, further="", data=b"", lengths="3 8"):
    return METAIMAGE + (f"NDims = 2\nBinaryData = True\nElementByteOrderMSB = True\n{further}"
                        f"DimSize = {lengths}\nElementType = MET_SHORT\nElementDataFile = {file}\n"
                        ).encode() + data


def envi(further="", kind=2, samples=4):
    return ENVI + (f"ENVI\nsamples = {samples}\nlines = 3\nbands = 2\ndata type = {kind}\n"
                   f"interleave = bil\nbyte order = 1\n{further}").encode()


def sigmf(kind, further=""):
    return SIGMF + (f'{{"global": {{"core:datatype": "{kind}"{further}}}, "captures": [{{}}]}}'
                    ).encode()


PRIMARY = unit("SIMPLE", *image(8))

HEADERS = {
    "fits_good": FITS + unit("SIMPLE", *image(16, 3, 2), data=bytes(12)),
    "fits_extensions": FITS + PRIMARY + unit(
        "XTENSION", *image(-32, 5), ("EXTNAME", "'SCI'"), data=bytes(20)) + unit(
            "XTENSION", *image(8, 4, 6), ("PCOUNT", 9), name="'BINTABLE'", data=bytes(33)),
    "fits_scaled": FITS + unit("SIMPLE", *image(16, 5), ("BSCALE", "1.0"), ("BZERO", "3.2767D4"),
                               data=bytes(10)),
    "fits_unsigned": FITS + unit("SIMPLE", *image(64, 5), ("BZERO", 2**63), data=bytes(40)),
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
    "matrix_good": MATRIX + struct.pack("<II", 3, 2) + bytes(24),
    "matrix_huge": MATRIX + b"\xff" * 8,
    "rows_good": ROWS + (struct.pack("<I", 3) + b"abc") * 2,
    "rows_negative": ROWS + b"\xff" * 8,
    "nifti_good": nifti("<", 3, 2, data=bytes(12)),
    "nifti_big": nifti(">", 3, 2, offset=368, data=bytes(28)),
    "nifti_scaled": nifti("<", 3, 2, slope=2, data=bytes(12)),
    "nifti_huge": nifti("<", *[32767] * 7),
    "nifti_offset": nifti("<", 3, offset=float("nan"), data=bytes(6)),
    "wav_good": wav(), "wav_odd": wav(bits=8, data=bytes(5)), "wav_24": wav(bits=24),
    "wav_cut": wav(size=14), "wav_list": wav(before=chunk(b"LIST", b"text")),
    "wav_huge": wav(before=chunk(b"LIST", b"", 2**32 - 1)),
    "wav_64": WAV + b"RF64\xff\xff\xff\xffWAVE" + chunk(b"ds64", struct.pack(
        "<QQQI", 76, 4, 0, 0)) + wav(bits=8, data=b"abcd", size=2**32 - 1)[13:],
    "nrrd_good": nrrd("\n", bytes(12)), "nrrd_beside": nrrd("data file: x.raw\n", sizes="3 8"),
    "nrrd_lines": nrrd("line skip: 1\nbyte skip: 2\n\n", b"a\nbc" + bytes(12)),
    "nrrd_at_end": nrrd("byte skip: -1\n\n", bytes(99)),
    "nrrd_huge": nrrd("\n", sizes=f"{HUGE} {HUGE}"), "nrrd_missing": nrrd("data file: y.raw\n"),
    "nrrd_outside": nrrd("data file: ../x.raw\n"), "nrrd_type": nrrd("\n", kind="block"),
    "metaimage_good": metaimage("x.raw"), "metaimage_local": metaimage("LOCAL", data=bytes(48)),
    "metaimage_at_end": metaimage("x.raw", "HeaderSize = -1\n", lengths="3 2"),
    "metaimage_channels": metaimage("x.raw", "ElementNumberOfChannels = 2\n", lengths="3 4"),
    "envi_good": envi(), "envi_braces": envi("wavelength = {\n1,\n2}\n"),
    "envi_complex": envi(kind=6), "envi_huge": envi(samples=HUGE),
    "sigmf_good": sigmf("cf32_le"), "sigmf_channels": sigmf("ri16_be", ', "core:num_channels": 3'),
    "sigmf_huge": sigmf("ru8", f', "core:num_channels": {2**64 - 1}'),
    "sigmf_deep": SIGMF + b'{"global":' + b"[" * 900,
    "empty": b"",
}
