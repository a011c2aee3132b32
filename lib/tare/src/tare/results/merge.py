"""Many Parquet files of one table become one, a part of the rows in memory at a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tare.results.files import ResultFileError

if TYPE_CHECKING:
    import pyarrow

# A row group of this size compresses well and still fits into the memory of a small machine.
_ROWS_AT_ONCE = 1 << 18


def write_table(table: pyarrow.Table, file: IO[bytes]) -> None:
    """Write a table as Parquet. Raises OSError."""
    from pyarrow import parquet

    parquet.write_table(table, file, compression="zstd")


def read_table(path: Path) -> pyarrow.Table:
    """Return what a Parquet file holds. Raises ResultFileError."""
    import pyarrow
    from pyarrow import parquet

    try:
        with path.open("rb") as file:
            return parquet.read_table(file)
    except FileNotFoundError:
        raise ResultFileError(path, "missing") from None
    except pyarrow.ArrowException as error:
        raise ResultFileError(path, f"torn or not Parquet ({str(error).splitlines()[0]})") from None


def merge(parts: Sequence[Path], file: IO[bytes]) -> None:
    """Write the rows of all parts, in their order; a column that a part does not have is null in its rows.

    Raises ResultFileError for a part that cannot be read, OSError.
    """
    import pyarrow
    from pyarrow import parquet

    columns = pyarrow.unify_schemas([parquet.read_schema(part) for part in parts])
    with parquet.ParquetWriter(file, columns, compression="zstd") as writer:
        waiting = [columns.empty_table()]
        for part in parts:
            waiting.append(read_table(part))
            if sum(table.num_rows for table in waiting) >= _ROWS_AT_ONCE:
                writer.write_table(_together(waiting, columns))
                waiting = [columns.empty_table()]
        writer.write_table(_together(waiting, columns))


def _together(tables: Sequence[pyarrow.Table], columns: pyarrow.Schema) -> pyarrow.Table:
    import pyarrow

    return pyarrow.concat_tables(tables, promote_options="default").select(columns.names)
