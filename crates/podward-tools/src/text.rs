//! Results that stay within their limits.

/// The text, cut to at most `bytes_max` bytes of whole lines, with a mark where it was cut.
pub(crate) fn cut_to(mut text: String, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text;
    }
    let n_bytes = text.len();
    let mut end = bytes_max;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    if let Some(newline) = text.rfind('\n') {
        text.truncate(newline + 1);
    } else {
        text.push('\n');
    }
    let n_left = n_bytes.saturating_sub(text.len());
    text.push_str(&format!("[cut: {n_left} bytes more]\n"));
    text
}

/// One line, cut to at most `bytes_max` bytes, with a mark where it was cut.
pub(crate) fn cut_line(line: &str, bytes_max: usize) -> String {
    if line.len() <= bytes_max {
        return line.to_owned();
    }
    let mut end = bytes_max;
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    let (kept, cut) = line.split_at(end);
    format!("{kept} [line cut: {} bytes more]", cut.len())
}
