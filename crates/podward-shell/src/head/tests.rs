use super::head;
use crate::AddedPrograms;

/// What has to stay of a command, its words joined: for the program, for the subcommand.
fn check(cases: &[(&str, &str, &str)]) {
    let added = AddedPrograms::default();
    let mut wrong = Vec::new();
    for (command, program, subcommand) in cases {
        let words: Vec<&str> = command.split(' ').collect();
        let head = head(&words, &added);
        let shown = |n: Option<usize>| n.map_or_else(String::new, |n| words[..n].join(" "));
        let found = (shown(head.program), shown(head.subcommand));
        if found != ((*program).to_owned(), (*subcommand).to_owned()) {
            wrong.push((*command, found));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn programs_and_their_subcommands() {
    check(&[
        ("git push origin main", "git", "git push"),
        ("git -C d push origin", "git", "git -C d push"),
        ("git remote add a b", "git", "git remote add"),
        ("git", "git", ""),
        ("cargo test -p x", "cargo", "cargo test"),
        ("cargo nothing x", "cargo", "cargo nothing"),
        ("ls -l src", "ls", ""),
        ("rm -rf build", "rm", ""),
        ("/usr/bin/git push", "/usr/bin/git", "/usr/bin/git push"),
        ("FOO=1 git push x", "FOO=1 git", "FOO=1 git push"),
        ("make -j 4 test", "make", "make -j 4 test"),
        ("make", "make", ""),
        ("mytool deploy x", "mytool", "mytool deploy"),
        ("mytool ./x", "mytool", ""),
        ("mytool -v deploy", "mytool", ""),
        ("./build.sh all", "./build.sh", "./build.sh all"),
        ("sed -n 1,5p x", "sed", ""),
        ("", "", ""),
    ]);
}

#[test]
fn what_runs_anything_is_never_open_as_a_whole() {
    check(&[
        ("bash", "", ""),
        ("bash -c ls", "", ""),
        ("bash -lc ls", "", ""),
        ("bash x.sh a", "", "bash x.sh"),
        ("/bin/sh x.sh", "", "/bin/sh x.sh"),
        ("zsh -", "", ""),
        ("python3", "", ""),
        ("python3 -c code", "", ""),
        ("python3 x.py a", "", "python3 x.py"),
        ("python3.12 x.py a", "", "python3.12 x.py"),
        ("python3 -", "", ""),
        ("node -e code", "", ""),
        ("node x.js a", "", "node x.js"),
        ("perl -ne code x", "", ""),
        ("ruby x.rb", "", "ruby x.rb"),
        ("java -jar x.jar", "", ""),
        ("awk code x", "", "awk code"),
        ("deno run x.ts", "", "deno run x.ts"),
        ("deno eval code", "", ""),
        ("eval ls", "", ""),
        ("source x.sh", "", ""),
        (". x.sh", "", ""),
        ("trap ls EXIT", "", ""),
        ("crontab x", "", ""),
        ("export A=b", "", ""),
        ("git -c core.pager=x log", "", ""),
    ]);
}

#[test]
fn the_head_of_a_wrapper_reaches_to_what_it_runs() {
    check(&[
        ("sudo", "", ""),
        ("sudo -u root", "", ""),
        ("sudo ls x", "sudo ls", ""),
        (
            "sudo -u root systemctl restart x",
            "sudo -u root systemctl",
            "sudo -u root systemctl restart",
        ),
        ("sudo bash", "", ""),
        ("sudo python3 x.py", "", "sudo python3 x.py"),
        ("env", "", ""),
        ("env A=b git push x", "env A=b git", "env A=b git push"),
        ("env A=b", "", ""),
        ("xargs", "", ""),
        ("xargs -n 1 rm -f", "xargs -n 1 rm", ""),
        ("xargs sh -c ls", "", ""),
        (
            "timeout 5 git push x",
            "timeout 5 git",
            "timeout 5 git push",
        ),
        ("command git push x", "command git", "command git push"),
        ("exec bash", "", ""),
        ("ssh host ls", "", ""),
        ("find . -exec rm {} ;", "", ""),
        ("find . -name x", "find", ""),
        ("parallel ls ::: a", "", ""),
    ]);
}

#[test]
fn package_runners_are_named_with_what_they_run() {
    check(&[
        ("npx", "", ""),
        ("npx prettier -w x", "npx prettier", ""),
        ("npx -y prettier -w x", "npx -y prettier", ""),
        ("npm", "", ""),
        ("npm run build -- x", "", "npm run build"),
        ("npm test", "", "npm test"),
        ("npm exec x", "npm exec x", ""),
        ("uvx ruff check", "uvx ruff", "uvx ruff check"),
        ("uv run", "", ""),
        ("uv run pytest x", "uv run pytest", ""),
        ("uv run python3 -c x", "", ""),
        ("python3 -m pytest x", "python3 -m pytest", ""),
        (
            "python3 -m pip install x",
            "python3 -m pip",
            "python3 -m pip install",
        ),
        ("python3 -m", "", ""),
        ("python3 -m timeit x", "", "python3 -m timeit x"),
        ("docker", "", ""),
        ("docker ps -a", "", "docker ps"),
        ("docker run", "", ""),
        ("docker run alpine ls x", "docker run alpine ls", ""),
        ("docker exec c sh -c x", "", ""),
        ("docker compose up -d", "", "docker compose up"),
        ("kubectl", "", ""),
        ("kubectl get pods", "", "kubectl get"),
        ("kubectl exec p -- ls x", "kubectl exec p -- ls", ""),
        ("go test ./...", "", "go test"),
        (
            "rustup run nightly cargo test x",
            "rustup run nightly cargo",
            "rustup run nightly cargo test",
        ),
    ]);
}

/// What they do by themselves, or by a task of the project, is named by its word.
#[test]
fn a_runner_is_named_with_its_subcommand() {
    check(&[
        ("yarn build", "", "yarn build"),
        ("yarn add x", "", "yarn add"),
        ("yarn run build --x", "", "yarn run build"),
        ("yarn run", "", ""),
        ("yarn", "", ""),
        ("yarn exec", "", ""),
        ("yarn dlx", "", ""),
        ("yarn node -e x", "", ""),
        ("yarn workspace a build", "", ""),
        ("yarn workspaces foreach run build", "", ""),
        ("pnpm i", "", "pnpm i"),
        ("pnpm i x", "", "pnpm i"),
        ("pnpm run build", "", "pnpm run build"),
        ("pnpm exec", "", ""),
        ("npm run", "", "npm run"),
        ("npm run x", "", "npm run x"),
        ("just x", "just", "just x"),
        ("make x", "make", "make x"),
        ("make", "make", ""),
    ]);
}

/// What a dialogue or its input makes them run, nobody sees; code in arguments is an operation of its
/// own.
#[test]
fn what_is_told_commands_in_a_dialogue_is_not_open_as_a_whole() {
    let of = |command: &str| {
        let words: Vec<&str> = command.split(' ').collect();
        head(&words, &AddedPrograms::default())
    };
    let wrong: Vec<_> = IN_A_DIALOGUE
        .iter()
        .filter(|command| of(command).program.is_some())
        .collect();
    assert!(wrong.is_empty(), "open: {wrong:?}");
    let wrong: Vec<_> = CODE_IN_ARGUMENTS
        .iter()
        .filter(|command| of(command).program != Some(1))
        .collect();
    assert!(wrong.is_empty(), "not open: {wrong:?}");
    // The command stays what it is while its values change.
    assert_eq!(of("psql -l").name, Some(1));
    assert_eq!(of("vim a").name, None);
}

const IN_A_DIALOGUE: &[&str] = &[
    "psql -l",
    "mysql -u x",
    "mariadb db",
    "sqlite3 a.db",
    "duckdb a.db",
    "pgcli",
    "redis-cli",
    "mongosh db",
    "sqlplus",
    "vim a",
    "vi a",
    "nvim a",
    "nano a",
    "ed a",
    "emacs a",
    "less a",
    "man ls",
    "gdb a",
    "lldb a",
    "ssh host",
    "sftp host",
    "ftp host",
    "telnet host",
    "mail x",
    "at 12:00",
    "crontab -l",
    "dc",
    "tmux ls",
    "screen -ls",
    "tig",
    "debugfs a",
];

const CODE_IN_ARGUMENTS: &[&str] = &[
    "git status",
    "cargo test",
    "make",
    "sort a",
    "rg x",
    "zip a b",
    "tar cf a b",
    "rsync -a a b",
    "scp a b",
    "find . -name x",
    "sed -n p a",
    "pg_dump a",
    "mysqldump a",
    "ls -l",
    "cat a",
    "head -n 1 a",
    "grep x a",
    "mytool x",
];

/// Interpreters and runners whose models, if they have one, do not say so.
#[test]
fn what_runs_anything_is_known_without_its_model() {
    check(&[
        ("swift", "", ""),
        ("swift build x", "", "swift build"),
        ("groovy x.groovy a", "", "groovy x.groovy"),
        ("groovy -e x", "", ""),
        ("wine setup.exe /S", "", "wine setup.exe"),
        ("mosh host ls", "", ""),
        ("socat - EXEC:sh", "", ""),
        ("nc -e sh host 1", "", ""),
        ("/usr/bin/ncat host 1", "", ""),
        ("ansible all -m shell -a x", "", ""),
        ("machinectl shell m", "", ""),
        ("qemu-x86_64 ./x", "", ""),
    ]);
}
