"""The processes of a host, read from this machine's /proc; all else is tested on a cluster, in tests/system."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
import time

import pytest

from tare.errors import UsageError
from tare.hosts import Processes


def test_processes_are_those_asked_for_and_still_there() -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as child:
        try:
            ended = subprocess.Popen([sys.executable, "-c", ""])
            ended.wait()
            processes = Processes(lambda: {os.getpid(), child.pid, ended.pid})
            assert sorted(process.pid for process in processes.filter()) == sorted((os.getpid(), child.pid))
            found = processes.get(ppid=os.getpid())
            assert (found.pid, found.uid, found.gid) == (child.pid, os.geteuid(), os.getegid())
            assert found.user == pwd.getpwuid(os.geteuid()).pw_name
            assert found.args.endswith("-c import time; time.sleep(60)")
            assert abs(time.mktime(time.strptime(found.lstart)) - time.time()) < 30
        finally:
            child.kill()


def test_memory_and_threads_in_the_units_of_ps() -> None:
    own = Processes(lambda: {os.getpid()}).get(pid=os.getpid())
    assert 1000 < own.rss < own.vsz  # KiB
    assert own.nlwp >= 1


def test_an_attribute_that_is_not_there_is_told() -> None:
    processes = Processes(lambda: {os.getpid()})
    with pytest.raises(UsageError, match="process: no attribute tty; there are pid, ppid, comm, args, user"):
        processes.filter(tty="pts/0")
    with pytest.raises(UsageError, match="process: no attribute pcpu; there are"):
        _ = processes.get().pcpu
