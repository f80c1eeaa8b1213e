//! Sizes, and what must not be written.

use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, ImplItemFn, Item, ItemFn, Macro, Meta, Signature, TraitItemFn};

use super::Finding;
use super::rust_source::{RustFile, attributes_of, is_test_only, line_of};

/// Lines of a module without its tests.
const MODULE_LINES: usize = 500;
/// Lines of a function.
const FUNCTION_LINES: usize = 70;

/// Finds modules and functions that are too long, ignored tests, unfinished code, silenced lints
/// without a reason, and tests that sleep.
pub(super) fn check(files: &[RustFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        if !file.is_test() {
            check_module_size(file, &mut findings);
        }
        let mut visitor = Visitor {
            path: &file.path,
            code: if file.is_test() {
                Code::Test
            } else {
                Code::Product
            },
            findings: &mut findings,
        };
        visitor.visit_file(&file.syntax);
    }
    findings
}

fn check_module_size(file: &RustFile, findings: &mut Vec<Finding>) {
    let test_lines: usize = file
        .syntax
        .items
        .iter()
        .filter(|item| is_test_only(attributes_of(item)))
        .map(|item| lines_of(item.span()))
        .sum();
    let n_lines = file.text.lines().count().saturating_sub(test_lines);
    if n_lines > MODULE_LINES {
        findings.push(Finding::about(
            "size",
            &file.path,
            format!("{n_lines} lines without tests, at most {MODULE_LINES}: split by noun"),
        ));
    }
}

/// Whether the visited code ships.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Code {
    Product,
    Test,
    /// A test whose clock only moves when nothing else can.
    TestWithPausedClock,
}

struct Visitor<'a> {
    path: &'a str,
    code: Code,
    findings: &'a mut Vec<Finding>,
}

impl Visitor<'_> {
    fn find(&mut self, check: &'static str, line: usize, what: impl Into<String>) {
        self.findings
            .push(Finding::at(check, self.path, line, what));
    }

    fn check_function(&mut self, signature: &Signature, block: &Block) {
        let start = line_of(signature.span());
        let n_lines = (block.span().end().line + 1).saturating_sub(start);
        if n_lines > FUNCTION_LINES {
            let what = format!(
                "`{}` has {n_lines} lines, at most {FUNCTION_LINES}",
                signature.ident
            );
            self.find("size", start, what);
        }
    }

    fn check_allow(&mut self, attribute: &Attribute) {
        let line = line_of(attribute.span());
        if attribute.path().is_ident("allow") && self.code == Code::Product {
            self.find(
                "lint",
                line,
                "`#[allow]`: use `#[expect(…, reason = \"…\")]`",
            );
        }
        if let Meta::List(list) = &attribute.meta
            && list.path.is_ident("expect")
            && !list.tokens.to_string().contains("reason")
        {
            self.find("lint", line, "`#[expect]` without a reason");
        }
        if attribute.path().is_ident("ignore") {
            self.find("test", line, "`#[ignore]`: a test runs or goes");
        }
    }
}

impl<'ast> Visit<'ast> for Visitor<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let outside = self.code;
        if is_test_only(attributes_of(item)) {
            self.code = Code::Test;
        }
        visit::visit_item(self, item);
        self.code = outside;
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        if self.code == Code::Product {
            self.check_function(&function.sig, &function.block);
        }
        let outside = self.code;
        if function.attrs.iter().any(pauses_the_clock) {
            self.code = Code::TestWithPausedClock;
        }
        visit::visit_item_fn(self, function);
        self.code = outside;
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        if self.code == Code::Product {
            self.check_function(&function.sig, &function.block);
        }
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
        if let (Code::Product, Some(block)) = (self.code, &function.default) {
            self.check_function(&function.sig, block);
        }
        visit::visit_trait_item_fn(self, function);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        self.check_allow(attribute);
    }

    fn visit_macro(&mut self, invocation: &'ast Macro) {
        for unfinished in ["todo", "unimplemented"] {
            if invocation.path.is_ident(unfinished) {
                self.find(
                    "unfinished",
                    line_of(invocation.span()),
                    format!("`{unfinished}!`"),
                );
            }
        }
        visit::visit_macro(self, invocation);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let last = path
            .segments
            .last()
            .map(|segment| segment.ident.to_string());
        if self.code == Code::Test && last.as_deref() == Some("sleep") {
            self.find(
                "test",
                line_of(path.span()),
                "a test that sleeps: wait for what it waits for",
            );
        }
        visit::visit_path(self, path);
    }
}

/// Whether it is `#[tokio::test(start_paused = true)]`.
fn pauses_the_clock(attribute: &Attribute) -> bool {
    match &attribute.meta {
        Meta::List(list) => list.tokens.to_string().contains("start_paused = true"),
        Meta::Path(_) | Meta::NameValue(_) => false,
    }
}

fn lines_of(span: proc_macro2::Span) -> usize {
    (span.end().line + 1).saturating_sub(span.start().line)
}

#[cfg(test)]
mod tests;
