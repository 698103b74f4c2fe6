#!/usr/bin/env bash
# The first step of action.yml: devicelint as it is at the revision of the action, in an environment of its own,
# whose commands the next steps find.
set -euo pipefail

environment="$RUNNER_TEMP/devicelint"
"$DEVICELINT_PYTHON" -m venv "$environment"
commands="$environment/bin"
if [ -d "$environment/Scripts" ]; then
    commands="$environment/Scripts"
fi
"$commands/python" -m pip install --quiet --disable-pip-version-check "$GITHUB_ACTION_PATH"
echo "$commands" >> "$GITHUB_PATH"
