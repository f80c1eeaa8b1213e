use podward_view::Before;
use podward_view::sample::push;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use super::{MAX_COMPARED, before};

#[test]
fn what_is_there_is_shown_as_far_as_it_can_be() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    };
    write("text", b"a\n");
    write("bytes", b"\xff\xfe");
    write("large", &vec![b'a'; MAX_COMPARED + 1]);
    std::fs::create_dir(folder.path().join("folder")).unwrap();
    // Who opens it waits for a writer that never comes.
    let pipe = folder.path().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
    // From the home directory to the root, and down again.
    let below_root = folder.path().to_str().unwrap().trim_start_matches('/');
    let by_home = format!("~/{}{below_root}/text", "../".repeat(40));
    for (path, expected) in [
        (by_home.as_str(), Before::Text("a\n".to_owned())),
        ("text", Before::Text("a\n".to_owned())),
        ("./text", Before::Text("a\n".to_owned())),
        ("bytes", Before::Other("the file that is there is no text")),
        (
            "large",
            Before::Other("the file that is there is too large to compare"),
        ),
        ("folder", Before::Other("what is there is no file")),
        ("pipe", Before::Other("what is there is no file")),
        ("missing", Before::Missing),
        ("text/below", Before::Other("what is there cannot be read")),
    ] {
        let mut request = push("a").request;
        request.tool = "file_write".to_owned();
        request.cwd = folder.path().to_str().unwrap().to_owned();
        request.arguments = json!({"path": path, "content": ""});
        assert_eq!(before(&request), expected, "{path}");
    }
    let request = push("a").request;
    assert_eq!(before(&request), Before::Unknown);
}
