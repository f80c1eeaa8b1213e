//! Scripts of sed.

use super::Found;

/// Reads a script of GNU sed; what is not understood counts as running code.
///
/// In a bracket expression neither the delimiter nor a backslash is special. Some seds end a pattern
/// there all the same: what they would do counts as well, if it is a script for them.
pub(crate) fn sed(script: &str) -> Found {
    let mut reading = Sed::new(script, true);
    if reading.commands().is_none() {
        reading.found.runs_code = true;
    }
    let mut found = reading.found;
    if script.contains('[') {
        let mut other = Sed::new(script, false);
        if other.commands().is_some() {
            found.runs_code |= other.found.runs_code;
            found.writes.append(&mut other.found.writes);
            found.reads.append(&mut other.found.reads);
            found.commands.append(&mut other.found.commands);
        }
    }
    found
}

struct Sed<'s> {
    text: &'s [u8],
    script: &'s str,
    pos: usize,
    found: Found,
    knows_brackets: bool,
}

impl<'s> Sed<'s> {
    fn new(script: &'s str, knows_brackets: bool) -> Self {
        Self {
            text: script.as_bytes(),
            script,
            pos: 0,
            found: Found::default(),
            knows_brackets,
        }
    }
}

impl Sed<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.pos).copied()
    }

    fn skip_while(&mut self, is_skipped: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&is_skipped) {
            self.pos += 1;
        }
    }

    fn blanks(&mut self) {
        self.skip_while(|byte| byte == b' ' || byte == b'\t');
    }

    /// All commands; `None` if one is not understood.
    fn commands(&mut self) -> Option<()> {
        loop {
            self.skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'{' | b'}'));
            if self.peek().is_none() {
                return Some(());
            }
            self.addresses()?;
            self.blanks();
            self.skip_while(|byte| byte == b'!' || byte == b' ');
            let command = self.peek()?;
            self.pos += 1;
            self.command(command)?;
        }
    }

    fn addresses(&mut self) -> Option<()> {
        loop {
            match self.peek()? {
                b'0'..=b'9' | b'$' | b'~' | b'+' | b',' | b' ' | b'\t' => self.pos += 1,
                b'/' => {
                    self.pos += 1;
                    self.pattern(b'/')?;
                    self.skip_while(|byte| byte == b'I' || byte == b'M');
                }
                b'\\' => {
                    let delimiter = *self.text.get(self.pos + 1)?;
                    self.pos += 2;
                    self.pattern(delimiter)?;
                    self.skip_while(|byte| byte == b'I' || byte == b'M');
                }
                _ => return Some(()),
            }
        }
    }

    /// A pattern up to its delimiter, which is taken.
    fn pattern(&mut self, delimiter: u8) -> Option<()> {
        loop {
            match self.peek()? {
                byte if byte == delimiter => {
                    self.pos += 1;
                    return Some(());
                }
                b'\\' => self.pos += 2,
                b'[' if self.knows_brackets => self.bracket()?,
                _ => self.pos += 1,
            }
        }
    }

    /// A bracket expression.
    fn bracket(&mut self) -> Option<()> {
        self.pos += 1;
        self.pos += usize::from(self.peek() == Some(b'^'));
        self.pos += usize::from(self.peek() == Some(b']'));
        loop {
            let byte = self.peek()?;
            self.pos += 1;
            match byte {
                b']' => return Some(()),
                b'[' => {
                    if let Some(kind @ (b':' | b'.' | b'=')) = self.peek() {
                        let end = [kind, b']'];
                        let rest = self.text.get(self.pos + 1..)?;
                        let len = rest.windows(2).position(|pair| *pair == end)?;
                        self.pos += 1 + len + 2;
                    }
                }
                _ => {}
            }
        }
    }

    /// Text up to a delimiter, which is taken.
    fn delimited(&mut self, delimiter: u8) -> Option<()> {
        loop {
            match self.peek()? {
                byte if byte == delimiter => {
                    self.pos += 1;
                    return Some(());
                }
                b'\\' => self.pos += 2,
                _ => self.pos += 1,
            }
        }
    }

    fn rest_of_line(&mut self) -> String {
        let start = self.pos;
        self.skip_while(|byte| byte != b'\n');
        self.script
            .get(start..self.pos)
            .unwrap_or_default()
            .trim()
            .to_owned()
    }

    fn command(&mut self, command: u8) -> Option<()> {
        match command {
            b'#' => {
                self.rest_of_line();
            }
            b':' | b'b' | b't' | b'T' => {
                self.skip_while(|byte| byte != b'\n' && byte != b';' && byte != b'}');
            }
            b'a' | b'i' | b'c' => self.text_lines(),
            b'r' | b'R' => {
                let path = self.rest_of_line();
                self.found.reads.push(path);
            }
            b'w' | b'W' => {
                let path = self.rest_of_line();
                self.found.writes.push(path);
            }
            b's' => {
                let delimiter = self.peek()?;
                self.pos += 1;
                self.pattern(delimiter)?;
                self.delimited(delimiter)?;
                self.substitute_flags();
            }
            b'y' => {
                let delimiter = self.peek()?;
                self.pos += 1;
                self.delimited(delimiter)?;
                self.delimited(delimiter)?;
            }
            b'e' => {
                self.found.runs_code = true;
                let command = self.rest_of_line();
                if !command.is_empty() {
                    self.found.commands.push(command);
                }
            }
            b'q' | b'Q' | b'l' | b'L' => {
                self.skip_while(|byte| byte == b' ' || byte.is_ascii_digit());
            }
            b'=' | b'd' | b'D' | b'g' | b'G' | b'h' | b'H' | b'n' | b'N' | b'p' | b'P' | b'x'
            | b'z' | b'F' | b'}' | b'{' => {}
            _ => return None,
        }
        Some(())
    }

    /// The text of `a`, `i` and `c`, with continued lines.
    fn text_lines(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b'\\' => self.pos += 2,
                b'\n' => return,
                _ => self.pos += 1,
            }
        }
    }

    fn substitute_flags(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b'g' | b'p' | b'i' | b'I' | b'm' | b'M' | b'0'..=b'9' => self.pos += 1,
                b'e' => {
                    self.found.runs_code = true;
                    self.pos += 1;
                }
                b'w' => {
                    self.pos += 1;
                    let path = self.rest_of_line();
                    self.found.writes.push(path);
                }
                _ => return,
            }
        }
    }
}
