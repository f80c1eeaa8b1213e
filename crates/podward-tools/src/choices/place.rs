//! What may be saved about a path or a URL: itself, and what lies beside it.

use podward_policy::{PathForm, PathSubject, Text, UrlSubject};

use super::Width;
use super::pattern::escaped;

/// Directories at the root that are small enough to be named alone.
const SMALL_ROOTS: &[&str] = &["/tmp"];

/// Patterns for a path.
pub(super) fn path_candidates(path: &PathSubject) -> Vec<(Width, String)> {
    let short = &path.lexical.short;
    let file = short.as_known().map(|known| (Width::File, escaped(known)));
    let directory = directory_of(before_hole(short))
        .filter(|directory| is_narrow(directory, &path.lexical))
        .map(|directory| (Width::Directory, format!("{}/*", escaped(directory))));
    file.into_iter().chain(directory).collect()
}

/// The pattern for all below a directory, whose text ends in `/`.
pub(super) fn tree_candidates(tree: &PathSubject) -> Vec<(Width, String)> {
    let directory = tree
        .lexical
        .short
        .as_known()
        .and_then(|known| known.strip_suffix('/'))
        .filter(|directory| is_narrow(directory, &tree.lexical));
    directory
        .map(|directory| (Width::Directory, format!("{}/*", escaped(directory))))
        .into_iter()
        .collect()
}

/// Patterns for a URL: itself, the directory of its path, its host.
pub(super) fn url_candidates(url: &UrlSubject) -> Vec<(Width, String)> {
    let exact = url
        .text
        .as_known()
        .map(|known| (Width::Url, escaped(known)));
    let known = before_hole(&url.text);
    let path_start = known
        .get(url.host.end..)
        .and_then(|rest| rest.find('/'))
        .map(|offset| url.host.end + offset);
    let open_behind = |end: usize| {
        let front = known.get(..=end)?;
        Some((Width::Host, format!("{}*", escaped(front))))
    };
    let host = path_start.and_then(open_behind);
    let directory = path_start.and_then(|start| {
        let path = known.get(start..)?;
        let path = path.split(['?', '#']).next()?;
        open_behind(start + path.rfind('/')?)
    });
    [exact, directory, host].into_iter().flatten().collect()
}

/// The known characters in front of the first hole.
fn before_hole(text: &Text) -> &str {
    let end = text.holes().first().map(|hole| hole.at);
    let known = text.known_part();
    end.and_then(|end| known.get(..end)).unwrap_or(known)
}

fn directory_of(path: &str) -> Option<&str> {
    let (directory, _) = path.rsplit_once('/')?;
    (!directory.is_empty()).then_some(directory)
}

/// Whether a directory is more than a root, the home directory, or what lies around them.
fn is_narrow(directory: &str, form: &PathForm) -> bool {
    if matches!(directory, "" | "." | "..") || directory.starts_with("../") {
        return false;
    }
    let Some(below_root) = directory.strip_prefix('/') else {
        return true;
    };
    let home = form.home.as_ref().map(Text::known_part);
    let is_home = home.is_some_and(|home| {
        // `~/x`, or `~/x/` of a tree: the directory of the first is the home directory itself.
        let absolute = form.absolute.known_part();
        let n_below = home.strip_prefix('~').map_or(0, str::len);
        absolute.len() - n_below >= directory.len()
    });
    let n_parts = below_root.split('/').count();
    !is_home && (n_parts > 1 || SMALL_ROOTS.contains(&directory))
}
