import numpy as np
import pytest
from conftest import TYPES

import ooc


def same(found, expected):
    array = np.asarray(found)
    assert isinstance(found, ooc.Array)
    assert (array.dtype, array.shape) == (expected.dtype, expected.shape)
    assert array.tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", TYPES)
def test_ranges(values, dtype):
    array = values(dtype, 3001)
    np.save("a.npy", array)
    wide = array.astype("f8")
    middle = float(np.median(wide[wide == wide]))
    for data in ("a.npy", array):
        for given, fits in (({"above": middle}, wide > middle), ({"below": middle}, wide < middle),
                            ({"above": middle - 9, "below": middle},
                             (wide > middle - 9) & (wide < middle)),
                            ({"between": (0, None)}, wide >= 0),
                            ({"between": (None, middle)}, wide <= middle),
                            ({"equal": middle}, wide == middle)):
            kept, rest = ooc.filter(data, "kept.npy", **given, rest="rest.npy", overwrite=True)
            native = array.astype(array.dtype.newbyteorder("="))
            same(kept, array[fits] if data is not array else native[fits])
            same(rest, array[~fits] if data is not array else native[~fits])
            same(ooc.filter(data, "i.npy", **given, indices=True, overwrite=True),
                 np.flatnonzero(fits))


def test_structs_rows_and_masks(values):
    structs = np.zeros(500, [("a", "<f4"), ("n", ">i8"), ("name", "S4")])
    structs["a"], structs["n"] = np.linspace(-1, 1, 500), np.arange(500) % 7
    np.save("s.npy", structs)
    kept = structs[(structs["n"] >= 2) & (structs["n"] <= 4)]
    assert ooc.filter("s.npy", "o.npy", by="n", between=(2, 4)).shape == kept.shape
    found = np.load("o.npy")
    assert found.dtype == kept.dtype and found.tobytes() == kept.tobytes()
    rows = np.arange(600.0).reshape(200, 3)
    same(ooc.filter(rows, "rows.npy", by=1, above=300), rows[rows[:, 1] > 300])
    thin = rows[:, :1].copy()
    same(ooc.filter(thin, "thin.npy", by=0, above=300), thin[thin[:, 0] > 300])
    mask = np.arange(200) % 3 == 0
    same(ooc.filter(rows, "masked.npy", mask=mask), rows[mask])
    same(ooc.filter(rows, "elements.npy", mask=rows > 20), rows[rows > 20])
    ooc.filter("s.npy", "of_structs.npy", mask=structs["n"])
    assert np.load("of_structs.npy").tobytes() == structs[structs["n"] != 0].tobytes()


def test_large_integers_are_exact():
    array = np.array([2**63 + 1, 2**64 - 1, 2**63 + 3], "u8")
    same(ooc.filter(array, "o.npy", above=2**63 + 1), array[1:])
    same(ooc.filter(array, "n.npy", equal=np.uint64(2**64 - 1)), array[1:2])


def test_refusals():
    array = np.arange(10.0)
    np.save("s.npy", np.zeros(5, [("a", "f4")]))
    for given, what in (({}, "which elements"), ({"above": 1, "equal": 2}, "exclude each other"),
                        ({"mask": array, "below": 1}, "exclude each other"),
                        ({"mask": array, "by": 0}, "exclude each other"),
                        ({"above": "x"}, "is no number"), ({"above": 2**64}, "more than 64 bits"),
                        ({"above": np.nan}, "an end of a range"),
                        ({"between": 5}, "is no pair"),
                        ({"between": (2, 1)}, "below its beginning"),
                        ({"above": 1, "by": ""}, "no name"), ({"above": 1, "by": 1.5}, "no name"),
                        ({"above": 1, "by": 4}, "has no column 4")):
        with pytest.raises(ooc.UsageError, match=what):
            ooc.filter(array, "o.npy", **given)
    with pytest.raises(ooc.BadInput, match="holds structs"):
        ooc.filter("s.npy", "o.npy", above=1)
    np.save("by_columns.npy", np.asfortranarray(np.ones((4, 3), bool)))
    with pytest.raises(ooc.BadInput, match="column by column"):
        ooc.filter(np.ones((4, 3)), "o.npy", mask="by_columns.npy")
    with pytest.raises(ooc.BadInput, match="has other rows"):
        ooc.filter(np.ones((4, 3)), "o.npy", mask=np.ones((3, 4), bool))
    with pytest.raises(ooc.BadInput, match="has 10 records"):
        ooc.filter(array, "o.npy", mask=array[1:])
    ooc.filter(array, "o.npy", above=1)
    with pytest.raises(ooc.OutputExists):
        ooc.filter(array, "o.npy", above=1)
