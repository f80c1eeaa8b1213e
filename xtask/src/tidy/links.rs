//! Links between the pages lead somewhere.

use super::Finding;
use crate::tree::{File, Tree};

/// Finds links of Markdown files whose file or heading does not exist.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.ending_in(".md") {
        for (line, target) in links_of(&file.text) {
            if let Some(what) = broken(tree, file, &target) {
                findings.push(Finding::at("links", &file.path, line, what));
            }
        }
    }
    findings
}

/// Targets of `[text](target)` outside code, with their lines.
fn links_of(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (line, content) in prose_of(text) {
        for (start, _) in content.match_indices("](") {
            let rest = content.get(start + 2..).unwrap_or_default();
            if let Some((target, _)) = rest.split_once(')') {
                links.push((line, target.trim().to_owned()));
            }
        }
    }
    links
}

/// Lines outside code blocks, without inline code, numbered from 1.
fn prose_of(text: &str) -> Vec<(usize, String)> {
    let mut in_block = false;
    let mut prose = Vec::new();
    for (idx, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block {
            let outside_code: Vec<&str> = line.split('`').step_by(2).collect();
            prose.push((idx + 1, outside_code.join("`")));
        }
    }
    prose
}

fn broken(tree: &Tree, file: &File, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let linked = if path.is_empty() {
        file.path.clone()
    } else {
        resolve(&file.path, path)
    };
    if !tree.has(&linked) {
        return Some(format!("`{target}` leads nowhere: no `{linked}`"));
    }
    let text = tree
        .get(&linked)
        .map(|file| file.text.as_str())
        .unwrap_or_default();
    (!anchor.is_empty() && !anchors_of(text).iter().any(|known| known == anchor))
        .then(|| format!("`{target}` leads nowhere: no heading `#{anchor}` in `{linked}`"))
}

/// A path relative to the folder of a file, without `.` and `..`.
fn resolve(from: &str, path: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The anchors that a Markdown page's headings get, as hosts of repositories make them.
fn anchors_of(text: &str) -> Vec<String> {
    let mut in_block = false;
    let mut anchors: Vec<String> = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        }
        let heading = line.trim_start_matches('#');
        if in_block || heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let anchor: String = heading
            .trim()
            .to_lowercase()
            .chars()
            .filter_map(|c| match c {
                ' ' => Some('-'),
                c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
                _ => None,
            })
            .collect();
        anchors.push(anchor);
    }
    anchors
}

#[cfg(test)]
mod tests;
