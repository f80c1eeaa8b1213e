//! What `always` would save, and for how long.

use podward_protocol::{Always, Answer, Chosen, GrantFor};
use podward_view::{Lines, always_in, each_once, parts_text, visible};

use super::{Answering, Stage, Step, words};

impl Answering {
    pub(super) fn always(&mut self) -> Vec<Step> {
        let Some(request) = self.request() else {
            return Vec::new();
        };
        if request.choices.is_empty() {
            let why = request.no_always.as_deref().unwrap_or("it is not offered");
            let why = visible(why, Lines::Escape);
            return self.again(&format!("there is no `always` here: {why}"));
        }
        let mut rows = vec![words::ALWAYS.to_owned()];
        for idx in 0..request.choices.len() {
            let mut number = format!("{}", idx + 1);
            for line in each_once(parts_text(request, idx)) {
                rows.push(format!("  {number:<2} {line}"));
                number.clear();
            }
        }
        rows.extend(request.always_in.as_deref().map(always_in));
        self.stage = Stage::Width;
        self.ask(rows)
    }

    pub(super) fn width(&mut self, line: &str) -> Vec<Step> {
        if line.is_empty() || words::yes_or_no(line) == Some(false) {
            return self.back();
        }
        if self.pages.n_left() > 0 {
            return self.again(words::NOT_ALL);
        }
        let number: Option<usize> = line.parse().ok();
        let idx = number.and_then(|number| number.checked_sub(1));
        let request = self.request();
        let chosen = request.and_then(|request| Some((request, idx?)));
        let parts = chosen.map(|(request, idx)| each_once(parts_text(request, idx)));
        let (Some(width), Some(parts)) = (idx, parts.filter(|parts| !parts.is_empty())) else {
            return self.again("it takes one of the numbers above, or Enter to go back");
        };
        let mut rows = vec!["without a question from now on:".to_owned()];
        rows.extend(parts.iter().map(|line| format!("     {line}")));
        self.stage = Stage::Lasts { width };
        self.ask(rows)
    }

    pub(super) fn lasts(&mut self, line: &str, width: usize) -> Vec<Step> {
        let lasts = match line {
            "s" | "S" => GrantFor::Session,
            "p" | "P" => GrantFor::Project,
            _ if line.is_empty() || words::yes_or_no(line) == Some(false) => return self.back(),
            _ => return self.again("s, p, or Enter to go back"),
        };
        let what = Chosen::Width(width);
        self.reply_to_shown(Answer::Always(Always { what, lasts }))
    }
}
