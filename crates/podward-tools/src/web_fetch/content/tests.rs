use super::*;

#[test]
fn a_type_says_what_a_body_is_and_a_nul_says_more() {
    let kind = |content_type: &str, bytes: &[u8]| Kind::of(Some(content_type), bytes);
    assert_eq!(kind("Text/HTML; charset=utf-8", b"<p>"), Kind::Html);
    assert_eq!(kind("application/xhtml+xml", b""), Kind::Html);
    for text in [
        "text/plain",
        "text/x-rust",
        "application/json",
        "application/ld+json",
        "image/svg+xml",
        "application/yaml ; x=y",
    ] {
        assert_eq!(kind(text, b"a"), Kind::Plain, "{text}");
        assert_eq!(kind(text, b"a\0b"), Kind::Binary, "{text}");
    }
    for binary in [
        "image/png",
        "application/pdf",
        "application/octet-stream",
        "x",
    ] {
        assert_eq!(kind(binary, b"a"), Kind::Binary, "{binary}");
    }
    assert_eq!(Kind::of(None, b"a"), Kind::Plain);
    assert_eq!(Kind::of(None, b" <!DOCTYPE html><p>"), Kind::Html);
    assert_eq!(Kind::of(None, b"\x89PNG\0"), Kind::Binary);
    assert_eq!(kind("text/plain; charset=utf-16le", b"a\0b\0"), Kind::Plain);
    assert_eq!(kind("text/plain", b"\xff\xfea\0b\0"), Kind::Plain);
}

#[test]
fn characters_are_those_that_were_meant() {
    let text = |content_type: &str, bytes: &[u8]| decode(Some(content_type), bytes);
    assert_eq!(text("text/plain", "grün".as_bytes()), "grün");
    assert_eq!(
        text("text/plain; charset=\"ISO-8859-1\"", b"gr\xfcn"),
        "grün"
    );
    assert_eq!(text("text/plain; charset=utf-16le", b"a\0b\0"), "ab");
    assert_eq!(
        text("text/plain; charset=latin1", b"\xef\xbb\xbfgr\xc3\xbcn"),
        "grün"
    );
    let page = b"<meta charset='windows-1251'><p>\xcf\xf0\xe8\xe2\xe5\xf2";
    assert_eq!(
        text("text/html", page),
        "<meta charset='windows-1251'><p>Привет"
    );
    let xml = b"<?xml version='1.0' encoding='iso-8859-1'?><a>\xfc</a>";
    assert!(text("application/xml", xml).ends_with("<a>ü</a>"));
    assert_eq!(text("text/plain; charset=klingon", b"a\xffb"), "a\u{fffd}b");
}
