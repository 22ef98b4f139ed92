# SPDX-License-Identifier: Apache-2.0
"""tests/cases.md holds: each file that a case is shown in exists, and a test there has its number.

An entry of the last column is a file below tests/, with a remark in brackets at most, or
"e2e `NAME`", a scenario of tests/e2e.
"""
import pathlib
import re
import sys

ROW = re.compile(r"^\| ([TSU]\d\d) \| (.*) \| (.*) \|$")
FILE = re.compile(r"^([\w./-]+\.(?:c|py|go|sh))(?: \([^)]*\))?$")
SCENARIO = re.compile(r"^e2e `([\w-]+)`$")


def names_of(text):
    """The words of a file that may be a test's name: they begin with test_ or Test."""
    return re.findall(r"\b[Tt]est_?\w+", text)


def shows(case, text):
    return any(re.search(rf"(?:^[Tt]est_?|_){case}(?:_|$)", name) for name in names_of(text))


def check_entry(tests, case, entry):
    """What is wrong with one entry; None when nothing is."""
    file, scenario = FILE.match(entry), SCENARIO.match(entry)
    if scenario:
        files = (tests / "e2e").rglob("*")
        if any(re.search(rf"\b{scenario[1]}\b", path.read_text(errors="replace"))
               for path in files if path.is_file()):
            return None
        return f"no file of tests/e2e has {scenario[1]}"
    if not file:
        return f'"{entry}" is neither a file below tests/ nor e2e `NAME`'
    path = tests / file[1]
    if not path.is_file():
        return f"there is no tests/{file[1]}"
    if not shows(case, path.read_text()):
        return f"no test of tests/{file[1]} has it in its name"
    return None


def check_page(tests, page):
    faults, rows, seen, section = [], 0, set(), ""
    for number, line in enumerate(page.splitlines(), 1):
        if line.startswith("## "):
            section = line[3:]
        row = ROW.match(line)
        if not row:
            if re.match(r"^\| *[TSU]\d", line):
                faults.append(f"{number}: no row of three columns")
            continue
        rows += 1
        if (section, row[1]) in seen:
            faults.append(f"{number}: {row[1]}: a second row in \"{section}\"")
        seen.add((section, row[1]))
        for entry in row[3].split(", "):
            fault = check_entry(tests, row[1], entry)
            if fault:
                faults.append(f"{number}: {row[1]}: {fault}")
    if rows == 0:
        faults.append("no row at all")
    return faults, rows


def selftest(tests):
    """A page that is wrong in every way there is."""
    page = ("## A\n| T99 | x | layering/cases.py |\n| T98 | x | io/none.c |\n"
            "| T97 | x | somewhere |\n| T97 | x | e2e `nosuchscenario` |\n| T96 | x |\n")
    faults, _ = check_page(tests, page)
    if len(faults) != 6:
        sys.exit("selftest: " + "\n".join(faults))


def main():
    tests = pathlib.Path(sys.argv[1]) / "tests"
    selftest(tests)
    faults, rows = check_page(tests, (tests / "cases.md").read_text())
    for fault in faults:
        print(f"tests/cases.md:{fault}")
    print(f"{rows} rows, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
