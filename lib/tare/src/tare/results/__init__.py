"""Results on disk: ``results/<lab>/<run>/`` with a ledger, Parquet files and a run record.

``ledger.sqlite`` is the one truth: the facts of the run, every planned trial with its state, and every
Parquet file with its size and SHA-256. A trial is kept by writing its files under another name, bringing
them to disk, renaming them, and then entering them in one transaction. So a kill at any moment loses no
committed trial and counts none twice: a file that the ledger does not name is what a kill left over, and
one that it names is whole, or torn and told as such. ``run.json`` is the record once more, for people.

While a run lasts, and after one that broke off, each trial has files of its own in ``parts/``; a run that
completes has one file a table. ``tags.json`` in the lab's folder names runs.

Format history: 1: three Parquet files and the record; 2: the ledger, attempts, host and histograms.
"""

from tare.results.change import Change, changes
from tare.results.files import ResultFileError
from tare.results.lock import RunInUse
from tare.results.match import Difference, DifferentRun, differences
from tare.results.runs import find_unfinished, resolve, runs
from tare.results.store import RunStore
from tare.results.stored import StoredRun
from tare.results.tags import tag

__all__ = [
    "Change",
    "Difference",
    "DifferentRun",
    "ResultFileError",
    "RunInUse",
    "RunStore",
    "StoredRun",
    "changes",
    "differences",
    "find_unfinished",
    "resolve",
    "runs",
    "tag",
]
