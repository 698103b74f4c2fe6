"""Where reports say that the page of a rule can be read."""

import json

from devicelint.output import rule_help
from tests.output import samples


def test_a_rule_has_a_page_where_the_documentation_is(published):
    published("Source, https://x.example/src", "Documentation, https://x.example/docs/")
    page = "https://x.example/docs/rules/module_input_elsewhere.html"
    assert rule_help.help_uri("DEV101") == page
    assert rule_help.help_uri("XYZ999") is None
    log = json.loads(samples.everything("sarif"))
    driver = log["runs"][0]["tool"]["driver"]
    assert driver["informationUri"] == "https://x.example/docs/"
    assert driver["rules"][1]["helpUri"] == page
    result = json.loads(samples.everything("rdjson"))
    assert result["diagnostics"][0]["code"] == {"value": "DEV101", "url": page}
    assert json.loads(samples.everything("json"))[0]["url"] == page


def test_a_rule_has_no_page_where_nobody_says(published):
    published()
    assert rule_help.help_uri("DEV101") is None
