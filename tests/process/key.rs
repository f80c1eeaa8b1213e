//! The key of a model is out of reach of whatever the agent runs.

use crate::sandbox::{ALLOW_ALL, Ran, Sandbox};

const SECRET: &str = "sk-hush-0123456789";

#[test]
fn no_tool_finds_the_key_and_nothing_writes_it_down() {
    let sandbox = Sandbox::new();
    let look = "env; cat /proc/$PPID/environ /proc/self/environ; \
        for fd in /proc/$PPID/fd/* /proc/self/fd/*; do case $(readlink $fd) in *memfd*) cat $fd;; esac; done; \
        echo looked";
    let script = format!(
        "[[step]]\n[[step.call]]\ntool = \"bash\"\ninput = {{ command = '''{look}''' }}\n\
         [[step.call]]\ntool = \"read\"\ninput = {{ path = \"/proc/self/environ\" }}\n\
         [[step]]\ntext = \"{{{{result.1 | find looked}}}}\"\n"
    );
    sandbox.write("script.toml", &script);
    let pod = sandbox.write(
        "pod.toml",
        &format!(
            "[pod]\nworkspace = \"work\"\n[model]\nprovider = \"scripted\"\n\
             script = \"./script.toml\"\nkey_env = \"MODEL_KEY\"\n{ALLOW_ALL}"
        ),
    );
    let log = sandbox.path("podward.log");
    let output = sandbox
        .podward(&["run", pod.to_str().unwrap(), "go", "--format", "json"])
        .args(["--log", "trace", "--log-file", log.to_str().unwrap()])
        .env("MODEL_KEY", SECRET)
        .output()
        .unwrap();
    let ran = Ran::from(output).exits(0);
    assert!(ran.stdout.contains("looked"), "{ran:#?}");
    let session = sandbox.session();
    let written = [
        ran.stdout,
        ran.stderr,
        std::fs::read_to_string(log).unwrap(),
        std::fs::read_to_string(session.join("session.jsonl")).unwrap(),
        std::fs::read_to_string(session.join("decisions.jsonl")).unwrap(),
    ];
    for text in written {
        assert!(!text.contains(SECRET), "{text}");
    }
}
