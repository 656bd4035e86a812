"""The notebooks of docs/notebooks run as they stand; what is not measured, all of one of them, is printed again as stored."""

import re

import pytest
from conftest import ROOT

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def test_there_are_notebooks():
    assert len(NOTEBOOKS) == 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, command, tmp_path, monkeypatch):
    notebook = nbformat.read(path, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells), "stored as it was never run"
    stored = texts(cells)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    # Fails with the cell and what it said if one raises.
    nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    plots = [output for cell in cells for output in cell.outputs if "image/png" in output.get("data", {})]
    assert len(plots) == 1
    assert path.stem != "aggregate" or texts(cells) == stored


def texts(cells):
    """What is printed and shown as text, but for the name of a folder that is made for each run."""
    shown = [output.get("text") or output["data"]["text/plain"] for cell in cells for output in cell.outputs]
    return [re.sub(r"\S*/fathom-\w+/", "", text) for text in shown]
