"""Runs the reference validator of the Agent Skills format over the cases of this directory.

    pip install skills-ref==0.1.1
    python3 tests/skills/skills-ref.py            # says where skills-ref.txt is no longer right
    python3 tests/skills/skills-ref.py --write    # writes the verdicts; reasons that stand there stay

What differs from what podward reads has its reason in the third column, by hand; a test of podward-skill
holds each reason to docs/skills.md.
"""

import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
FILES = ["wild.txt", "forms.txt", "malformed.txt"]
VERDICTS = HERE / "skills-ref.txt"


def cases():
    for name in FILES:
        parts = (HERE / name).read_text("utf-8").split("\n=== ")
        for part in parts[1:]:
            title, rest = part.split("\n", 1)
            written = rest.split("-->\n", 1)[0].removesuffix("-->")
            text = written.replace("<CR>", "\r").replace("<BOM>", "\ufeff")
            data = b"\xe9".join(piece.encode() for piece in text.split("<E9>"))
            yield title.split(" ")[0], data


def verdict(case, data, root):
    directory = root / case
    directory.mkdir()
    (directory / "SKILL.md").write_bytes(data)
    ran = subprocess.run(["agentskills", "validate", directory], capture_output=True, timeout=60)
    # It ends with another code, or a traceback, where it fails itself: the skill is not valid then.
    return "valid" if ran.returncode == 0 else "invalid"


def main():
    lines = VERDICTS.read_text("utf-8").splitlines()
    comments = [line for line in lines if line.startswith(";")]
    reasons = {}
    for line in lines:
        case, *rest = line.split(" | ")
        reasons[case] = rest[1:]
    with tempfile.TemporaryDirectory() as root:
        found = [
            " | ".join([case, verdict(case, data, pathlib.Path(root)), *reasons.get(case, [])])
            for case, data in cases()
        ]
    if "--write" in sys.argv[1:]:
        VERDICTS.write_text("\n".join(comments + found) + "\n", "utf-8")
        return 0
    kept = [line for line in lines if not line.startswith(";")]
    for line in sorted(set(kept) ^ set(found)):
        print("-" if line in kept else "+", line)
    return int(kept != found)


if __name__ == "__main__":
    sys.exit(main())
