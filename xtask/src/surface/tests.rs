use std::collections::BTreeSet;

use super::difference::{Change, Effect, changes};
use super::{of_all, of_crate, report};
use crate::chores::root;
use crate::tree::Tree;

fn surface(source: &str) -> Vec<String> {
    surface_of(&[("crates/podward-made-up/src/lib.rs", source)])
}

fn surface_of(files: &[(&str, &str)]) -> Vec<String> {
    let lines = of_crate(&Tree::of(files), "podward-made-up").unwrap();
    lines.into_iter().collect()
}

/// What is said of the change from one source to another: `!` before what breaks.
fn change(before: &str, after: &str) -> Vec<String> {
    let (before, after) = (surface(before), surface(after));
    let old: BTreeSet<&str> = before.iter().map(String::as_str).collect();
    let new: BTreeSet<&str> = after.iter().map(String::as_str).collect();
    changes(&old, &new)
        .into_iter()
        .map(|Change { effect, sign, line }| {
            let breaks = if effect == Effect::Breaking { "!" } else { "" };
            format!("{breaks}{sign} {}", line.replace("podward_made_up::", ""))
        })
        .collect()
}

#[test]
fn the_public_surface_is_the_one_recorded() {
    let tree = Tree::read(&root().unwrap()).unwrap();
    let mut reports = Vec::new();
    for (path, found) in of_all(&tree).unwrap() {
        let recorded = tree.get(&path).map_or("", |file| file.text.as_str());
        reports.extend(report(recorded, &found));
    }
    assert!(
        reports.is_empty(),
        "`cargo xtask gen` records it:\n{}",
        reports.join("\n")
    );
}

#[test]
fn everything_that_can_be_named_is_a_line() {
    let root = r#"
        use std::fmt;
        use std::sync::Arc;
        mod inner;
        pub mod open { pub struct Unit; struct Hidden; }
        pub use inner::{Shape, Word as Name};
        pub use other::Thing;
        pub const N: usize = 3;
        pub fn make<T: Into<String>>(text: T, shape: &mut Shape) -> Result<Arc<str>, fmt::Error> where T: Send { loop {} }
        #[derive(Debug, Clone)]
        pub struct Point { pub x: u8, pub y: Option<Arc<[u8]>> }
        pub struct Sealed<'a, P> { pub seen: &'a P, hidden: u8 }
        impl<P: Clone> Sealed<'_, P> {
            pub const fn get(&self) -> &P { self.seen }
            pub fn take(mut self, all: [u8; 4]) -> impl Iterator<Item = u8> + '_ { loop {} }
            fn private(&self) {}
        }
        impl From<Point> for String { fn from(_: Point) -> Self { loop {} } }
        impl IntoIterator for Point { type Item = u8; type IntoIter = Walk; fn into_iter(self) -> Walk { loop {} } }
        struct Walk;
        pub trait Tool: Send + Sync {
            type Out: Clone;
            fn name(&self) -> &str;
            fn twice(self: Box<Self>) -> u8 { 2 }
        }
        pub type Both = (Point, Box<dyn Fn(&Point) -> bool + Send>);
        #[cfg(test)]
        pub fn only_in_tests() {}
    "#;
    let inner = r#"
        #[derive(PartialEq, thiserror::Error)]
        #[non_exhaustive]
        pub enum Shape { Round, Square { side: super::Point }, Other(#[from] Word) }
        pub struct Word(pub(crate) String);
        pub(crate) struct Unseen;
        impl Word { pub const EMPTY: Self = Self(String::new()); }
        impl Unseen { pub fn f(&self) {} }
        impl crate::Tool for Word { type Out = Self; fn name(&self) -> &str { "" } }
    "#;
    let files = [
        ("crates/podward-made-up/src/lib.rs", root),
        ("crates/podward-made-up/src/inner.rs", inner),
    ];
    let lines: Vec<String> = surface_of(&files)
        .iter()
        .map(|line| line.replace("podward_made_up::", ""))
        .collect();
    let expected = [
        "const fn Sealed::get(&self) -> &P (impl<P: Clone>)",
        "const N: usize",
        "const Name::EMPTY: Self",
        "enum Shape (non_exhaustive)",
        "field Point::x: u8",
        "field Point::y: Option<std::sync::Arc<[u8]>>",
        "field Sealed::seen: &'a P",
        "fn Sealed::take(self, [u8; 4]) -> impl Iterator<Item = u8> + '_ (impl<P: Clone>)",
        "fn make<T: Into<String>>(T, &mut Shape) -> Result<std::sync::Arc<str>, std::fmt::Error> where T: Send",
        "impl Clone for Point",
        "impl From<Name> for Shape",
        "impl From<Point> for String",
        "impl IntoIterator for Point { Item = u8, IntoIter = private(Walk) }",
        "impl PartialEq for Shape",
        "impl Tool for Name { Out = Self }",
        "impl std::error::Error for Shape",
        "impl std::fmt::Debug for Point",
        "impl std::fmt::Display for Shape",
        "mod open",
        "provided fn Tool::twice(self: Box<Self>) -> u8",
        "required fn Tool::name(&self) -> &str",
        "required type Tool::Out: Clone",
        "struct Name (opaque)",
        "struct Point (open)",
        "struct Sealed<'a, P> (opaque)",
        "struct open::Unit (open unit)",
        "trait Tool: Send + Sync",
        "type Both = (Point, Box<dyn Fn(&Point) -> bool + Send>)",
        "use Thing = other::Thing",
        "variant Shape::Other(Name)",
        "variant Shape::Round",
        "variant Shape::Square { side: Point }",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn what_breaks_is_told_from_what_adds() {
    for (before, after, expected) in [
        ("pub fn f() {}", "fn f() {}", &["!- fn f()"][..]),
        (
            "pub fn f() {}",
            "pub fn f(n: u8) {}",
            &["!- fn f()", "+ fn f(u8)"],
        ),
        ("pub fn f(a: u8) {}", "pub fn f(b: u8) {}", &[]),
        (
            "pub fn f() {}",
            "pub const fn f() {}",
            &["- fn f()", "+ const fn f()"],
        ),
        (
            "pub fn f() {}",
            "pub fn f() {} pub fn g() {}",
            &["+ fn g()"],
        ),
        (
            "pub enum E { A }",
            "pub enum E { A, B }",
            &["!+ variant E::B"],
        ),
        (
            "#[non_exhaustive] pub enum E { A }",
            "#[non_exhaustive] pub enum E { A, B }",
            &["+ variant E::B"],
        ),
        (
            "pub enum E { A }",
            "#[non_exhaustive] pub enum E { A }",
            &["!- enum E (exhaustive)", "+ enum E (non_exhaustive)"],
        ),
        (
            "#[non_exhaustive] pub enum E { A }",
            "pub enum E { A }",
            &["- enum E (non_exhaustive)", "+ enum E (exhaustive)"],
        ),
        (
            "pub enum E { A { n: u8 } }",
            "pub enum E { A { n: u8, m: u8 } }",
            &[
                "!- variant E::A { n: u8 }",
                "!+ variant E::A { n: u8, m: u8 }",
            ],
        ),
        (
            "",
            "pub enum E { A }",
            &["+ enum E (exhaustive)", "+ variant E::A"],
        ),
        (
            "pub trait T {}",
            "pub trait T { fn f(&self); }",
            &["!+ required fn T::f(&self)"],
        ),
        (
            "pub trait T {}",
            "pub trait T { fn f(&self) {} }",
            &["+ provided fn T::f(&self)"],
        ),
        (
            "pub trait T {}",
            "pub trait T { type X; }",
            &["!+ required type T::X: "],
        ),
        (
            "pub trait T { fn f(&self); }",
            "pub trait T { fn f(&self) {} }",
            &["- required fn T::f(&self)", "+ provided fn T::f(&self)"],
        ),
        (
            "pub trait T { fn f(&self) {} }",
            "pub trait T { fn f(&self); }",
            &["!- provided fn T::f(&self)", "!+ required fn T::f(&self)"],
        ),
        (
            "pub trait T {}",
            "pub trait T: Send {}",
            &["!- trait T", "+ trait T: Send"],
        ),
        (
            "#[derive(Clone, Debug)] pub struct S;",
            "#[derive(Clone)] pub struct S;",
            &["!- impl std::fmt::Debug for S"],
        ),
        (
            "#[derive(Debug)] pub struct S;",
            "use std::fmt; pub struct S; impl fmt::Debug for S {}",
            &[],
        ),
        (
            "pub struct S; impl Drop for S {}",
            "pub struct S;",
            &["!- impl Drop for S"],
        ),
        (
            "pub struct S { pub a: u8 }",
            "pub struct S { pub a: u8, pub b: u8 }",
            &["!+ field S::b: u8"],
        ),
        (
            "pub struct S { pub a: u8 }",
            "pub struct S { pub a: u8, b: u8 }",
            &["!- struct S (open)", "+ struct S (opaque)"],
        ),
        (
            "pub struct S { pub a: u8, z: u8 }",
            "pub struct S { pub a: u8, pub b: u8, z: u8 }",
            &["+ field S::b: u8"],
        ),
        ("pub struct S(u8);", "pub struct S(u8, u8);", &[]),
        (
            "pub struct S { pub a: u8 }",
            "pub struct S { pub a: u16 }",
            &["!- field S::a: u8", "!+ field S::a: u16"],
        ),
        (
            "use std::io::Error; pub fn f() -> Error { loop {} }",
            "use std::fmt::Error; pub fn f() -> Error { loop {} }",
            &["!- fn f() -> std::io::Error", "+ fn f() -> std::fmt::Error"],
        ),
        (
            "pub struct S; impl S { pub fn f(&self) {} }",
            "pub struct S; impl S { pub(crate) fn f(&self) {} }",
            &["!- fn S::f(&self)"],
        ),
        (
            "mod m { pub struct S; } pub use m::S;",
            "mod m { pub struct S; }",
            &["!- struct S (open unit)"],
        ),
        (
            "mod m { pub struct S; } pub use m::S;",
            "pub struct S;",
            &[],
        ),
    ] {
        assert_eq!(change(before, after), expected, "{before} -> {after}");
    }
}

#[test]
fn all_of_a_type_stands_together() {
    for (line, subject) in [
        ("field podward_x::S::a: u8", "podward_x::S::a"),
        ("impl Clone for podward_x::S", "podward_x::S"),
        ("impl From<podward_x::S> for String", "String"),
        ("required fn podward_x::T::f(&self)", "podward_x::T::f"),
        ("struct podward_x::S<P> (opaque)", "podward_x::S"),
    ] {
        assert_eq!(super::subject_of(line), subject);
    }
}

#[test]
fn what_cannot_be_read_is_an_error() {
    for source in [
        "pub use other::*;",
        "make_a_struct!();",
        "#[macro_export] macro_rules! exported { () => {} }",
        "mod missing;",
        "pub use nowhere;",
        "pub union U { a: u8 }",
    ] {
        let tree = Tree::of(&[("crates/podward-made-up/src/lib.rs", source)]);
        assert!(of_crate(&tree, "podward-made-up").is_err(), "{source}");
    }
}

#[test]
fn the_report_says_whether_the_version_allows_it() {
    let text = |version: &str, line: &str| format!("# podward-x {version}\n{line}\n");
    let said = |old: &str, new: &str, before: &str, after: &str| {
        report(&text(old, before), &text(new, after)).unwrap()
    };
    assert_eq!(
        report(&text("0.1.0", "fn f()"), &text("0.1.0", "fn f()")),
        None
    );
    assert_eq!(
        said("0.1.0", "0.1.1", "fn f()", "fn g()"),
        "the public surface of podward-x: 1 breaking, 1 additive\n  \
         - breaking: fn f()\n  \
         + additive: fn g()\n  \
         breaking under one version (0.1.1): whoever has 0.1.0 needs 0.2.0"
    );
    assert!(
        said("0.1.0", "0.2.0", "fn f()", "fn g()").ends_with("0.1.0 became 0.2.0, which may break")
    );
    assert!(said("1.4.0", "1.5.0", "fn f()", "fn g()").ends_with("whoever has 1.4.0 needs 2.0.0"));
    assert!(said("1.4.0", "2.0.0", "fn f()", "fn g()").ends_with("which may break"));
    assert!(
        said("0.1.0", "0.1.0", "fn f()", "fn f()\nfn g()").ends_with("no program has to change")
    );
}
