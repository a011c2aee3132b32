"""Which of the two back ends of iptables works here: the kernel may have either, both or half of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from tare.errors import TareError
from tare.process import Argument, Commands

PROGRAMS = ("iptables", "iptables-save", "iptables-restore", "ip6tables", "ip6tables-save", "ip6tables-restore")
# The newer first: the older one is being taken out of kernels.
BACK_ENDS = ("xtables-nft-multi", "xtables-legacy-multi")
# What kube-proxy's rules are made of. Rules that load and match nothing yet prove the kernel has the parts.
RULES = """*nat
:TARE-PROBE - [0:0]
-A TARE-PROBE -p tcp -m tcp --dport 1 -m comment --comment "probe" -m statistic --mode random --probability 0.5 \
-j DNAT --to-destination 198.18.0.1:1
-A TARE-PROBE -m addrtype --dst-type LOCAL -j MARK --or-mark 0x4000
-A TARE-PROBE -m mark --mark 0x4000/0x4000 -j MASQUERADE --random-fully
COMMIT
*filter
:TARE-PROBE - [0:0]
-A TARE-PROBE -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
COMMIT
"""
_CLEAN = """*nat
:TARE-PROBE - [0:0]
-X TARE-PROBE
COMMIT
*filter
:TARE-PROBE - [0:0]
-X TARE-PROBE
COMMIT
"""


class NoNetfilter(TareError):
    """No back end of iptables can load the rules that services need; says what each one answered."""


def choose(folders: Sequence[str], within: Callable[[Sequence[Argument]], list[str]], commands: Commands) -> Path:
    """Return the program of the back end that works, found in ``folders``. ``within`` runs it in a node's namespace.

    Raises NoNetfilter.
    """
    answers = []
    for back_end in BACK_ENDS:
        program = next((path for folder in folders if (path := Path(folder, back_end)).exists()), None)
        if program is None:
            answers.append(f"{back_end}: not in {':'.join(folders)}")
            continue
        restore = within([program, "iptables-restore", "--noflush"])
        tried = commands.run(restore, env=environment(folders), stdin=RULES, deadline_seconds=10, check=False)
        if tried.returncode == 0:
            commands.run(restore, env=environment(folders), stdin=_CLEAN, deadline_seconds=10)
            return program
        answers.append(f"{back_end}: {tried.stderr.strip() or 'exit code ' + str(tried.returncode)}")
    raise NoNetfilter("iptables cannot load the rules that Kubernetes services need:\n" + "\n".join(answers))


def environment(folders: Sequence[str]) -> dict[str, str]:
    """Return what iptables has to be told: where its extensions are, if they stand beside one of ``folders``."""
    extensions = next((path for folder in folders for path in Path(folder).parent.glob("lib/*/xtables")), None)
    return {"XTABLES_LIBDIR": str(extensions)} if extensions else {}


def link(program: Path, directory: Path) -> Path:
    """Make a folder with every name of iptables pointing to a back end, and return it."""
    directory.mkdir()
    for name in PROGRAMS:
        (directory / name).symlink_to(program)
    return directory
