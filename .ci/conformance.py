"""Runs the MCP conformance suite and counts: usage: conformance.py SUITE CLIENT.

A scenario passes with at least one check that succeeded and none that failed: the suite itself passes clients that do
nothing at all.
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

SUITE, CLIENT = pathlib.Path(sys.argv[1]), sys.argv[2]
# Not scored, and passed all the same.
BESIDE = {"2025-11-25": ["json-schema-2020-12-preservation"], "2026-07-28": ["json-schema-2020-12-preservation"]}
BACKCOMPAT = ["auth/2025-03-26-oauth-metadata-backcompat", "auth/2025-03-26-oauth-endpoint-fallback"]
SCORED = {"2025-11-25": 18, "2026-07-28": 32}


def required(revision):
    """The scenarios of a revision that count: the list `client` of its requirements."""
    found, inside = [], False
    for line in (SUITE / "requirements" / f"{revision}.yaml").read_text().splitlines():
        if line and not line[0].isspace() and not line.startswith("#"):
            inside = line.startswith("client:")
        elif inside and line.strip().startswith("- "):
            found.append(line.strip()[2:].strip())
    return found


def run(arguments, folder):
    command = ["node", str(SUITE / "dist" / "index.js"), "client", "--command", CLIENT, "-o", folder, *arguments]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600, check=False)


def checks(folder, scenario):
    """The checks of a scenario; its folder ends with a time."""
    place = pathlib.Path(folder, scenario)
    found = [path for path in place.parent.glob(f"{place.name}-20*") if (path / "checks.json").exists()]
    return json.loads((found[0] / "checks.json").read_text()) if len(found) == 1 else []


def verdict(name, folder, scenario):
    found = checks(folder, scenario)
    count = collections.Counter(check["status"] for check in found)
    passed = count["SUCCESS"] >= 1 and count["FAILURE"] == 0
    if not passed:
        print(f"{name}: {scenario} FAILED: {dict(count)}")
        for check in found:
            if check["status"] == "FAILURE":
                print(f"    {check['id']}: {check.get('errorMessage') or check.get('description')}")
    return passed


def main():
    good = True
    legs = [(revision, ["--requirements", revision], required(revision), BESIDE[revision]) for revision in SCORED]
    legs.append(("backcompat", ["--suite", "backcompat"], BACKCOMPAT, []))
    for name, arguments, scored, beside in legs:
        with tempfile.TemporaryDirectory() as folder:
            run(arguments, folder)
            passed = sum(verdict(name, folder, scenario) for scenario in scored)
            extra = sum(verdict(name, folder, scenario) for scenario in beside)
        print(f"{name}: {passed} of {len(scored)} scored" + (f", {extra} of {len(beside)} beside" if beside else ""))
        good &= passed == len(scored) == SCORED.get(name, len(BACKCOMPAT)) and extra == len(beside)
    return 0 if good else 1


sys.exit(main())
