"""Runs the examples of docs/python.md and README.md, in their order."""

import ast
import json
import pathlib
import re
import subprocess
import sysconfig

import numpy as np
import pytest

import ooc

ROOT = pathlib.Path(__file__).parents[2]
PAGE = ROOT / "docs" / "python.md"
PROGRAM = pathlib.Path(sysconfig.get_path("scripts")) / "ooc-run"


def run(path):
    """Runs the Python of a page, and returns it with the names that it has set."""
    text = re.sub(r"<!-- not run -->\n```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    names = {}
    for block in blocks:
        exec(compile(block, str(path), "exec"), names)
    return blocks, names


def test_the_page_is_true(capsys):
    blocks, _ = run(PAGE)
    assert len(blocks) > 8
    assert "check the name" in capsys.readouterr().out


def test_the_notebook_runs():
    notebook = json.loads((ROOT / "docs" / "python.ipynb").read_text(encoding="utf-8"))
    names, shown = {}, []
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        *statements, last = ast.parse("".join(cell["source"])).body
        exec(compile(ast.Module(statements, []), "python.ipynb", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "python.ipynb", "eval"), names)
            shown.append(getattr(value, "_repr_html_", value.__repr__)())
        else:
            exec(compile(ast.Module([last], []), "python.ipynb", "exec"), names)
    assert len(shown) == 6 and "<svg" in shown[3]
    np.testing.assert_allclose(names["covariance"], np.cov(np.load("points.npy").T, ddof=0),
                               rtol=1e-5, atol=1e-6)


@pytest.mark.skipif(not PROGRAM.exists(), reason="the package is not installed")
def test_the_example_of_the_readme():
    words = "gen -o normal.f32 --count 16777216 --pattern normal --quiet".split()
    subprocess.run([PROGRAM, *words], check=True)
    [block], names = run(ROOT / "README.md")
    expression, value = re.search(r"^(ooc\.reduce.*?) *# (.*)$", block, re.M).groups()
    assert eval(expression, names) == float(value)
    assert names["counts"].sum() < 16777216 and len(names["edges"]) == 81


def test_the_page_names_all_functions():
    text = PAGE.read_text(encoding="utf-8")
    for name in ("open", "histogram", "histogram2d", "reduce", "quantile", "top", "distinct",
                 "convert", "matmul", "shard", "options", "stream", "zip", "writer", "resident",
                 "torch"):
        assert f"ooc.{name}" in text
    for name in ("sum", "mean", "var", "std", "min", "max", "argmin", "argmax"):
        assert name in text and callable(getattr(ooc, name))
