"""`benchmarks/real_repos.py` checks checkouts, and compares what it finds with verdicts."""

from __future__ import annotations

import json

import pytest

from benchmarks import real_repos
from benchmarks.checkouts import CheckoutError, checkouts_below
from benchmarks.reviewed import Key, read_file
from devicelint.linter import lint

COMMIT = "a" * 40
TRAIN = """import torch

net = torch.nn.Linear(4, 2).to("cuda")
net(torch.zeros(3, 4))
"""
WELL = TRAIN.replace("4))", '4, device="cuda"))')


def wrong_lines(data):
    return [(each["file"], each["line"]) for each in json.loads(data.read_text())["findings"]]


@pytest.fixture
def folder(tmp_path):
    checkout = tmp_path / "trees" / "owner+name"
    (checkout / "tools").mkdir(parents=True)
    checkout.with_name("owner+name.commit").write_text(COMMIT + "\n")
    (checkout / "tools" / "train.py").write_text(TRAIN)
    (checkout / "broken.py").write_text("import torch\nprint 'two'\n")
    return tmp_path / "trees"


@pytest.fixture
def run(folder, tmp_path, capsys):
    def check(*options):
        status = real_repos.main([str(folder), *options])
        return status, capsys.readouterr()

    return check


def verdicts(folder, **changes):
    entry = {"file": "tools/train.py", "line": 4, "code": "DEV103", "verdict": "right"}
    entry = entry | {"reason": "the input was forgotten"} | changes
    lines = [f'repository = "owner/name"\ncommit = "{COMMIT}"\n\n[[finding]]']
    lines += [f"{name} = {json.dumps(value)}" for name, value in entry.items()]
    folder.mkdir()
    (folder / "owner+name.toml").write_text("\n".join(lines) + "\n")
    return folder


def test_findings_are_told_by_repository_and_rule(run, tmp_path):
    data = tmp_path / "found.json"
    status, said = run("--json", str(data), "--list")
    assert status == 0
    found = json.loads(data.read_text())["findings"]
    assert {each["file"] for each in found} == {"tools/train.py"}
    code = next(each["code"] for each in found if each["line"] == 4)
    assert f"{code} 1" in said.out
    assert f"unread  owner/name  tools/train.py:4: {code}" in said.out


def test_a_file_that_is_no_python_is_told_and_is_no_fault(run):
    status, said = run()
    assert status == 0
    assert "unreadable  owner/name  broken.py:2:1: syntax error" in said.out
    assert "pass  files at which devicelint fails: 0, at most 0" in said.out


def test_a_crash_is_a_fault_and_the_rest_is_checked(run, monkeypatch):
    check = lint.check

    def crash(source, config, project):
        if source.path.endswith("broken.py"):
            raise KeyError("lost")
        return check(source, config, project)

    monkeypatch.setattr(lint, "check", crash)
    status, said = run()
    assert status == 1
    assert "crashed  owner/name  broken.py:1:1: KeyError: 'lost'" in said.out
    assert "owner/name      2" in said.out


def code_of_line_4(run, tmp_path):
    data = tmp_path / "found.json"
    run("--json", str(data))
    found = json.loads(data.read_text())["findings"]
    return next(each["code"] for each in found if each["line"] == 4), len(found)


def test_verdicts_are_compared_with_what_is_found(run, folder, tmp_path):
    (folder / "owner+name" / "tools" / "train.py").write_text(TRAIN)
    code, _ = code_of_line_4(run, tmp_path)
    reviewed = verdicts(tmp_path / "reviewed", code=code)
    _, said = run("--reviewed", str(reviewed))
    assert "pass  right overall: 100.0%, at least 95%" in said.out
    assert "pass  verdicts on what is not found any more: 0, at most 0" in said.out


@pytest.mark.parametrize("verdict", ["wrong", "debatable"])
def test_what_is_not_right_lowers_the_share(run, tmp_path, verdict):
    code, _ = code_of_line_4(run, tmp_path)
    reviewed = verdicts(tmp_path / "reviewed", code=code, verdict=verdict)
    status, said = run("--reviewed", str(reviewed))
    assert status == 1
    assert f"{verdict}  owner/name  tools/train.py:4: {code}" in said.out
    assert "FAIL  right overall: 0.0%, at least 95%" in said.out
    assert f"FAIL  right of {code}: 0.0%, at least 90%" in said.out


def test_what_nobody_has_read_and_what_is_gone_fail(run, tmp_path):
    reviewed = verdicts(tmp_path / "reviewed", line=3, code="DEV999")
    status, said = run("--reviewed", str(reviewed))
    assert status == 1
    assert "not found any more  owner/name  tools/train.py:3: DEV999" in said.out
    assert "FAIL  verdicts on what is not found any more: 1, at most 0" in said.out
    assert "FAIL  findings that nobody has read:" in said.out


def test_updating_keeps_what_was_said_and_asks_for_the_rest(run, tmp_path):
    code, _ = code_of_line_4(run, tmp_path)
    reviewed = verdicts(tmp_path / "reviewed", line=3, code="DEV999")
    run("--reviewed", str(reviewed), "--update")
    about = read_file(reviewed / "owner+name.toml")
    assert about.commit == COMMIT
    assert Key("tools/train.py", 3, "DEV999") not in about.verdicts
    assert about.verdicts[Key("tools/train.py", 4, code)].verdict == ""
    text = (reviewed / "owner+name.toml").read_text()
    (reviewed / "owner+name.toml").write_text(
        text.replace('verdict = ""\nreason = ""', 'verdict = "right"\nreason = "so it is"')
    )
    run("--reviewed", str(reviewed), "--update")
    assert (
        read_file(reviewed / "owner+name.toml").verdicts[Key("tools/train.py", 4, code)].reason
        == "so it is"
    )


@pytest.mark.parametrize(
    ("changes", "told"),
    [({"verdict": "fine"}, "'fine' is no verdict"), ({"reason": ""}, "has no reason")],
)
def test_a_verdict_says_which_and_why(run, tmp_path, changes, told):
    status, said = run("--reviewed", str(verdicts(tmp_path / "reviewed", **changes)))
    assert status == 2
    assert told in said.err


def test_verdicts_hold_for_one_commit(run, folder, tmp_path):
    (folder / "owner+name.commit").write_text("b" * 40)
    status, said = run("--reviewed", str(verdicts(tmp_path / "reviewed")))
    assert status == 2
    assert "owner+name.toml is about aaaaaaaaaaaa, and " in said.err


def test_a_folder_without_checkouts_is_told(tmp_path):
    with pytest.raises(CheckoutError, match="holds no checkout"):
        checkouts_below(tmp_path)
