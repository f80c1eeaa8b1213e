//! Which rules of a large table may match: it only skips rules that cannot.
//!
//! Each rule is filed under one piece of text that every text it matches must hold: what it begins
//! with, what it ends in, or a few bytes in between. A text is looked up once for each; what is
//! found is tried in the order of the rules, by the same matcher as in the ordered loop. Where the
//! index knows nothing (a text with holes, code that is not known) all rules are tried.

mod anchors;
mod found;
mod grams;
mod literals;

use std::collections::BTreeMap;

use crate::action::Action;
use crate::compile::{Domain, domain_of};
use crate::operation::{Operation, Operations, PathForm, PathSubject, Subject};
use crate::rule::Rule;
use crate::rule::tools::{ToolPattern, stands_for_anything};
use crate::text::Text;
use crate::tool::{ToolName, ToolOrigin};
use anchors::{Anchored, Ends};
use found::Found;
pub(crate) use found::Order;
use literals::{Cut, EndOfText, Held};

/// Tables with no more rules than this are tried in order.
const FEW: usize = 16;

/// Groups of no more rules are.
const FEW_IN_GROUP: usize = 4;

/// The index of one table.
#[derive(Debug)]
pub(crate) struct Index {
    /// Rules of one tool, by its name.
    of_tools: Vec<(ToolName, Group)>,
    /// Rules whose tool is a glob over MCP tools.
    of_servers: Group,
    /// Rules whose tool is any other glob.
    of_globs: Group,
    /// Of these, those whose pattern says too little: by what their tools' names begin with.
    by_name: Anchored,
    /// Allow rules without wildcards: the hash of the text, and the rule.
    literals: Vec<(u32, u32)>,
}

/// Rules that are looked up by the same texts.
#[derive(Debug, Default)]
struct Group {
    /// What the texts are; `None`: of any kind.
    domain: Option<Domain>,
    own: Anchored,
    /// Patterns with a shell operator, for the texts of whole calls.
    lines: Anchored,
}

impl Index {
    /// `None`: the table is small, and is tried in order.
    pub(crate) fn new(rules: &[Rule]) -> Option<Self> {
        if rules.len() <= FEW || u32::try_from(rules.len()).is_err() {
            return None;
        }
        let mut of_tools: BTreeMap<&ToolName, Vec<u32>> = BTreeMap::new();
        let (mut of_globs, mut of_servers) = (Vec::new(), Vec::new());
        let mut literals = Vec::new();
        for (rule, id) in rules.iter().zip(0_u32..) {
            match rule.tool() {
                ToolPattern::Exact(name) => of_tools.entry(name).or_default().push(id),
                ToolPattern::Mcp(_) => of_servers.push(id),
                ToolPattern::Every | ToolPattern::Names(_) => of_globs.push(id),
            }
            if rule.action == Action::Allow
                && let Some(literal) = rule.literal()
            {
                literals.push((anchors::hash_of(literal), id));
            }
        }
        literals.sort_unstable();
        let of_tools = of_tools
            .into_iter()
            .map(|(name, ids)| (name.clone(), Group::new(rules, &ids, domain_of(name))))
            .collect();
        let plain = Some(Domain::Plain);
        let (names, of_servers) = without_open(rules, of_servers, plain);
        let (more_names, of_globs) = without_open(rules, of_globs, None);
        let mut names = [names, more_names].concat();
        names.sort_unstable();
        let of_servers = Group::new(rules, &of_servers, plain);
        let of_globs = Group::new(rules, &of_globs, None);
        let by_name = anchored(&names, Ends::Open, |id, bytes| {
            let rule = rule_at(rules, id)?;
            Some(literals::add_tool(rule.written_tool(), bytes))
        });
        literals.shrink_to_fit();
        Some(Self {
            of_tools,
            of_servers,
            of_globs,
            by_name,
            literals,
        })
    }

    /// The allow rules without wildcards that may be this text, in order.
    pub(crate) fn with_literal(&self, text: &str) -> impl Iterator<Item = usize> + '_ {
        let hash = anchors::hash_of(text);
        let from = self.literals.partition_point(|(known, _)| *known < hash);
        self.literals
            .iter()
            .skip(from)
            .take_while(move |(known, _)| *known == hash)
            .map(|(_, id)| found::place(*id))
    }

    /// The rules to try on an operation, in order; `None`: all of them.
    pub(crate) fn order<'a>(
        &'a self,
        operation: &Operation,
        operations: &Operations,
        also: [Option<usize>; 2],
    ) -> Option<Order<'a>> {
        if stands_for_anything(operation) {
            return None;
        }
        let own = self
            .of_tools
            .binary_search_by(|(name, _)| name.cmp(&operation.tool))
            .ok()
            .and_then(|at| self.of_tools.get(at))
            .map(|(_, group)| group);
        let servers = match operation.tool.origin() {
            ToolOrigin::Mcp { .. } => Some(&self.of_servers),
            ToolOrigin::Local => None,
        };
        let groups = [own, servers, Some(&self.of_globs)];
        let mut found = Found::default();
        for group in groups.into_iter().flatten() {
            if !group.look_up(&operation.subject, &mut found) {
                return None;
            }
        }
        self.by_name
            .look_up(operation.tool.as_str(), Ends::Open, &mut found);
        let is_part = matches!(operation.subject, Subject::Command(_));
        let whole = operations.whole().filter(|_| is_part);
        if let Some(whole) = whole {
            for group in groups.into_iter().flatten() {
                group.lines.look_up(&whole.stripped, Ends::Open, &mut found);
            }
        }
        for idx in also.into_iter().flatten() {
            found.push(u32::try_from(idx).ok()?);
        }
        let rest = |group: Option<&'a Group>| group.map_or(&[][..], |group| group.own.rest());
        let lines = |group: Option<&'a Group>| match whole {
            Some(_) => group.map_or(&[][..], |group| group.lines.rest()),
            None => &[],
        };
        let [own, servers, globs] = groups;
        Some(Order::some(
            found,
            [
                rest(own),
                rest(servers),
                rest(globs),
                self.by_name.rest(),
                lines(own),
                lines(servers),
                lines(globs),
            ],
        ))
    }
}

impl Group {
    fn new(rules: &[Rule], ids: &[u32], domain: Option<Domain>) -> Self {
        let lines: Vec<u32> = ids
            .iter()
            .copied()
            .filter(|id| {
                let rule = rule_at(rules, *id);
                rule.is_some_and(|rule| rule.has_operator() && rule.is_restrictive())
            })
            .collect();
        Self {
            domain,
            own: anchored(ids, Ends::Both, |id, bytes| {
                add_literals(rule_at(rules, id)?, domain, bytes)
            }),
            lines: anchored(&lines, Ends::Open, |id, bytes| {
                let line = rule_at(rules, id)?.line()?;
                Some(literals::add(&line, Cut::None, bytes))
            }),
        }
    }

    /// Adds the rules that may match; false if the index cannot tell.
    fn look_up(&self, subject: &Subject, found: &mut Found) -> bool {
        let kind = match subject {
            Subject::Command(_) => Domain::Command,
            Subject::Path(_) => Domain::Path,
            Subject::Url(_) => Domain::Url,
            Subject::Plain(_) => Domain::Plain,
            Subject::Tree(_) | Subject::Unknown(_) => return self.own.is_listed(),
        };
        if self.own.is_listed() {
            return true;
        }
        if self.domain.is_some_and(|domain| domain != kind) {
            return false;
        }
        match subject {
            Subject::Command(command) => std::iter::once(&command.written)
                .chain(&command.further)
                .all(|text| self.look_up_text(text, Ends::Both, found)),
            Subject::Path(path) => self.look_up_path(path, found),
            Subject::Url(url) => self.look_up_text(&url.text, Ends::Both, found),
            Subject::Plain(text) => self.look_up_text(text, Ends::Both, found),
            Subject::Tree(_) | Subject::Unknown(_) => false,
        }
    }

    fn look_up_text(&self, text: &Text, ends: Ends, found: &mut Found) -> bool {
        match text.as_known() {
            Some(known) if !literals::folds_to_ascii(known) => {
                self.own.look_up(known, ends, found);
                true
            }
            _ => false,
        }
    }

    fn look_up_path(&self, path: &PathSubject, found: &mut Found) -> bool {
        let forms = std::iter::once(&path.lexical)
            .chain(&path.resolved)
            .chain(&path.further);
        for form in forms {
            let ends = [
                (Some(&form.short), ends_of(form, form.short.known_part())),
                (Some(&form.absolute), Ends::Both),
                (form.home.as_ref(), self.ends_of_home(form)),
            ];
            for (text, ends) in ends {
                if text.is_some_and(|text| !self.look_up_text(text, ends, found)) {
                    return false;
                }
            }
        }
        true
    }

    fn ends_of_home(&self, form: &PathForm) -> Ends {
        let below = form
            .home
            .as_ref()
            .and_then(|home| home.known_part().strip_prefix('~'));
        match below {
            // All but the first character stands in the absolute form as well.
            Some(below) if !self.own.has_tilde() => ends_of(form, below),
            _ => Ends::Both,
        }
    }
}

/// Where a spelling is looked up, if it is also the end of the absolute one.
fn ends_of(form: &PathForm, text: &str) -> Ends {
    match form.absolute.known_part().ends_with(text) {
        true => Ends::Start,
        false => Ends::Both,
    }
}

fn anchored(
    ids: &[u32],
    ends: Ends,
    add: impl Fn(u32, &mut Vec<u8>) -> Option<EndOfText>,
) -> Anchored {
    match ids.len() <= FEW_IN_GROUP {
        true => Anchored::listed(ids),
        false => Anchored::new(&Held::new(ids, add), ends),
    }
}

/// Splits off the rules whose pattern says too little.
fn without_open(rules: &[Rule], ids: Vec<u32>, domain: Option<Domain>) -> (Vec<u32>, Vec<u32>) {
    if ids.len() <= FEW {
        return (Vec::new(), ids);
    }
    let mut bytes = Vec::new();
    ids.into_iter().partition(|id| {
        bytes.clear();
        rule_at(rules, *id).and_then(|rule| add_literals(rule, domain, &mut bytes));
        !literals::has_fixed(&bytes)
    })
}

fn rule_at(rules: &[Rule], id: u32) -> Option<&Rule> {
    rules.get(found::place(id))
}

/// Appends what every text holds that a rule's pattern matches; `None`: nothing is known of it.
fn add_literals(rule: &Rule, domain: Option<Domain>, bytes: &mut Vec<u8>) -> Option<EndOfText> {
    let cut = match rule.is_restrictive() {
        true => Cut::NonAscii,
        false => Cut::None,
    };
    Some(match domain {
        Some(Domain::Command) if rule.loose_command().is_some() => return None,
        Some(Domain::Command) => literals::add(&rule.command(), cut, bytes),
        Some(Domain::Path) => literals::add(&rule.path().glob, cut, bytes),
        Some(Domain::Url) => literals::add(&rule.url().any(), Cut::None, bytes),
        Some(Domain::Plain) => literals::add(&rule.plain(), Cut::None, bytes),
        None => {
            let has_one_reading =
                !rule.pattern.contains(['\'', '"', '[']) && !rule.pattern.contains("://");
            if !has_one_reading {
                return None;
            }
            let path = rule.path().glob;
            match path.n_optional() {
                0 => literals::add(&rule.command(), cut, bytes),
                _ => literals::add(&path, cut, bytes),
            }
        }
    })
}

#[cfg(test)]
mod tests;
