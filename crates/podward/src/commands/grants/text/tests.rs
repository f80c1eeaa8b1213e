use podward_protocol::{Circumstances, Grant, GrantId, GrantRule, SessionId};

use super::*;

fn asker(by: AskedBy) -> Asker {
    Asker {
        layer: "manifest".to_owned(),
        by,
    }
}

fn stored(lasts: GrantFor) -> StoredGrant {
    StoredGrant {
        workspace: "/home/u/project".to_owned(),
        given_in: SessionId::from_bits(7),
        grant: Grant {
            id: GrantId::new("01M8MVW7500000000000000000"),
            rules: vec![GrantRule {
                tool: "bash".to_owned(),
                pattern: "git push *".to_owned(),
                askers: vec![
                    asker(AskedBy::Rule {
                        tool: "bash".to_owned(),
                        pattern: "git *\u{1b}[2K".to_owned(),
                    }),
                    asker(AskedBy::Default),
                ],
                given: Circumstances::default(),
            }],
            lasts,
            by: "a terminal".to_owned(),
            at: "2026-01-02T12:00:00Z".parse().unwrap(),
            why: "git push\norigin".to_owned(),
            expires_at: None,
            uses_left: Some(2),
        },
    }
}

#[test]
fn a_grant_is_explained_in_full() {
    let expected = "\
01M8MVW7500000000000000000
  workspace  /home/u/project
  counts     for 2 more of 3 calls
  given by   a terminal, 2026-01-02T12:00:00.000Z
  in session 00000000000000000000000007
  asked      git push\\norigin
  it covers bash `git push *`
    where the rule bash `git *\\u{1b}[2K` of the layer `manifest` asks
    where `default_action` of the layer `manifest` asks
  Whatever else asks about such a call asks again, and what is denied stays denied.
";
    assert_eq!(explain(&stored(GrantFor::Uses { n: 3 })), expected);
}

#[test]
fn a_list_has_the_patterns_of_each_workspace() {
    let file = |grants| StoredGrants {
        file: "/state/grants/0.jsonl".into(),
        grants,
        problems: Vec::new(),
    };
    let time = "2026-01-02T13:00:00Z".parse().unwrap();
    let all = [
        file(Vec::new()),
        file(vec![
            stored(GrantFor::Project),
            stored(GrantFor::Session),
            stored(GrantFor::Until { time }),
        ]),
    ];
    let expected = "\
/home/u/project
  01M8MVW7500000000000000000  for this workspace
    bash `git push *`
  01M8MVW7500000000000000000  for the session 00000000000000000000000007
    bash `git push *`
  01M8MVW7500000000000000000  until 2026-01-02T13:00:00.000Z
    bash `git push *`
";
    assert_eq!(list(&all), expected);
}
