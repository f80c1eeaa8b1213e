//! Paths and URLs by their text alone: enough to judge commands in tests.

use podward_policy::{
    ByteSpan, HoleKind, PathForm, PathSubject, Text, TextBuilder, UnknownReason, UrlSubject,
};
use podward_shell::{Forms, PathFound, ShellPlace, UrlFound};

pub(crate) const WORKSPACE: &str = "/work/project";
pub(crate) const HOME: &str = "/home/user";

pub(crate) struct Lexical;

pub(crate) fn place() -> ShellPlace<'static> {
    ShellPlace {
        cwd: WORKSPACE,
        home: Some(HOME),
        environment: &["HOME", "PATH", "USER", "LANG"],
        forms: &Lexical,
        programs: None,
    }
}

/// A known character, or a hole.
#[derive(Clone, Copy, PartialEq)]
enum Symbol {
    Char(char),
    Hole(HoleKind),
}

fn symbols(text: &Text) -> Vec<Symbol> {
    let mut symbols = Vec::new();
    let mut holes = text.holes().iter().peekable();
    let known = text.known_part();
    for (at, c) in known.char_indices() {
        while let Some(hole) = holes.next_if(|hole| hole.at <= at) {
            symbols.push(Symbol::Hole(hole.kind));
        }
        symbols.push(Symbol::Char(c));
    }
    symbols.extend(holes.map(|hole| Symbol::Hole(hole.kind)));
    symbols
}

fn text(symbols: &[Symbol]) -> Text {
    let mut builder = TextBuilder::new();
    for symbol in symbols {
        builder = match symbol {
            Symbol::Char(c) => builder.known(c.encode_utf8(&mut [0; 4])),
            Symbol::Hole(kind) => builder.hole(*kind),
        };
    }
    builder.build()
}

fn normalised(path: &[Symbol]) -> Vec<Symbol> {
    let mut parts: Vec<&[Symbol]> = Vec::new();
    for part in path.split(|symbol| *symbol == Symbol::Char('/')) {
        match part {
            [] | [Symbol::Char('.')] => {}
            [Symbol::Char('.'), Symbol::Char('.')] => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let mut whole = Vec::new();
    for part in parts {
        whole.push(Symbol::Char('/'));
        whole.extend_from_slice(part);
    }
    if whole.is_empty() {
        whole.push(Symbol::Char('/'));
    }
    whole
}

fn below<'s>(path: &'s [Symbol], root: &str) -> Option<&'s [Symbol]> {
    let root: Vec<Symbol> = root.chars().map(Symbol::Char).collect();
    match path.strip_prefix(root.as_slice())? {
        [] => Some(&[]),
        [Symbol::Char('/'), rest @ ..] => Some(rest),
        _ => None,
    }
}

/// The same as below for a path without holes, in fewer steps.
fn known_path(base: &str, path: &str) -> PathFound {
    let mut absolute = String::with_capacity(base.len() + path.len() + 1);
    let base = if path.starts_with('/') { "" } else { base };
    for part in base.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => absolute.truncate(absolute.rfind('/').unwrap_or(0)),
            part => {
                absolute.push('/');
                absolute.push_str(part);
            }
        }
    }
    if absolute.is_empty() {
        absolute.push('/');
    }
    let below = |root: &str| match absolute.strip_prefix(root)? {
        "" => Some(""),
        rest => rest.strip_prefix('/'),
    };
    let inside = below(WORKSPACE);
    let subject = PathSubject {
        lexical: PathForm {
            short: Text::known(match inside {
                Some("") => ".",
                Some(rest) => rest,
                None => &absolute,
            }),
            home: below(HOME).map(|rest| Text::known(format!("~/{rest}"))),
            absolute: Text::known(absolute.as_str()),
        },
        resolved: None,
        further: Vec::new(),
    };
    PathFound {
        outside: inside.is_none().then(|| subject.clone()),
        subject,
        unknown: None,
    }
}

impl Forms for Lexical {
    fn path(&self, base: &Text, path: &Text) -> PathFound {
        if let (Some(base), Some(path)) = (base.as_known(), path.as_known()) {
            return known_path(base, path);
        }
        let own = symbols(path);
        let starts_with_hole = matches!(
            own.first(),
            Some(Symbol::Hole(
                HoleKind::Quoted | HoleKind::Unquoted | HoleKind::Anything
            ))
        );
        let absolute = if own.first() == Some(&Symbol::Char('/')) {
            normalised(&own)
        } else if starts_with_hole {
            own
        } else {
            let mut whole = symbols(base);
            whole.push(Symbol::Char('/'));
            whole.extend(own);
            normalised(&whole)
        };
        let inside = below(&absolute, WORKSPACE);
        let short = match inside {
            Some([]) => Text::known("."),
            Some(rest) => text(rest),
            None => text(&absolute),
        };
        let home = below(&absolute, HOME)
            .map(|rest| TextBuilder::new().known("~/").text(&text(rest)).build());
        let subject = PathSubject {
            lexical: PathForm {
                short,
                absolute: text(&absolute),
                home,
            },
            resolved: None,
            further: Vec::new(),
        };
        let outside = (inside.is_none() && !starts_with_hole).then(|| subject.clone());
        PathFound {
            subject,
            outside,
            unknown: None,
        }
    }

    fn url(&self, url: &Text) -> UrlFound {
        let Some(known) = url.as_known() else {
            return UrlFound::Unknown(UnknownReason::new("a URL with holes"));
        };
        if let Some(path) = known.strip_prefix("file://") {
            return UrlFound::File {
                path: Text::known(path),
                url: UrlSubject {
                    text: url.clone(),
                    host: ByteSpan::new(7..7),
                    has_user_info: false,
                },
            };
        }
        let with_scheme = if known.contains("://") {
            known.to_owned()
        } else {
            format!("http://{known}")
        };
        let (scheme, rest) = with_scheme.split_once("://").unwrap_or(("", &with_scheme));
        let host = rest.split('/').next().unwrap_or_default();
        let start = scheme.len() + "://".len();
        UrlFound::Url(vec![UrlSubject {
            text: Text::known(with_scheme.as_str()),
            host: ByteSpan::new(start..start + host.len()),
            has_user_info: host.contains('@'),
        }])
    }
}
