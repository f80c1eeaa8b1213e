//! A second, independent look at a text: a small lexer that knows quotes, substitutions, comments
//! and here-documents, and nothing of the grammar.
//!
//! Every character that it takes for an operator or the start of a substitution must have been read
//! as one. What the reader took for data by mistake shows up here.

use crate::work;

/// The first byte that looks like an operator and was not read as one.
pub(crate) fn first_difference(text: &str, operators: &[bool]) -> Option<usize> {
    let mut look = Look {
        bytes: text.as_bytes(),
        operators,
        pos: 0,
        frames: vec![Frame::code()],
        here_documents: Vec::new(),
        at_word_start: true,
        at_command_start: true,
        difference: None,
    };
    while look.difference.is_none() && look.pos < look.bytes.len() {
        look.step();
    }
    look.difference
}

struct Look<'t> {
    bytes: &'t [u8],
    operators: &'t [bool],
    pos: usize,
    frames: Vec<Frame>,
    here_documents: Vec<Here>,
    at_word_start: bool,
    at_command_start: bool,
    difference: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Frame {
    mode: Mode,
    /// `case` words without their `esac`: a `)` may end a pattern.
    n_cases: usize,
    /// Open parentheses of arithmetic.
    n_parentheses: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Code,
    DoubleQuotes,
    /// `${…}`, and whether double quotes stand around it.
    Braces {
        quoted: bool,
    },
    Arithmetic,
}

impl Frame {
    const fn new(mode: Mode) -> Self {
        Self {
            mode,
            n_cases: 0,
            n_parentheses: 0,
        }
    }

    const fn code() -> Self {
        Self::new(Mode::Code)
    }
}

struct Here {
    delimiter: Vec<u8>,
    strips_tabs: bool,
    expands: bool,
}

impl Look<'_> {
    fn raw(&self, at: usize) -> Option<u8> {
        work::done(1);
        self.bytes.get(at).copied()
    }

    /// The place of the next byte after `at`, line continuations left out.
    fn after(&self, at: usize) -> usize {
        let mut next = at + 1;
        while self.raw(next) == Some(b'\\') && self.raw(next + 1) == Some(b'\n') {
            next += 2;
        }
        next
    }

    fn check(&mut self, at: usize) {
        if self.difference.is_none() && self.operators.get(at) != Some(&true) {
            self.difference = Some(at);
        }
    }

    fn mode(&self) -> Mode {
        self.frames.last().map_or(Mode::Code, |frame| frame.mode)
    }

    fn step(&mut self) {
        let Some(byte) = self.raw(self.pos) else {
            return;
        };
        match (byte, self.mode()) {
            (b'\\', _) => {
                let is_continuation = self.raw(self.pos + 1) == Some(b'\n');
                self.pos += 2;
                if !is_continuation {
                    self.in_word();
                }
            }
            (b'$', mode) => self.dollar(mode),
            (b'`', _) => self.backquotes(),
            (b'"', Mode::DoubleQuotes) => {
                self.frames.pop();
                self.pos += 1;
            }
            (b'"', _) => {
                self.in_word();
                self.frames.push(Frame::new(Mode::DoubleQuotes));
                self.pos += 1;
            }
            (b'}', Mode::Braces { .. }) => {
                self.frames.pop();
                self.pos += 1;
            }
            (b'\'', Mode::Code | Mode::Arithmetic | Mode::Braces { quoted: false }) => {
                self.in_word();
                self.skip_past(b'\'');
            }
            (_, Mode::DoubleQuotes | Mode::Braces { .. }) => self.pos += 1,
            (_, Mode::Code) => self.code(byte),
            (_, Mode::Arithmetic) => self.arithmetic(byte),
        }
    }

    fn in_word(&mut self) {
        self.at_word_start = false;
        self.at_command_start = false;
    }

    fn skip_past(&mut self, quote: u8) {
        self.pos += 1;
        while let Some(byte) = self.raw(self.pos) {
            self.pos += 1;
            if byte == quote {
                return;
            }
        }
    }

    fn dollar(&mut self, mode: Mode) {
        let next = self.after(self.pos);
        let quoted = matches!(mode, Mode::DoubleQuotes | Mode::Braces { quoted: true });
        self.at_word_start = false;
        match self.raw(next) {
            Some(b'(') => {
                self.check(self.pos);
                self.check(next);
                let second = self.after(next);
                if self.raw(second) == Some(b'(') {
                    self.check(second);
                    self.frames.push(Frame::new(Mode::Arithmetic));
                    if let Some(frame) = self.frames.last_mut() {
                        frame.n_parentheses = 2;
                    }
                    self.pos = second + 1;
                } else {
                    self.open(next);
                }
            }
            Some(b'{') => {
                self.in_word();
                self.frames.push(Frame::new(Mode::Braces { quoted }));
                // `$`, `"` and the like right after the brace are parameters' names.
                self.pos = next + 1;
                if matches!(self.raw(self.pos), Some(b'$' | b'!' | b'#')) {
                    self.pos += 1;
                }
            }
            Some(b'\'') if !quoted => {
                self.in_word();
                self.pos = next + 1;
                while let Some(byte) = self.raw(self.pos) {
                    self.pos += if byte == b'\\' { 2 } else { 1 };
                    if byte == b'\'' {
                        break;
                    }
                }
            }
            Some(b'$') => {
                self.in_word();
                self.pos = next + 1;
            }
            _ => {
                self.in_word();
                self.pos += 1;
            }
        }
    }

    fn open(&mut self, parenthesis: usize) {
        self.frames.push(Frame::code());
        self.at_word_start = true;
        self.at_command_start = true;
        self.pos = parenthesis + 1;
    }

    /// The text inside is read on its own, and looked at on its own.
    fn backquotes(&mut self) {
        self.in_word();
        self.check(self.pos);
        self.pos += 1;
        while let Some(byte) = self.raw(self.pos) {
            match byte {
                b'\\' => self.pos += 2,
                b'`' => {
                    self.check(self.pos);
                    self.pos += 1;
                    return;
                }
                _ => self.pos += 1,
            }
        }
    }

    fn arithmetic(&mut self, byte: u8) {
        if let (b'(' | b')', Some(frame)) = (byte, self.frames.last_mut()) {
            frame.n_parentheses = match byte {
                b'(' => frame.n_parentheses + 1,
                _ => frame.n_parentheses.saturating_sub(1),
            };
            if frame.n_parentheses == 0 {
                self.frames.pop();
            }
        }
        if matches!(byte, b';' | b'&' | b'|' | b'\n' | b'(' | b')' | b'<' | b'>') {
            self.check(self.pos);
        }
        self.pos += 1;
    }

    fn code(&mut self, byte: u8) {
        let at = self.pos;
        match byte {
            b' ' | b'\t' => {
                self.at_word_start = true;
                self.pos += 1;
            }
            b'#' if self.at_word_start => {
                while self.raw(self.pos).is_some_and(|byte| byte != b'\n') {
                    self.pos += 1;
                }
            }
            b'\n' => {
                self.check(at);
                self.separator();
                for here in std::mem::take(&mut self.here_documents) {
                    self.here_body(&here);
                }
            }
            b';' | b'&' | b'|' => {
                self.check(at);
                self.separator();
            }
            b'(' => {
                self.check(at);
                let second = self.after(at);
                if self.at_command_start && self.raw(second) == Some(b'(') {
                    self.frames.push(Frame::new(Mode::Arithmetic));
                    if let Some(frame) = self.frames.last_mut() {
                        frame.n_parentheses = 1;
                    }
                    self.pos += 1;
                } else {
                    self.open(at);
                }
            }
            b')' => self.close(),
            b'<' => self.less(),
            b'>' => {
                self.check(at);
                self.at_word_start = true;
                self.pos += 1;
            }
            _ => self.code_word(),
        }
    }

    fn separator(&mut self) {
        self.at_word_start = true;
        self.at_command_start = true;
        self.pos += 1;
    }

    fn close(&mut self) {
        self.check(self.pos);
        self.separator();
        let is_pattern = self.frames.last().is_some_and(|frame| frame.n_cases > 0);
        if !is_pattern && self.frames.len() > 1 {
            self.frames.pop();
        }
    }

    /// Plain characters up to something else; notes `case` and `esac` where a command begins.
    fn code_word(&mut self) {
        let start = self.pos;
        while let Some(byte) = self.raw(self.pos) {
            let ends = matches!(
                byte,
                b' ' | b'\t'
                    | b'\n'
                    | b';'
                    | b'&'
                    | b'|'
                    | b'('
                    | b')'
                    | b'<'
                    | b'>'
                    | b'\\'
                    | b'\''
                    | b'"'
                    | b'$'
                    | b'`'
            );
            if ends {
                break;
            }
            self.pos += 1;
        }
        let word = self.bytes.get(start..self.pos).unwrap_or_default();
        let begins = self.at_command_start && self.at_word_start;
        if let Some(frame) = self.frames.last_mut().filter(|_| begins) {
            match word {
                b"case" => frame.n_cases += 1,
                b"esac" => frame.n_cases = frame.n_cases.saturating_sub(1),
                _ => {}
            }
        }
        let goes_on = matches!(
            word,
            b"{" | b"!"
                | b"if"
                | b"then"
                | b"else"
                | b"elif"
                | b"do"
                | b"while"
                | b"until"
                | b"time"
                | b"for"
        );
        self.at_command_start = begins && goes_on;
        self.at_word_start = false;
    }

    fn less(&mut self) {
        let at = self.pos;
        self.check(at);
        self.at_word_start = true;
        let second = self.after(at);
        let third = self.after(second);
        let is_here = self.raw(second) == Some(b'<');
        if is_here && self.raw(third) == Some(b'<') {
            self.pos = third + 1;
        } else if is_here {
            self.pos = third;
            self.here_start();
        } else {
            self.pos += 1;
        }
    }

    /// The delimiter of a here-document.
    fn here_start(&mut self) {
        let strips_tabs = self.raw(self.pos) == Some(b'-');
        if strips_tabs {
            self.pos = self.after(self.pos);
        }
        while matches!(self.raw(self.pos), Some(b' ' | b'\t')) {
            self.pos += 1;
        }
        let mut here = Here {
            delimiter: Vec::new(),
            strips_tabs,
            expands: true,
        };
        let mut quote = None;
        while let Some(byte) = self.raw(self.pos) {
            match (byte, quote) {
                (b'\'' | b'"', None) => {
                    quote = Some(byte);
                    here.expands = false;
                }
                (_, Some(open)) if byte == open => quote = None,
                (b'\\', None) => {
                    here.expands = false;
                    self.pos += 1;
                    here.delimiter.extend(self.raw(self.pos));
                }
                (b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>', None) => {
                    break;
                }
                _ => here.delimiter.push(byte),
            }
            self.pos += 1;
        }
        self.at_word_start = false;
        self.here_documents.push(here);
    }

    fn here_body(&mut self, here: &Here) {
        let start = self.pos;
        let mut is_joined = false;
        loop {
            let line_start = self.pos;
            while self.raw(self.pos).is_some_and(|byte| byte != b'\n') {
                self.pos += 1;
            }
            let mut line = self.bytes.get(line_start..self.pos).unwrap_or_default();
            while here.strips_tabs && line.first() == Some(&b'\t') {
                line = line.get(1..).unwrap_or_default();
            }
            let is_end = self.pos >= self.bytes.len();
            if line == here.delimiter.as_slice() && !is_joined {
                self.here_expansions(here, start, line_start);
                self.pos += 1;
                return;
            }
            let n_backslashes = line.iter().rev().take_while(|&&byte| byte == b'\\').count();
            is_joined = here.expands && n_backslashes % 2 == 1;
            if is_end {
                return;
            }
            self.pos += 1;
        }
    }

    /// Substitutions in a body that bash expands where it stands, byte by byte.
    fn here_expansions(&mut self, here: &Here, start: usize, end: usize) {
        let body = self.bytes.get(start..end).unwrap_or_default();
        if !here.expands || here.strips_tabs || body.windows(2).any(|pair| pair == b"\\\n") {
            return;
        }
        let mut at = start;
        while at < end {
            match self.raw(at) {
                Some(b'\\') => at += 2,
                Some(b'$') if self.raw(at + 1) == Some(b'(') => {
                    self.check(at);
                    return;
                }
                Some(b'`') => {
                    self.check(at);
                    return;
                }
                _ => at += 1,
            }
        }
    }
}
