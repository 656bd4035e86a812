"""Writes the tables of this folder: the same eight sales by pyarrow, Polars and DuckDB.

Needs pyarrow, polars and duckdb, as in the environment of `cargo xtask python`.
"""

import datetime
import decimal
from pathlib import Path

import duckdb
import polars
import pyarrow
import pyarrow.feather
import pyarrow.parquet

here = Path(__file__).parent
day = datetime.datetime(2026, 11, 22, 9, 30, tzinfo=datetime.timezone.utc)
towns = ["Oslo", "Rome", "Oslo", None, 'Aix, "la belle"', "Rome", "Oslo", "Rome"]
sales = pyarrow.table(
    {
        "town": pyarrow.array(towns),
        "price": pyarrow.array([decimal.Decimal(cents) / 100 for cents in (150, 275, -5, 100, 999, 1, 150, 0)], pyarrow.decimal128(9, 2)),
        "weight": pyarrow.array([0.1, 0.2, None, 0.3, 1e-5, 2.5, 0.1, 7.0]),
        "sold": pyarrow.array([day + datetime.timedelta(minutes=20 * n) for n in range(8)], pyarrow.timestamp("us", "UTC")),
        "paid": pyarrow.array([True, False, True, True, False, True, None, True]),
    }
)
pyarrow.parquet.write_table(sales, here / "pyarrow.parquet", row_group_size=3, compression="snappy")
pyarrow.feather.write_feather(sales, here / "pyarrow.arrow", compression="lz4", chunksize=3)
prices = pyarrow.table({"town": ["Oslo"] * 40, "price": range(40)})
pyarrow.parquet.write_table(
    prices, here / "checksum.parquet", compression="none", use_dictionary=False, write_statistics=False, store_schema=False,
    write_page_checksum=True,
)

# A stream whose towns have a dictionary that is added to, and then another one.
dictionaries = [["Oslo", "Rome"], ["Oslo", "Rome", towns[4]], ["Rome", "Oslo"]]
schema = sales.schema.set(0, pyarrow.field("town", pyarrow.dictionary(pyarrow.int8(), pyarrow.string())))
options = pyarrow.ipc.IpcWriteOptions(compression="lz4", emit_dictionary_deltas=True)
with pyarrow.ipc.new_stream(here / "pyarrow.arrows", schema, options=options) as stream:
    for batch, names in zip(sales.to_batches(max_chunksize=3), dictionaries):
        places = [None if town is None else names.index(town) for town in batch["town"].to_pylist()]
        encoded = pyarrow.DictionaryArray.from_arrays(pyarrow.array(places, pyarrow.int8()), names)
        stream.write_batch(pyarrow.record_batch([encoded, *batch.columns[1:]], schema=schema))

polars.from_arrow(sales).write_parquet(here / "polars.parquet", compression="gzip", row_group_size=3)
duckdb.sql(f"copy sales to '{here / 'duckdb.parquet'}' (format parquet, compression zstd)")
