//! What docs/programs.md says of its example is what `podward check` says.

use serde_json::json;

use crate::sandbox::{Sandbox, repository};

/// The text of the first fenced block of this language behind a line.
fn block(page: &str, behind: &str, language: &str) -> String {
    let fence = format!("```{language}");
    let mut lines = page.lines().skip_while(|line| !line.ends_with(behind));
    lines.find(|line| *line == fence).unwrap();
    let lines: Vec<&str> = lines.take_while(|line| *line != "```").collect();
    lines.join("\n") + "\n"
}

#[test]
fn the_example_of_the_page_on_programs_is_judged_as_it_says() {
    let page = std::fs::read_to_string(repository().join("docs/programs.md")).unwrap();
    let sandbox = Sandbox::new();
    let models = block(&page, "`programs.txt`:", "text");
    sandbox.write("programs.txt", &models);
    let pod = sandbox.write("pod.toml", &block(&page, "`pod.toml`:", "toml"));
    let rows: Vec<Vec<&str>> = page
        .lines()
        .map(|line| line.split('|').map(str::trim).collect())
        .filter(|row: &Vec<&str>| row.get(1).is_some_and(|cell| cell.starts_with("`deploy")))
        .collect();
    let mut cases = String::new();
    for (idx, row) in rows.iter().enumerate() {
        let manifest = std::fs::read_to_string(&pod).unwrap();
        let case = json!({
            "id": format!("row-{idx}"), "manifest": manifest, "tool": "bash",
            "input": { "command": row[1].trim_matches('`') }, "expect": [row[2]], "why": row[3],
        });
        cases.push_str(&format!("{case}\n"));
    }
    // A case's files lie beside the file of cases.
    let cases = sandbox.write("page.jsonl", &cases);
    let ran = sandbox.run(&["check", "--cases", cases.to_str().unwrap()]);
    let expected = format!("{} passed, 0 failed\n", rows.len());
    assert_eq!(ran.stdout, expected, "{ran:#?}");
    assert!(rows.len() > 10);
}

#[test]
fn models_of_a_manifest_are_used_by_check_and_shown_by_manifest() {
    let sandbox = Sandbox::new();
    sandbox.write("programs.txt", "program deploy\noutput -o=\n");
    let pod = "[programs]\nfiles = [\"programs.txt\"]\n[permissions]\ndefault_action = \"ask\"\n\
               [[permissions.rule]]\ntool = \"bash\"\npattern = \"deploy *\"\naction = \"allow\"\n";
    let pod = sandbox.write("pod.toml", pod);
    let pod = pod.to_str().unwrap();
    let check = |input: &str, exit| {
        let input = json!({ "command": input }).to_string();
        let arguments = [
            "check",
            "--manifest",
            pod,
            "--tool",
            "bash",
            "--input",
            &input,
        ];
        sandbox.run(&arguments).exits(exit);
        sandbox
            .run(&[arguments.as_slice(), &["--isolated"]].concat())
            .exits(exit);
    };
    check("deploy -v", 0);
    check("deploy -o x", 3);
    let shown = sandbox.run(&["manifest", pod]).exits(0).stdout;
    assert!(shown.contains("[programs]\nfiles = ["), "{shown}");
    sandbox.write("programs.txt", "program deploy\noutput o=\n");
    let ran = sandbox.run(&["manifest", pod]).exits(78);
    assert!(ran.stderr.contains("programs.txt:2:8"), "{ran:#?}");
}
