//! Which rules of a large table may match: it only skips rules that cannot.
//!
//! Each rule is filed under one piece of text that every text it matches must hold: what it begins
//! with, what it ends in, or a few bytes in between. A text is looked up once for each; what is
//! found is tried in the order of the rules, by the same matcher as in the ordered loop.
//!
//! A rule that every way to fill the holes of a text matches also matches it where something odd
//! stands in each of them: that text is looked up. A rule that only some ways match must begin as the text does as
//! far as it is known: those are found too, and told apart. For code that is not known all rules are tried.

mod anchors;
mod found;
mod grams;
mod literals;
mod starts;

use std::collections::BTreeMap;

use crate::action::Action;
use crate::compile::{Domain, domain_of};
use crate::operation::{Operation, Operations, PathForm, Subject, UrlSubject};
use crate::pattern::folds_to_ascii;
use crate::rule::tools::{ToolPattern, stands_for_anything};
use crate::rule::{Rule, before_first_hole, has_expansion, path};
use crate::text::Text;
use crate::tool::{ToolName, ToolOrigin};
use anchors::{Anchored, Ends};
use found::Found;
pub(crate) use found::{Candidate, Order};
use grams::{Grams, Pieces, Stride};
use literals::{Cut, EndOfText, Held};
use starts::{Scan, Start, Starts};

/// Tables with no more rules than this are tried in order.
const FEW: usize = 16;

/// No more rules than this are tried rather than that a long text is looked at every byte.
const FEW_ANYWHERE: usize = 8;

/// As many bytes are looked at in the time in which one rule is tried.
const BYTES_A_RULE: usize = 32;

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
    /// The keys of all of these that stand anywhere in a text.
    grams: Grams,
    /// Allow rules without wildcards: the hash of the text, and the rule.
    literals: Vec<(u32, u32)>,
}

/// Rules that are looked up by the same texts.
#[derive(Debug, Default)]
struct Group {
    /// What the texts are; `None`: of any kind.
    domain: Option<Domain>,
    own: Anchored,
    starts: Starts,
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
        let mut pieces = Pieces::default();
        let mut group = |ids: &[u32], domain| Group::new(rules, ids, domain, &mut pieces);
        let of_tools = of_tools
            .into_iter()
            .map(|(name, ids)| (name.clone(), group(&ids, domain_of(name))))
            .collect();
        let plain = Some(Domain::Plain);
        let (names, of_servers) = without_open(rules, of_servers, plain);
        let (more_names, of_globs) = without_open(rules, of_globs, None);
        let mut names = [names, more_names].concat();
        names.sort_unstable();
        let of_servers = group(&of_servers, plain);
        let of_globs = group(&of_globs, None);
        let names = Held::new(&names, |id, bytes| {
            let rule = rule_at(rules, id)?;
            Some(literals::add_tool(rule.written_tool(), bytes))
        });
        let by_name = Anchored::new(&names, Ends::Open, &mut pieces);
        literals.shrink_to_fit();
        Some(Self {
            of_tools,
            of_servers,
            of_globs,
            by_name,
            grams: Grams::new(&pieces),
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
            .map(|(_, id)| found::as_index(*id))
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
        let in_part = self.look_up_subject(&operation.subject, groups, &mut found)?;
        let by_name = [Some(&self.by_name), None, None];
        let name = operation.tool.as_str();
        self.look_up(by_name, name, Ends::Open, &mut found);
        let is_part = matches!(operation.subject, Subject::Command(_));
        let whole = operations.whole().filter(|_| is_part);
        if let Some(whole) = whole {
            let lines = groups.map(|group| group.map(|group| &group.lines));
            self.look_up(lines, &whole.stripped, Ends::Open, &mut found);
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
            in_part,
        ))
    }

    /// Adds the rules that may match, and gives those that do in part, if the text is not all known;
    /// the outer `None`: the index cannot tell.
    fn look_up_subject<'a>(
        &'a self,
        subject: &Subject,
        groups: [Option<&'a Group>; 3],
        found: &mut Found,
    ) -> Option<Vec<Scan<'a>>> {
        let groups = groups.map(|group| group.filter(|group| !group.own.is_listed()));
        let all = || groups.into_iter().flatten();
        let Some(kind) = kind_of(subject) else {
            return all().next().is_none().then(Vec::new);
        };
        if !all().all(|group| group.domain.is_none_or(|domain| domain == kind)) {
            return None;
        }
        let mut search = Search {
            index: self,
            groups,
            starts: Vec::new(),
            found,
        };
        if !search.subject(subject) {
            return None;
        }
        let starts = search.starts;
        Some(match starts.is_empty() {
            true => Vec::new(),
            false => all()
                .map(|group| group.starts.scan(starts.clone()))
                .collect(),
        })
    }

    fn look_up(&self, tables: [Option<&Anchored>; 3], text: &str, ends: Ends, found: &mut Found) {
        let tables = || tables.into_iter().flatten();
        for table in tables() {
            table.look_up_ends(text, ends, found);
        }
        if ends == Ends::Start {
            return;
        }
        let mut look = |stride| {
            self.grams.look_up(text.as_bytes(), stride, |hash| {
                tables().for_each(|table| table.look_up_gram(hash, found));
            });
        };
        if tables().any(Anchored::has_grams) {
            look(Stride::Four);
        }
        match tables().map(|table| table.anywhere().len()).sum() {
            0 => {}
            n_rules if n_rules <= FEW_ANYWHERE && text.len() > n_rules * BYTES_A_RULE => {
                let ids = tables().flat_map(Anchored::anywhere);
                ids.for_each(|id| found.push(*id));
            }
            _ => look(Stride::One),
        }
    }
}

impl Group {
    fn new(rules: &[Rule], ids: &[u32], domain: Option<Domain>, pieces: &mut Pieces) -> Self {
        let lines: Vec<u32> = ids
            .iter()
            .copied()
            .filter(|id| {
                let rule = rule_at(rules, *id);
                rule.is_some_and(|rule| rule.has_operator() && rule.is_restrictive())
            })
            .collect();
        let own = Held::new(ids, |id, bytes| {
            add_literals(rule_at(rules, id)?, domain, bytes)
        });
        let lines = Held::new(&lines, |id, bytes| {
            let line = rule_at(rules, id)?.line()?;
            Some(literals::add(&line, Cut::None, bytes))
        });
        Self {
            domain,
            starts: Starts::new(&own),
            own: Anchored::new(&own, Ends::Both, pieces),
            lines: Anchored::new(&lines, Ends::Open, pieces),
        }
    }
}

/// What the texts of a subject are; `None`: it has none.
const fn kind_of(subject: &Subject) -> Option<Domain> {
    Some(match subject {
        Subject::Command(_) => Domain::Command,
        Subject::Path(_) | Subject::Tree(_) => Domain::Path,
        Subject::Url(_) => Domain::Url,
        Subject::Plain(_) => Domain::Plain,
        Subject::Unknown(_) => return None,
    })
}

/// Looks up all texts of a subject. What is asked for tells whether the index can.
struct Search<'s> {
    index: &'s Index,
    groups: [Option<&'s Group>; 3],
    /// How the texts begin that are known in part.
    starts: Vec<Start>,
    found: &'s mut Found,
}

impl Search<'_> {
    fn subject(&mut self, subject: &Subject) -> bool {
        match subject {
            Subject::Command(command) => std::iter::once(&command.written)
                .chain(&command.further)
                .chain(command.located().iter().flatten())
                .all(|text| self.text(text, Ends::Both, before_first_hole)),
            Subject::Path(path) => path.forms().all(|form| self.path(form)),
            Subject::Tree(path) => path.forms().all(|form| self.tree(form)),
            Subject::Url(UrlSubject { text, .. }) | Subject::Plain(text) => {
                self.text(text, Ends::Both, Text::known_start)
            }
            Subject::Unknown(_) => false,
        }
    }

    fn text(&mut self, text: &Text, ends: Ends, known_start: fn(&Text) -> &str) -> bool {
        if folds_to_ascii(text.known_part()) {
            return false;
        }
        match text.as_known() {
            Some(known) => self.known(known, ends),
            None => {
                self.known(&text.filled(), Ends::Both);
                self.starts.push(Start::of(known_start(text)));
            }
        }
        true
    }

    fn known(&mut self, text: &str, ends: Ends) {
        let own = self.groups.map(|group| group.map(|group| &group.own));
        self.index.look_up(own, text, ends, self.found);
    }

    fn path(&mut self, form: &PathForm) -> bool {
        let ends_of_short = ends_of(form, form.short.known_part());
        let ends_of_home = self.ends_of_home(form);
        self.text(&form.short, ends_of_short, path_start)
            && self.text(&form.absolute, Ends::Both, path_start)
            && form
                .home
                .as_ref()
                .is_none_or(|home| self.text(home, ends_of_home, path_start))
    }

    /// Any path below a directory.
    fn tree(&mut self, form: &PathForm) -> bool {
        form.texts().all(|directory| {
            let below = path::below(directory);
            self.text(&below, Ends::Both, Text::known_start)
        })
    }

    fn ends_of_home(&self, form: &PathForm) -> Ends {
        let below = form
            .home
            .as_ref()
            .and_then(|home| home.known_part().strip_prefix('~'));
        match below {
            // All but the first character stands in the absolute form as well.
            Some(below) if !self.has_tilde() => ends_of(form, below),
            _ => Ends::Both,
        }
    }

    /// Whether a key that is no start has a `~`.
    fn has_tilde(&self) -> bool {
        let mut groups = self.groups.iter().flatten();
        groups.any(|group| group.own.has_tilde())
    }
}

/// Where a spelling is looked up, if it is also the end of the absolute one.
fn ends_of(form: &PathForm, text: &str) -> Ends {
    match form.absolute.as_known() {
        Some(absolute) if absolute.ends_with(text) => Ends::Start,
        Some(_) | None => Ends::Both,
    }
}

/// What each path begins with that an allow must cover: the value of an expansion may hold `..`.
fn path_start(text: &Text) -> &str {
    match has_expansion(text) {
        true => "",
        false => text.known_start(),
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
    rules.get(found::as_index(id))
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
