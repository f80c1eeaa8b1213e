//! What an `always` would save, for how long, and what it would let run.

use podward_protocol::{
    Chosen, ChosenPattern, GrantFor, Method, PermissionPreview, PermissionRequest, Preview, Time,
};
use podward_view::{
    Lines, Look, Row, always_in, each_once, lasts_text, one_line, parts_text, visible,
    without_runs, wrapped, wrapped_behind_mark,
};

use crate::editor::Editor;
use crate::input::{Now, Refused};

const HOUR: i64 = 60 * 60 * 1000;

/// What an `always` would save.
#[derive(Debug)]
pub(crate) struct Form {
    /// The place of the choice that the patterns come from.
    pub(crate) width: usize,
    /// A pattern for each part that asks.
    pub(crate) patterns: Vec<(usize, Editor)>,
    pub(crate) lasts: Lasts,
    /// The pattern that is typed at.
    pub(crate) typed_at: Option<usize>,
    pub(crate) previewed: Previewed,
    /// The number of the last wish for a preview.
    wish: u64,
}

/// What an `always` would let run.
#[derive(Debug)]
pub(crate) enum Previewed {
    /// It is asked for.
    Awaited,
    Told(Preview),
    /// It could not be saved: why, and the part whose pattern is to blame where it is one.
    Refused(Option<usize>, String),
}

/// How long it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lasts {
    Session,
    Project,
    Hours(u16),
    Uses(u16),
}

const LASTS: &[Lasts] = &[
    Lasts::Session,
    Lasts::Project,
    Lasts::Hours(1),
    Lasts::Hours(8),
    Lasts::Hours(24),
    Lasts::Hours(24 * 7),
    Lasts::Uses(1),
    Lasts::Uses(3),
    Lasts::Uses(10),
];

impl Lasts {
    /// The next one, or the one before.
    pub(crate) fn step(self, n_steps: isize) -> Self {
        let at = LASTS
            .iter()
            .position(|lasts| *lasts == self)
            .unwrap_or_default();
        let at = at.saturating_add_signed(n_steps).min(LASTS.len() - 1);
        LASTS.get(at).copied().unwrap_or(self)
    }

    /// As a pod is told.
    pub(crate) fn granted(self, now: Now) -> GrantFor {
        match self {
            Self::Session => GrantFor::Session,
            Self::Project => GrantFor::Project,
            Self::Hours(n_hours) => {
                let end = now.wall.saturating_add(i64::from(n_hours) * HOUR);
                let time = Time::from_unix_milliseconds(end).unwrap_or(Time::UNIX_EPOCH);
                GrantFor::Until { time }
            }
            Self::Uses(n) => GrantFor::Uses { n: n.into() },
        }
    }

    fn text(self) -> String {
        match self {
            Self::Session | Self::Project | Self::Uses(_) => {
                lasts_text(&self.granted(Now::default()))
            }
            Self::Hours(1) => "every session in this workspace, for an hour".to_owned(),
            Self::Hours(n) => format!("every session in this workspace, for {n} hours"),
        }
    }
}

impl Form {
    /// The narrowest choice, for this session.
    pub(crate) fn new(request: &PermissionRequest) -> Self {
        let mut form = Self {
            width: 0,
            patterns: Vec::new(),
            lasts: Lasts::Session,
            typed_at: None,
            previewed: Previewed::Awaited,
            wish: 0,
        };
        form.choose(request, 0);
        form
    }

    /// Takes the patterns of a choice.
    pub(crate) fn choose(&mut self, request: &PermissionRequest, width: usize) {
        if let Some(choice) = request.choices.get(width) {
            self.width = width;
            let parts = choice.parts.iter();
            self.patterns = parts
                .map(|part| (part.operation, Editor::new(&part.pattern)))
                .collect();
        }
    }

    /// Asks what it would let run, as it is now.
    pub(crate) fn ask(&mut self, request: &PermissionRequest) -> (u64, Method) {
        self.wish += 1;
        self.previewed = Previewed::Awaited;
        let preview = PermissionPreview {
            id: request.id.clone(),
            digest: request.digest.clone(),
            patterns: self.written(),
        };
        (self.wish, preview.into())
    }

    /// What it was told; about an earlier wish it does not matter.
    pub(super) fn previewed(&mut self, wish: u64, told: Result<Preview, Refused>) {
        if wish == self.wish {
            self.previewed = match told {
                Ok(preview) => Previewed::Told(preview),
                Err(refused) => Previewed::Refused(refused.of_part(), refused.text()),
            };
        }
    }

    /// Whether an answer can save it.
    ///
    /// # Errors
    /// It cannot: why.
    pub(crate) const fn can_be_saved(&self) -> Result<(), &'static str> {
        match self.previewed {
            Previewed::Told(_) => Ok(()),
            Previewed::Awaited => Err("what it would let run is not known yet"),
            Previewed::Refused(..) => Err("it cannot be saved like this"),
        }
    }

    fn written(&self) -> Vec<ChosenPattern> {
        let patterns = self.patterns.iter();
        patterns
            .map(|(operation, pattern)| ChosenPattern {
                operation: *operation,
                pattern: pattern.text().to_owned(),
            })
            .collect()
    }

    /// What an answer says of it: the choice, or the patterns where they were changed.
    pub(super) fn chosen(&self, request: &PermissionRequest) -> Chosen {
        let written = self.written();
        let parts = request.choices.get(self.width).map(|choice| &choice.parts);
        let is_choice = parts.is_some_and(|parts| {
            parts.len() == written.len()
                && parts.iter().zip(&written).all(|(part, written)| {
                    part.operation == written.operation && part.pattern == written.pattern
                })
        });
        match is_choice {
            true => Chosen::Width(self.width),
            false => Chosen::Patterns(written),
        }
    }

    /// The form.
    pub(super) fn rows(&self, request: &PermissionRequest, columns: usize) -> Vec<Row> {
        let mut all = vec![Row::new(
            Look::Strong,
            "what would run without a question from now on?",
        )];
        for idx in 0..request.choices.len() {
            all.extend(self.choice_rows(request, idx, columns));
        }
        if let Some(workspace) = &request.always_in {
            let text = always_in(&without_runs(workspace));
            all.extend(wrapped_behind_mark(&[(Look::Warning, &text)], columns));
        }
        all.push(Row::default());
        let lasts = format!("  for  < {} >", self.lasts.text());
        all.extend(wrapped(&[(Look::Plain, &lasts)], columns.max(1)));
        for (idx, (operation, pattern)) in self.patterns.iter().enumerate() {
            all.push(Row::default());
            let tool = request
                .operations
                .get(*operation)
                .map_or("", |one| &*one.tool);
            let is_typed = self.typed_at == Some(idx);
            let shown = match is_typed {
                true => {
                    let (before, rest) = pattern.around();
                    let (before, rest) =
                        (visible(before, Lines::Escape), visible(rest, Lines::Escape));
                    format!("{before}\u{2588}{rest}")
                }
                false => visible(pattern.text(), Lines::Escape),
            };
            let look = if is_typed { Look::Asks } else { Look::Strong };
            let front = format!("  pattern for {tool}  ");
            let parts = [(Look::Plain, &*front), (look, &*shown)];
            all.extend(wrapped_behind_mark(&parts, columns));
            all.extend(self.examples(*operation, columns));
        }
        all
    }

    fn choice_rows(&self, request: &PermissionRequest, idx: usize, columns: usize) -> Vec<Row> {
        let room = columns.saturating_sub(6).max(1);
        let is_chosen = idx == self.width;
        let mut front = format!("  {} {} ", if is_chosen { ">" } else { " " }, idx + 1);
        let look = if is_chosen { Look::Strong } else { Look::Plain };
        let mut all = Vec::new();
        for line in each_once(parts_text(request, idx)) {
            for row in wrapped(&[(look, &line)], room) {
                all.push(behind(&front, &row));
                "    : ".clone_into(&mut front);
            }
        }
        all
    }

    /// The choice in a row of the form.
    pub(super) fn choice_at(
        &self,
        request: &PermissionRequest,
        row: usize,
        columns: usize,
    ) -> Option<usize> {
        // One row stands above them.
        let mut end = 1;
        (0..request.choices.len()).find(|idx| {
            end += self.choice_rows(request, *idx, columns).len();
            (1..end).contains(&row)
        })
    }

    /// What the pattern for a part would let run, and what not.
    fn examples(&self, operation: usize, columns: usize) -> Vec<Row> {
        let preview = match &self.previewed {
            Previewed::Awaited => return vec![Row::new(Look::Faint, "    \u{2026}")],
            Previewed::Refused(Some(part), _) if *part != operation => {
                let others = "    known when the other pattern can be saved";
                return vec![Row::new(Look::Faint, others)];
            }
            Previewed::Refused(_, why) => {
                let why = format!("    cannot be saved: {}", without_runs(&one_line(why, 400)));
                return wrapped_behind_mark(&[(Look::Bad, &why)], columns);
            }
            Previewed::Told(preview) => preview,
        };
        let part = preview
            .parts
            .iter()
            .find(|part| part.operation == operation);
        let Some(part) = part else {
            return Vec::new();
        };
        let mut all = Vec::new();
        let kinds = [
            (
                Look::Good,
                "    would run      ",
                &part.covers,
                "no other call that was tried",
            ),
            (
                Look::Warning,
                "    would not run  ",
                &part.covers_not,
                "none that was tried",
            ),
        ];
        for (look, word, examples, none) in kinds {
            if examples.is_empty() {
                let mut row = Row::new(look, word);
                row.push(Look::Faint, none);
                all.push(row);
            }
            let room = columns.saturating_sub(word.len()).max(1);
            let mut front = word;
            for example in examples {
                let shown = visible(example, Lines::Escape);
                for row in wrapped(&[(Look::Plain, &shown)], room) {
                    let mut whole = Row::new(look, front);
                    whole.push(Look::Plain, &row.text());
                    all.push(whole);
                    front = "                   ";
                }
            }
        }
        all
    }

    /// What is asked back.
    pub(super) fn saved_rows(
        &self,
        request: &PermissionRequest,
        lasts: &GrantFor,
        columns: usize,
    ) -> Vec<Row> {
        let mut all = vec![Row::new(
            Look::Strong,
            "save this? without a question from now on:",
        )];
        for (operation, pattern) in &self.patterns {
            let tool = request
                .operations
                .get(*operation)
                .map_or("", |one| &*one.tool);
            let text = format!("  {tool}  `{}`", visible(pattern.text(), Lines::Escape));
            all.extend(wrapped_behind_mark(&[(Look::Asks, &text)], columns));
            all.extend(self.examples(*operation, columns));
        }
        let lasts = format!("  for  {}", lasts_text(lasts));
        all.extend(wrapped(&[(Look::Strong, &lasts)], columns.max(1)));
        if let Some(workspace) = &request.always_in {
            let text = always_in(&without_runs(workspace));
            all.extend(wrapped_behind_mark(&[(Look::Warning, &text)], columns));
        }
        all
    }
}

fn behind(front: &str, row: &Row) -> Row {
    let mut whole = Row::new(Look::Plain, front);
    for piece in &row.pieces {
        whole.push(piece.look, &piece.text);
    }
    whole
}
