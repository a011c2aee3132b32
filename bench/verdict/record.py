"""Record A/A traces: the same work again and again on this machine, as it is, with whatever else it is doing.

    python bench/verdict/record.py [--slots 600] [--only cpu]

Writes traces/NAME.csv (slot, began_seconds since the first, seconds) and traces/host.json. Four kinds of work, each
of a fixed amount that takes a few tenths of a second: a loop of SHA-256, TCP round trips between two processes over
loopback, copies of arrays larger than any cache, and small processes and files.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import datetime
import hashlib
import json
import multiprocessing
import os
import platform
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

TRACES = Path(__file__).parent / "traces"
SLOTS = 600

Work = Callable[[], None]


@contextlib.contextmanager
def cpu() -> Iterator[Work]:
    """Hash one megabyte block of zeros five hundred times."""
    data = bytes(1_000_000)

    def work() -> None:
        for _ in range(500):
            hashlib.sha256(data).digest()

    yield work


@contextlib.contextmanager
def tcp() -> Iterator[Work]:
    """Send 64 bytes to another process and wait for them to come back, 16,000 times."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        echo = multiprocessing.get_context("fork").Process(target=_echo, args=(listener,), daemon=True)
        echo.start()
        with socket.create_connection(listener.getsockname()) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

            def work() -> None:
                for _ in range(16_000):
                    connection.sendall(bytes(64))
                    received = 0
                    while received < 64:
                        received += len(connection.recv(64 - received))

            yield work
        echo.join(timeout=5)


def _echo(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with connection:
        while data := connection.recv(4096):
            connection.sendall(data)


@contextlib.contextmanager
def memory() -> Iterator[Work]:
    """Copy 64 MiB fifty times."""
    source, target = np.ones(8 << 20), np.empty(8 << 20)

    def work() -> None:
        for _ in range(50):
            np.copyto(target, source)

    yield work


@contextlib.contextmanager
def processes() -> Iterator[Work]:
    """Start 80 processes one after the other, and write, sync and remove a file of 64 KiB for each."""
    with tempfile.TemporaryDirectory() as folder:
        file, data = Path(folder) / "data", bytes(1 << 16)

        def work() -> None:
            for _ in range(80):
                os.waitpid(os.posix_spawnp("true", ["true"], os.environ), 0)
                with file.open("wb") as stream:
                    stream.write(data)
                    stream.flush()
                    os.fsync(stream.fileno())
                file.unlink()

        yield work


WORKS = {"cpu": cpu, "tcp": tcp, "memory": memory, "processes": processes}


def record(name: str, slots: int) -> None:
    """Write traces/NAME.csv; the first slots are kept, as they are what a user's first runs are like."""
    rows = []
    with WORKS[name]() as work:
        started = time.perf_counter()
        for slot in range(slots):
            began = time.perf_counter()
            work()
            rows.append((slot, f"{began - started:.6f}", f"{time.perf_counter() - began:.6f}"))
    with (TRACES / f"{name}.csv").open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("slot", "began_seconds", "seconds"))
        writer.writerows(rows)


def host_facts() -> dict[str, object]:
    """Return what a reader must know of the machine; no names and no paths."""
    models = [line.split(":", 1)[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    memory_kib = [int(line.split()[1]) for line in _lines("/proc/meminfo") if line.startswith("MemTotal")]
    return {
        "cpu_model": models[0] if models else platform.machine(),
        "cpus": os.cpu_count(),
        "memory_bytes": memory_kib[0] * 1024 if memory_kib else None,
        "kernel": platform.release(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def _lines(file: str) -> list[str]:
    try:
        return Path(file).read_text().splitlines()
    except FileNotFoundError:  # not Linux
        return []


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description="Record A/A traces of this machine.")
    parser.add_argument("--slots", type=int, default=SLOTS)
    parser.add_argument("--only", choices=sorted(WORKS), action="append")
    options = parser.parse_args(arguments)
    TRACES.mkdir(exist_ok=True)
    load_average: dict[str, tuple[float, float]] = {}
    for name in options.only or WORKS:
        before = os.getloadavg()[0]
        record(name, options.slots)
        load_average[name] = (round(before, 2), round(os.getloadavg()[0], 2))
    facts = host_facts() | {
        "recorded": datetime.date.today().isoformat(),
        "slots": options.slots,
        "load_average_before_and_after": load_average,
    }
    (TRACES / "host.json").write_text(json.dumps(facts, indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
