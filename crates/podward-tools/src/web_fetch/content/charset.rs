//! Which characters the bytes of an answer are.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// Bytes of a page in which it may name its own encoding (HTML Standard, 13.2.3.2).
const PRESCAN: usize = 1024;

/// The text of a body: by its byte order mark, the type's `charset`, what the page says, or UTF-8.
/// Bytes that are no character become U+FFFD.
pub(crate) fn decode(content_type: Option<&str>, bytes: &[u8]) -> String {
    let encoding = declared(content_type)
        .or_else(|| within(bytes))
        .unwrap_or(UTF_8);
    encoding.decode(bytes).0.into_owned()
}

/// Whether a body is in UTF-16, which is text with NULs.
pub(super) fn is_utf_16(content_type: Option<&str>, bytes: &[u8]) -> bool {
    let by_mark = Encoding::for_bom(bytes).map(|(encoding, _)| encoding);
    let encoding = by_mark.or_else(|| declared(content_type));
    encoding.is_some_and(|encoding| encoding == UTF_16LE || encoding == UTF_16BE)
}

fn declared(content_type: Option<&str>) -> Option<&'static Encoding> {
    let parameters = content_type?.split(';').skip(1);
    let mut charsets = parameters.filter_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim()
            .eq_ignore_ascii_case("charset")
            .then(|| value.trim().trim_matches('"'))
    });
    Encoding::for_label(charsets.next()?.as_bytes())
}

/// What a page or an XML file says of itself: the first `charset=` or `encoding=`.
fn within(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = bytes.get(..PRESCAN).unwrap_or(bytes);
    let start = String::from_utf8_lossy(start).to_ascii_lowercase();
    let (_, after) = start
        .split_once("charset=")
        .or_else(|| start.split_once("encoding="))?;
    let after = after.trim_start_matches(['"', '\'', ' ']);
    let label = after
        .split(['"', '\'', ' ', '>', ';', '/', '?'])
        .next()
        .unwrap_or_default();
    // A page that could be read this far is not in UTF-16, whatever it says.
    Encoding::for_label(label.as_bytes()).map(Encoding::output_encoding)
}
