"""What each tool returns, of good and of bad arguments, from a server that really runs."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest

from devicelint import rule_index
from tests.mcp.agent import text_of

WRONG = """\
import torch
from torch import nn
assert torch.cuda.is_available()
model = nn.Linear(2, 2).to("cuda")
print(model(torch.zeros(2)))
"""
FIXED = WRONG.replace("zeros(2)", 'zeros(2, device="cuda")')
UNSAFE = """\
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = [nn.Linear(2, 2) for _ in range(3)]
"""
CPU_ONLY = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for (x,) in DataLoader(TensorDataset(torch.randn(8, 4)), batch_size=4):
    loss = model(x).sum()
    loss.backward()
    optimizer.step()
"""
BROKEN = "import torch\ndef f(:\n"


@pytest.fixture
def script(folder):
    def write(text: str, name: str = "train.py") -> str:
        path: Path = folder / name
        path.write_text(text, encoding="utf-8")
        return path.relative_to(folder.parent).as_posix()

    return write


# What is offered


def test_the_tools_have_schemas_and_say_what_they_change(agent):
    tools = agent.tools()
    assert set(tools) == {"check", "fix", "why", "explain", "adopt"}
    for tool in tools.values():
        assert tool.description
        assert tool.output_schema is not None
        assert tool.output_schema["type"] == tool.input_schema["type"] == "object"
        assert all("description" in one for one in tool.input_schema["properties"].values())
    reads = {name for name, one in tools.items() if one.annotations.read_only_hint}
    assert reads == {"check", "why", "explain"}
    assert set(tools["check"].input_schema["properties"]) == {
        *("paths", "source", "filename", "select", "ignore", "certainty")
    }
    assert tools["why"].input_schema["required"] == ["place"]
    assert tools["explain"].input_schema["required"] == ["rule"]
    assert not {"required"} & {*tools["check"].input_schema, *tools["fix"].input_schema}


def test_instructions_name_every_tool(agent):
    assert all(name in agent.instructions for name in agent.tools())


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("check", {"source": WRONG}),
        ("fix", {"source": WRONG}),
        ("adopt", {"source": CPU_ONLY}),
        ("why", {"place": "x.py:5", "source": WRONG}),
        ("explain", {"rule": "DEV101"}),
    ],
)
def test_structured_content_is_as_its_schema_says(agent, tool, arguments):
    schema = agent.tools()[tool].output_schema
    jsonschema.validate(agent.values(tool, **arguments), schema)


# check


def test_check_returns_the_report_for_agents_and_its_values(agent, script):
    path = script(WRONG)
    result = agent.call("check", paths=[path])
    assert text_of(result).splitlines()[1:] == [
        " 4: moved to cuda",
        " fix (safe) @@ -5 +5 @@",
        "-print(model(torch.zeros(2)))",
        '+print(model(torch.zeros(2, device="cuda")))',
        f"Found 1 error; 1 fixable with --fix; next: devicelint --fix {path}",
    ]
    (finding,) = result.structured_content["findings"]
    assert (finding["path"], finding["line"], finding["code"]) == (path, 5, "DEV103")
    assert finding["certainty"] == "certain"
    assert [step["line"] for step in finding["steps"]] == [4]
    assert finding["fix"]["safety"] == "safe"
    assert "+print" in finding["fix"]["diff"]
    assert (result.structured_content["files"], result.structured_content["problems"]) == (1, [])


def test_check_takes_folders_absolute_paths_and_a_single_path(agent, folder, script):
    paths = [script(WRONG, "a.py"), script(WRONG, "b.py")]
    for given in ([str(folder)], paths[0].rpartition("/")[0], [str(folder / "a.py"), paths[1]]):
        found = agent.values("check", paths=given)["findings"]
        assert [one["path"] for one in found] == paths


def test_check_takes_text(agent):
    (finding,) = agent.values("check", source=WRONG, filename="new.py")["findings"]
    assert (finding["path"], finding["code"]) == ("new.py", "DEV103")
    assert agent.values("check", source="")["findings"] == []


def test_no_command_is_named_for_text_that_no_file_has(agent):
    last = agent.text("check", source=WRONG).splitlines()[-1]
    assert last == "Found 1 error; 1 fixable with --fix"


def test_text_is_checked_beside_the_files_that_it_imports(agent, script):
    helper = script("import torch\ndef make():\n    return torch.zeros(2)\n", "helper.py")
    text = WRONG.replace("torch.zeros(2)", "make()").replace(
        "import torch\n", "import torch\nfrom helper import make\n", 1
    )
    beside = helper.replace("helper.py", "new.py")
    (finding,) = agent.values("check", source=text, filename=beside)["findings"]
    assert finding["name"] in {"module-input-elsewhere", "created-on-cpu"}


def test_the_settings_of_a_folder_hold(agent, folder, script):
    path = script(WRONG)
    (folder / "devicelint.toml").write_text('ignore = ["DEV103"]\n', encoding="utf-8")
    assert agent.text("check", paths=[path]) == "No device mistakes found in 1 file"


def test_rules_are_selected_and_ignored(agent, script):
    path = script(WRONG)
    assert agent.values("check", paths=[path], select="DEV2")["findings"] == []
    assert agent.values("check", paths=[path], ignore=["created-on-cpu"])["findings"] == []
    assert len(agent.values("check", paths=[path], select=["DEV1"])["findings"]) == 1


def test_certainty_is_chosen(agent):
    text = (
        "import torch\nfrom torch import nn\nclass Net(nn.Module):\n"
        "    def forward(self, x):\n        return x + torch.ones(2)\n"
    )
    codes = {
        level: [
            one["certainty"]
            for one in agent.values("check", source=text, certainty=level)["findings"]
        ]
        for level in ("certain", "contract")
    }
    assert codes == {"certain": [], "contract": ["by contract"]}


def test_what_cannot_be_checked_is_named_and_the_rest_is_checked(agent, script):
    path, broken = script(WRONG), script(BROKEN, "broken.py")
    missing = path.replace("train", "missing")
    result = agent.call("check", paths=[broken, missing, path])
    assert not result.is_error
    values = result.structured_content
    assert values["problems"] == [
        f"{broken}:2:7: syntax error: invalid syntax",
        f"{missing}:1:1: no such file or directory",
    ]
    assert len(values["findings"]) == 1
    assert all(f"{line} [not checked]\n" in text_of(result) for line in values["problems"])


@pytest.mark.parametrize("tool", ["check", "fix", "adopt"])
def test_where_nothing_can_be_checked_it_is_an_error(agent, script, tool):
    broken = script(BROKEN, "broken.py")
    assert agent.error(tool, paths=[broken]) == f"{broken}:2:7: syntax error: invalid syntax"
    assert agent.error(tool, paths=["nope.py"]) == "nope.py:1:1: no such file or directory"
    told = "new.py:2:7: syntax error: invalid syntax"
    assert agent.error(tool, source=BROKEN, filename="new.py") == told


def test_a_configuration_that_is_wrong_is_an_error(agent, folder, script):
    path = script(WRONG)
    (folder / "devicelint.toml").write_text("ignroe = []\n", encoding="utf-8")
    told = agent.error("check", paths=[path])
    assert "devicelint.toml:1:1: " in told
    assert '"ignore"' in told
    assert "\n" not in told


# fix


def test_fix_returns_the_difference_and_writes_nothing(agent, folder, script):
    path = script(WRONG)
    values = agent.values("fix", paths=[path])
    assert values["diff"].startswith(f"--- a/{path}\n+++ b/{path}\n@@ -2,4 +2,4 @@\n")
    assert (values["written"], values["changed"]) == (False, [path])
    assert agent.text("fix", paths=[path]) == values["diff"] + "Would fix 1 finding in 1 file"
    assert (folder / "train.py").read_text(encoding="utf-8") == WRONG


def test_fix_writes_when_asked_to(agent, folder, script):
    path = script(WRONG)
    would = agent.values("fix", paths=[path])["diff"]
    values = agent.values("fix", paths=[path], write=True)
    assert (values["written"], values["diff"]) == (True, would)
    assert f"{path}:5:13: fixed DEV103: " in values["notes"][0]
    assert (folder / "train.py").read_text(encoding="utf-8") == FIXED
    assert agent.text("fix", paths=[path], write=True).startswith("No device mistakes found")


def test_fix_says_what_it_leaves_and_makes_unsafe_fixes_when_asked_to(agent, script):
    path = script(UNSAFE)
    left = agent.values("fix", paths=[path])
    assert left["diff"] == ""
    assert f"{path}:5:23: not fixed DEV105: its fix is unsafe" in left["notes"][0]
    assert "+        self.blocks = nn.ModuleList" in agent.text(
        "fix", paths=[path], unsafe_fixes=True
    )


def test_fix_of_text_is_a_difference_and_nothing_else(agent):
    assert '+print(model(torch.zeros(2, device="cuda")))' in agent.text("fix", source=WRONG)
    told = 'write" needs "paths": there is no file for the text of "source"'
    assert agent.error("fix", source=WRONG, write=True) == f'"{told}'


def test_fix_goes_on_where_a_file_cannot_be_fixed(agent, script):
    path, broken = script(WRONG), script(BROKEN, "broken.py")
    values = agent.values("fix", paths=[broken, path], write=True)
    assert values["problems"] == [f"{broken}:2:7: syntax error: invalid syntax"]
    assert values["changed"] == [path]


# adopt


def test_adopt_returns_the_difference_and_notes(agent, folder, script):
    path = script(CPU_ONLY)
    values = agent.values("adopt", paths=[path])
    assert "+model = nn.Linear(4, 1).to(device)" in values["diff"]
    assert values["notes"][-1].startswith("Would adopt 1 file in ")
    assert (folder / "train.py").read_text(encoding="utf-8") == CPU_ONLY
    assert agent.values("adopt", paths=[path], write=True)["written"] is True
    assert ".to(device)" in (folder / "train.py").read_text(encoding="utf-8")
    again = agent.values("adopt", paths=[path])
    assert (again["diff"], again["changed"]) == ("", [])
    assert again["notes"][-1].startswith("Nothing to adopt in 1 file")


def test_adopt_takes_a_program_with_its_entry(agent, folder, script):
    script("def run(model, x):\n    return model(x)\n", "steps.py")
    script(
        CPU_ONLY.replace("model(x)", "run(model, x)").replace(
            "import torch\n", "import torch\nfrom steps import run\n", 1
        )
    )
    values = agent.values("adopt", paths=[str(folder)], entry=str(folder / "train.py"))
    assert [one.rpartition("/")[2] for one in values["changed"]] == ["train.py"]
    told = agent.error("adopt", paths=[str(folder)], entry="nope.py")
    assert told.startswith("entry: there is no nope.py here, nor in ")


# why


def test_why_returns_the_steps_of_each_value(agent, script):
    path = script(WRONG)
    values = agent.values("why", place=f"{path}:5")
    assert (values["path"], values["line"], values["code"]) == (path, 5, WRONG.splitlines()[4])
    model = next(one for one in values["values"] if one["code"] == "model(torch.zeros(2))")
    assert model["device"].startswith("cuda")
    assert {step["line"] for step in model["steps"]} == {4}
    text = agent.text("why", place=f"{path}:5")
    assert text.startswith(f"{path}:5: print(model(torch.zeros(2)))\n")
    assert f"{path}:4:" in text


def test_why_takes_text(agent):
    assert "cuda" in agent.text("why", place="x.py:4", source=WRONG)


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("nope.py:3", "nope.py:1:1: no such file or directory"),
        ("nope.py", '"nope.py" is not a file and the number of a line: FILE:LINE'),
    ],
)
def test_why_refuses_places_that_are_none(agent, place, told):
    assert agent.error("why", place=place) == told


def test_why_refuses_lines_that_are_not_there(agent):
    told = agent.error("why", place="x.py:99", source=WRONG)
    assert told == "x.py:99:1: the file has 5 lines"
    told = agent.error("why", place="x.py:1", source=BROKEN)
    assert told == "x.py:2:7: syntax error: invalid syntax"


# explain


@pytest.mark.parametrize("facts", rule_index.RULES, ids=lambda facts: facts.code)
def test_explain_returns_each_page_without_what_tests_read(agent, facts):
    values = agent.values("explain", rule=facts.code)
    assert (values["code"], values["name"]) == (facts.code, facts.name)
    page = values["page"]
    assert page.startswith(f"# {facts.name} ({facts.code})\n")
    for markup in ("```py\n", "```py ", "# error: [", "# warning: [", "# raises", "# todo "):
        assert markup not in page
    assert ".md)" not in page
    assert len(page) > len(facts.documentation()) / 2
    assert agent.text("explain", rule=facts.name) == page.removesuffix("\n")


def test_explain_returns_one_section(agent):
    values = agent.values("explain", rule="dev101", section="why")
    assert values["sections"][:2] == ["What it finds", "Why"]
    assert values["page"].startswith("## Why\n")
    assert values["page"].count("\n## ") == 0


def test_explain_names_what_is_nearest(agent):
    told = 'there is no rule "dev1o1"; did you mean "DEV101"?'
    assert agent.error("explain", rule="dev1o1") == told
    told = 'the page of DEV101 has no section "Fixes"; did you mean "Fix"?'
    assert agent.error("explain", rule="DEV101", section="Fixes") == told
    assert 'there are "What it finds", "Why"' in agent.error("explain", rule="DEV101", section="x")


# Arguments that make no sense


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("check", {}, 'give either "paths" (files or folders) or "source" (the text)'),
        (
            "check",
            {"paths": ["a.py"], "source": ""},
            'give either "paths" (files or folders) or "source" (the text)',
        ),
        ("check", {"path": ["a.py"]}, 'check has no argument "path"; did you mean "paths"?'),
        ("check", {"paths": 3}, "check: paths: give a list of strings"),
        ("check", {"paths": [3]}, "check: paths.0: Input should be a valid string"),
        (
            "check",
            {"source": "", "select": ["DEV1o1"]},
            'select: no rule is called "DEV1o1"; did you mean "DEV101"?',
        ),
        (
            "fix",
            {"source": "", "certainty": "sure"},
            "fix: certainty: Input should be 'certain', 'contract' or 'possible'",
        ),
        ("why", {}, "why: place: Field required"),
        ("explain", {"rule": ["DEV101"]}, "explain: rule: Input should be a valid string"),
        ("lint", {}, "Unknown tool: lint"),
    ],
)
def test_arguments_that_make_no_sense_are_refused_in_one_line(agent, tool, arguments, told):
    assert agent.error(tool, **arguments) == told
