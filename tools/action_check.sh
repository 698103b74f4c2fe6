#!/usr/bin/env bash
# The second step of action.yml: annotations on standard output, SARIF and the summary of the job beside them.
# macOS has bash 3.2: no mapfile, and an empty array counts as unset.
set -euo pipefail

words=()
add_lines() {
    local line
    while IFS= read -r line || [ -n "$line" ]; do
        line="${line%$'\r'}"
        if [ -n "${line//[[:space:]]/}" ]; then
            words+=("$line")
        fi
    done <<< "$1"
}
add_lines "$DEVICELINT_ARGS"
reports=()
if [ -n "$DEVICELINT_SARIF_FILE" ]; then
    reports=(--report "sarif=$DEVICELINT_SARIF_FILE")
fi
words+=(--)
add_lines "$DEVICELINT_PATHS"

status=0
devicelint check --output-format github ${reports[@]+"${reports[@]}"} "${words[@]}" || status=$?
echo "status=$status" >> "$GITHUB_OUTPUT"

# Counted from what the first run has left in the cache.
if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ "$status" -eq 1 ]; then
    {
        echo "### devicelint"
        echo '```text'
        devicelint check --exit-zero --statistics "${words[@]}" 2>&1
        echo '```'
    } >> "$GITHUB_STEP_SUMMARY"
fi

if [ "$status" -eq 1 ] && [ "$DEVICELINT_FAIL_ON_FINDINGS" != true ]; then
    status=0
fi
exit "$status"
