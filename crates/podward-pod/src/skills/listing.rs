//! What the model is told of the skills that there are.

#[cfg(test)]
mod tests;

use podward_protocol::is_invisible;

/// A list of skills is at most so long: it goes with every request.
const LISTING_BYTES: usize = 16 * 1024;

/// How much of each description is told, where all together would be too long.
const CUTS: [usize; 5] = [1024, 512, 256, 128, 64];

/// Names and descriptions, a line each; empty if there are none.
pub(crate) fn listing<'s>(skills: impl Iterator<Item = (&'s str, &'s str)> + Clone) -> String {
    if skills.clone().next().is_none() {
        return String::new();
    }
    let mut cut = CUTS.iter().map(|cut| lines(skills.clone(), *cut));
    let fits = |text: &String| text.len() <= LISTING_BYTES;
    let text = cut.find(fits).unwrap_or_else(|| names(skills));
    format!("The skills:\n{}", text.trim_end())
}

fn lines<'s>(skills: impl Iterator<Item = (&'s str, &'s str)>, cut: usize) -> String {
    skills
        .map(|(name, description)| format!("- {name}: {}\n", one_line(description, cut)))
        .collect()
}

/// Names alone, as many as there is room for.
fn names<'s>(skills: impl Iterator<Item = (&'s str, &'s str)>) -> String {
    let mut text = String::new();
    let mut n_left_out = 0_usize;
    for (name, _) in skills {
        if text.len() + name.len() + "- \n".len() > LISTING_BYTES {
            n_left_out += 1;
        } else {
            text.push_str(&format!("- {name}\n"));
        }
    }
    if n_left_out > 0 {
        text.push_str(&format!("and {n_left_out} more, which are not listed\n"));
    }
    text
}

/// A description in one line of at most so many characters; what cannot be seen is shown.
fn one_line(text: &str, n_chars: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    let mut shown = String::new();
    for (idx, c) in line.chars().enumerate() {
        if idx == n_chars {
            shown.push('…');
            break;
        }
        match is_invisible(c) {
            true => shown.extend(c.escape_unicode()),
            false => shown.push(c),
        }
    }
    shown
}
