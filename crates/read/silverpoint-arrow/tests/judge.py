"""Reads records.* and event.* of a folder with every engine that is installed; fails where two disagree. Prints `engine NAME` of each, and the nanoseconds of each record."""

import contextlib
import datetime
import importlib.util
import shutil
import sys

import pyarrow.ipc
import pyarrow.parquet

FOLDER = sys.argv[1]
# What can be compared in all: texts, numbers and truth values. Times are compared as microseconds.
COLUMNS = "time_ns, level, severity, pid, tid, thread, kind, line, message, args, duration_ns, cause, count"
EVENT = 'time_ns, n, big, x, ok, at_ns, took, "where", who, list, arg_Level, arg_N, "key"'


def micros(time: datetime.datetime) -> int:
    if time.tzinfo is None:
        time = time.replace(tzinfo=datetime.timezone.utc)
    return (time - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)) // datetime.timedelta(microseconds=1)


def queries(quote: str) -> list[tuple[str, str, str]]:
    """Name of the file, its columns, and its times."""
    found = [("records", COLUMNS, '"time"'), ("event", EVENT, '"time"'), ("event", EVENT, '"at"')]
    return [(name, columns.replace('"', quote), time.replace('"', quote)) for name, columns, time in found]


def names(columns: str) -> list[str]:
    return [column.strip(' "') for column in columns.split(",")]


def by_pyarrow(name: str, columns: str, time: str) -> list[tuple]:
    table = pyarrow.parquet.read_table(f"{FOLDER}/{name}.parquet")
    assert pyarrow.ipc.open_file(f"{FOLDER}/{name}.arrow").read_all().equals(table, check_metadata=True)
    assert pyarrow.ipc.open_stream(f"{FOLDER}/{name}.arrows").read_all().equals(table, check_metadata=True)
    assert table.schema.metadata[b"silverpoint.schema"] == b"2", table.schema.metadata
    assert not [field for field in table.schema if field.type == pyarrow.uint64()]
    (time,) = names(time)
    assert table.schema.field(time).type == pyarrow.timestamp("us", "UTC")
    times = table.column(time).cast(pyarrow.int64()).to_pylist()
    return list(zip(times, *(table.column(column).to_pylist() for column in names(columns))))


def by_pandas(name: str, columns: str, time: str) -> list[tuple]:
    import pandas

    frame = pandas.read_parquet(f"{FOLDER}/{name}.parquet", dtype_backend="numpy_nullable")
    plain = lambda value: None if value is pandas.NA or value is pandas.NaT else value
    times = [None if plain(value) is None else micros(value.to_pydatetime()) for value in frame[names(time)[0]]]
    return list(zip(times, *([plain(value) for value in frame[column]] for column in names(columns))))


def by_polars(name: str, columns: str, time: str) -> list[tuple]:
    import polars

    frame = polars.read_parquet(f"{FOLDER}/{name}.parquet")
    assert polars.read_ipc(f"{FOLDER}/{name}.arrow").equals(frame)
    return frame.select(polars.col(names(time)).cast(polars.Int64), *names(columns)).rows()


def by_duckdb(name: str, columns: str, time: str) -> list[tuple]:
    import duckdb

    return duckdb.sql(f"select epoch_us({time}), {columns} from '{FOLDER}/{name}.parquet'").fetchall()


def by_chdb(name: str, columns: str, time: str) -> list[tuple]:
    import chdb
    import json

    query = f"select toUnixTimestamp64Micro({time}), {columns} from file('{FOLDER}/{name}.parquet', Parquet)"
    lines = chdb.query(query + " settings output_format_json_quote_64bit_integers=0", "JSONCompactEachRow").bytes()
    return [tuple(json.loads(line)) for line in lines.decode().splitlines()]


def by_spark() -> list[list[tuple]]:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
    spark = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.sql.session.timeZone", "UTC").getOrCreate()
    found = []
    for name, columns, time in queries("`"):
        frame = spark.read.parquet(f"{FOLDER}/{name}.parquet")
        assert not [field for field in frame.dtypes if field[1].startswith("decimal")], frame.dtypes
        rows = frame.selectExpr(f"unix_micros({time})", *columns.split(",")).collect()
        found.append([tuple(row) for row in rows])
    spark.stop()
    return found


def main() -> None:
    expected = [by_pyarrow(*query) for query in queries('"')]
    assert all(expected)
    print("engine pyarrow")
    for engine in (by_pandas, by_polars, by_duckdb, by_chdb):
        name = engine.__name__.removeprefix("by_")
        if importlib.util.find_spec(name):
            for query, rows in zip(queries('"'), expected):
                seen = engine(*query)
                assert seen == rows, f"{name}: {query}\n{seen}\n{rows}"
            print("engine", name)
    if importlib.util.find_spec("pyspark") and shutil.which("java"):
        # Spark talks on standard output while it starts.
        with contextlib.redirect_stdout(sys.stderr):
            seen = by_spark()
        assert seen == expected, f"spark: {seen}\n{expected}"
        print("engine spark")
    for row in expected[0]:
        print(row[1])


main()
