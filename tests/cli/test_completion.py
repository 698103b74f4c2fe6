"""What each shell makes of a word that is half typed, asked of the shell itself."""

from __future__ import annotations

import os
import subprocess

import pexpect
import pytest

from devicelint.cli import main
from devicelint.cli.completion import script
from tests.programs import program


@pytest.fixture(autouse=True)
def _among_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "train me.py").touch()


# What is typed, and what the last word may become.
CASES = {
    "devicelint ado": ["adopt"],
    "devicelint --exit-z": ["--exit-zero"],
    "devicelint src --unsafe-f": ["--unsafe-fixes"],
    "devicelint check --exit-z": ["--exit-zero"],
    "devicelint adopt --exit-z": [],
    "devicelint adopt --style acc": ["accelerator"],
    "devicelint adopt --style t": ["to"],
    "devicelint completion f": ["fish"],
    "devicelint explain DEV10": [f"DEV10{number}" for number in range(1, 10)],
    "devicelint explain discarded-m": ["discarded-move"],
    "devicelint --select device-un": ["device-unused"],
    "devicelint --select DEV2,device-un": ["DEV2,device-unused"],
    "devicelint sr": ["src/"],
    "devicelint trace sr": ["src/"],
    "devicelint --config sr": ["src/"],
    "devicelint --cache-dir sr": ["src/"],
    "devicelint --cache-dir tra": [],
    "devicelint rules sr": [],
}

BASH = """\
source ./script
while IFS= read -r line; do
    read -ra COMP_WORDS <<< "$line"
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _devicelint
    echo "${COMPREPLY[*]}"
done
"""


def answers(command: list[str], lines: list[str]) -> list[str]:
    done = subprocess.run(
        command,
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_bash(tmp_path):
    (tmp_path / "script").write_text(script("bash"))
    got = answers([program("bash"), "-c", BASH], list(CASES))
    # bash adds the slash of a folder itself: `compopt -o filenames`, outside of this test.
    said = [" ".join(word.rstrip("/") for word in words) for words in CASES.values()]
    assert dict(zip(CASES, got, strict=True)) == dict(zip(CASES, said, strict=True))


def test_bash_breaks_words_at_equals_signs(tmp_path):
    (tmp_path / "script").write_text(script("bash"))
    lines = ["devicelint adopt --style = acc", "devicelint --select = DEV2,device-un"]
    got = answers([program("bash"), "-c", BASH], lines)
    assert got == ["accelerator", "DEV2,device-unused"]


def test_bash_itself_writes_the_word_out(tmp_path):
    typed = pexpect.spawn(
        program("bash"), ["--norc", "--noprofile", "-i"], encoding="utf-8", timeout=20
    )
    (tmp_path / "script").write_text(script("bash"))
    typed.sendline("PS1='READ''Y> '; source ./script; devicelint() { printf '<%s>' \"$@\"; }")
    typed.expect_exact("READY> ")
    typed.sendline("devicelint trace tra\t")
    typed.expect_exact("<trace><train me.py>")
    typed.close(force=True)


FISH = """\
source ./script
while read -l line
    echo (complete -C "$line" | string replace -r '\\t.*' '' | sort)
end
"""


def test_fish(tmp_path):
    (tmp_path / "script").write_text(script("fish"))
    command = [program("fish"), "--no-config", "-c", FISH]
    got = answers(command, list(CASES))
    said = [" ".join(words) for words in CASES.values()]
    assert dict(zip(CASES, got, strict=True)) == dict(zip(CASES, said, strict=True))


ZSH = (
    "PS1='READ''Y> '; {begin}; "
    'show() {{ print -r -- "<$BUFFER>"; BUFFER=; }}; zle -N show; '
    "bindkey '^I' complete-word; bindkey '^Xs' show; setopt no_beep no_list_beep"
)
READ = "autoload -Uz compinit; compinit -D -u; source ./functions/_devicelint"
FOUND = "fpath=($PWD/functions $fpath); autoload -Uz compinit; compinit -D -u"


def completed_by_zsh(begin: str, lines: list[str]) -> dict[str, str]:
    """What zsh makes of each line when the tabulator key is pressed."""
    typed = pexpect.spawn(
        program("zsh"), ["-f", "-i"], encoding="utf-8", timeout=20, dimensions=(50, 200)
    )
    typed.sendline(ZSH.format(begin=begin))
    typed.expect_exact("READY> ")
    got = {}
    for line in lines:
        typed.send(f"{line}\t\x18s")
        typed.expect(r"<(devicelint[^>]*)>")
        got[line] = typed.match[1].rstrip(" ,")
    typed.close(force=True)
    return got


@pytest.fixture
def of_zsh(tmp_path):
    (tmp_path / "functions").mkdir()
    (tmp_path / "functions/_devicelint").write_text(script("zsh"))


def test_zsh(of_zsh):
    # Of several, zsh writes what they have in common.
    said = {
        line: f"{line.rpartition(' ')[0]} {words[0]}" if len(words) == 1 else line
        for line, words in CASES.items()
    }
    assert completed_by_zsh(READ, list(CASES)) == said


def test_zsh_finds_the_script_by_itself(of_zsh):
    lines = ["devicelint --exit-z", "devicelint adopt --styl"]
    assert list(completed_by_zsh(FOUND, lines).values()) == [
        "devicelint --exit-zero",
        "devicelint adopt --style=",
    ]


def test_fish_finds_the_script_by_itself(tmp_path, monkeypatch):
    folder = tmp_path / "config/fish/completions"
    folder.mkdir(parents=True)
    (folder / "devicelint.fish").write_text(script("fish"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    # fish looks for the completions of commands that there are.
    (tmp_path / "devicelint").symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    command = [program("fish"), "-c", "complete -C 'devicelint --exit-z'"]
    assert answers(command, []) == ["--exit-zero\texit with 0 even if there are findings"]


@pytest.mark.parametrize("name", ["bash", "fish", "zsh"])
def test_the_command_prints_the_script(name, capsys):
    assert main(["completion", name]) == 0
    assert capsys.readouterr().out == script(name)


def test_another_shell_is_refused_in_one_line(capsys):
    assert main(["completion", "tcsh"]) == 2
    assert capsys.readouterr().err == (
        "devicelint: argument SHELL: invalid choice: 'tcsh' (choose from 'bash', 'fish', 'zsh')\n"
    )


@pytest.mark.parametrize("name", ["bash", "fish", "zsh"])
def test_a_quotation_mark_in_a_help_text_ends_no_string(name, monkeypatch, tmp_path):
    from devicelint.cli.options import parser

    monkeypatch.setitem(parser.COMMANDS, "rules", 'It\'s "all" of $HOME [the] rules: \\ `x`')
    (tmp_path / "script").write_text(script(name))
    subprocess.run([program(name), "-n", "script"], check=True, timeout=20)
