//! The texts that are read: what agents type, at the sizes that are compared.

/// Texts of one size.
pub(crate) struct Group {
    pub(crate) name: &'static str,
    pub(crate) texts: Vec<String>,
}

/// One simple command without a character that means anything to the shell.
const PLAIN: &[&str] = &[
    "git status --short",
    "cargo test --package podward-shell --lib",
    "ls -la crates/podward/src",
    "npm run build",
    "pytest tests/unit -x -q",
    "grep -rn TODO src",
    "git log --oneline -n 20",
    "cat README.md",
];

/// About 50 bytes.
const LINES: &[&str] = &[
    "git add -A && git commit -m \"fix: handle empty input\"",
    "cargo test --workspace 2>&1 | tail -n 40",
    "cd crates/parser && cargo clippy -- -D warnings",
    "find . -name '*.py' -not -path './venv/*' | wc -l",
    "for f in src/*.ts; do npx prettier --check \"$f\"; done",
    "curl -fsSL https://example.org/data.json | jq '.items'",
    "grep -rn \"TODO\" src --include='*.rs' | head -20",
    "[ -f .env ] && echo present || echo absent; ls -la",
];

/// About 200 bytes.
const LONG_LINES: &[&str] = &[
    "cd /work/project && git fetch origin main --quiet && git log --oneline HEAD..origin/main | head -n 20; git diff --stat origin/main -- src tests | tail -n 5; echo \"behind by $(git rev-list --count HEAD..origin/main) commits\"",
    "for pkg in core cli web; do echo \"== $pkg\"; (cd packages/$pkg && npm ci --silent && npm test -- --coverage > /tmp/$pkg.log 2>&1 && tail -n 3 /tmp/$pkg.log) || { echo \"failed: $pkg\"; exit 1; }; done; echo done",
    "find src -type f \\( -name '*.c' -o -name '*.h' \\) -print0 | xargs -0 grep -nE 'malloc|free' | sort -t: -k1,1 -k2,2n | awk -F: '{ n[$1]++ } END { for (f in n) print n[f], f }' | sort -rn | head -n 15",
    "if [ -f package-lock.json ]; then npm ci; elif [ -f yarn.lock ]; then yarn install --frozen-lockfile; else npm install --no-audit; fi && npx tsc --noEmit -p tsconfig.json 2>&1 | tee build.log | grep -c 'error TS' || true",
];

/// About 1 kB.
const SCRIPTS: &[&str] = &[
    r#"set -euo pipefail
cd "$(git rev-parse --show-toplevel)"
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
if git rev-parse "v$version" >/dev/null 2>&1; then
  echo "v$version is already tagged" >&2
  exit 1
fi
for target in x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu; do
  cargo build --release --locked --target "$target"
  mkdir -p "dist/$target"
  cp "target/$target/release/tool" "dist/$target/"
  tar -C "dist/$target" -czf "dist/tool-$version-$target.tar.gz" tool
done
(cd dist && sha256sum ./*.tar.gz > SHA256SUMS)
cat > dist/NOTES.md <<'EOF'
# Changes
- reads here-documents of any length
- names what it refuses
EOF
case "${1:-}" in
  --publish) gh release create "v$version" dist/*.tar.gz dist/SHA256SUMS --notes-file dist/NOTES.md ;;
  --dry-run|"") ls -l dist ;;
  *) echo "usage: $0 [--publish|--dry-run]" >&2; exit 2 ;;
esac
while read -r sum name; do
  printf '%s  %s\n' "${sum:0:12}" "$name"
done < dist/SHA256SUMS | sort -k2 | tee dist/short.txt
"#,
    r#"cat > src/config.py <<'EOF'
"""Settings, read once at the start."""
import json
import os
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    root: Path
    retries: int = 3
    hosts: list[str] = field(default_factory=list)

    @classmethod
    def load(cls, path: Path) -> "Settings":
        data = json.loads(path.read_text())
        return cls(
            root=Path(data["root"]).expanduser(),
            retries=int(data.get("retries", os.environ.get("RETRIES", 3))),
            hosts=[host.strip() for host in data.get("hosts", [])],
        )


def main() -> None:
    settings = Settings.load(Path("settings.json"))
    for host in settings.hosts:
        print(f"{host}: {settings.retries} tries below {settings.root}")


if __name__ == "__main__":
    main()
EOF
python3 -m py_compile src/config.py && python3 -m pytest -q tests/test_config.py 2>&1 | tail -n 15; git diff --stat
"#,
];

/// All groups, smallest first.
pub(crate) fn groups() -> Vec<Group> {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    vec![
        group("plain command", owned(PLAIN)),
        group("50 B", owned(LINES)),
        group("200 B", owned(LONG_LINES)),
        group("1 kB", owned(SCRIPTS)),
        group("60 kB: a file written", vec![written_file(60_000)]),
        group("60 kB: a script", vec![script(60_000)]),
        group("100 kB: a file written", vec![written_file(100_000)]),
        group("100 kB: a script", vec![script(100_000)]),
    ]
}

fn group(name: &'static str, texts: Vec<String>) -> Group {
    Group { name, texts }
}

/// One here-document of this many bytes, as an agent writes a file with it.
fn written_file(n_bytes: usize) -> String {
    let mut text = String::from("cat > src/generated.rs <<'EOF'\n");
    let mut n = 0;
    while text.len() + 64 < n_bytes {
        text.push_str(&format!(
            "    let value_{n} = table.get({n}).copied().unwrap_or_default();\n"
        ));
        n += 1;
    }
    text.push_str("EOF\nrustfmt --check src/generated.rs\n");
    text
}

/// Long commands, one a line: what a generator of commands writes.
fn script(n_bytes: usize) -> String {
    let mut text = String::new();
    let mut n = 0;
    while text.len() + 256 < n_bytes {
        text.push_str(&format!(
            "curl -fsS -H \"Accept: application/json\" -H \"X-Request: batch-{n}\" --data '{{\"item\": {n}, \"name\": \"entry number {n}\", \"tags\": [\"a\", \"b\", \"c\"], \"note\": \"written by a generator, one line an entry\"}}' https://example.org/api/items/{n} > out/{n}.json\n"
        ));
        n += 1;
    }
    text
}
