//! Bash texts by chance: a grammar, then small damage to every other text.

/// A small generator of numbers, the same everywhere (xorshift).
pub(crate) struct Generator {
    state: u64,
    depth: usize,
    n_functions: usize,
}

const PROGRAMS: &[&str] = &["pa", "pb", "pc", "pd", "pe", "pf", "pg"];
const VARIABLES: &[&str] = &["x", "y", "z", "arr", "f"];
const DAMAGE: &[&str] = &[
    ";", "\n", "\"", "'", "\\", "$(", ")", "`", "{", "}", "#", "&", "|", "<", ">", " ", "$", "(",
    "\\\n", "((", "))", "[", "]", "=", "!", "~", "*", "<<E", "\nE\n", "$'", "${", "&&", "||", ",",
    "<(", ">&", "-", "pa", "do", "done", "fi", "then", "in", "esac", ";;", "time ", "\t", ":",
];

impl Generator {
    pub(crate) const fn new(seed: u64) -> Self {
        Self {
            state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
            depth: 0,
            n_functions: 0,
        }
    }

    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).unwrap()
    }

    fn pick<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.below(items.len())]
    }

    pub(crate) fn text(&mut self) -> String {
        self.depth = 0;
        let text = self.list();
        if self.below(2) == 0 {
            return text;
        }
        // Damaged loops could run for ever.
        if text.contains("while") || text.contains("until") || text.contains("for ((") {
            return text;
        }
        let mut chars: Vec<char> = text.chars().collect();
        for _ in 0..=self.below(3) {
            let at = self.below(chars.len() + 1);
            match self.below(3) {
                0 if at < chars.len() => {
                    chars.remove(at);
                }
                1 if at + 1 < chars.len() => chars.swap(at, at + 1),
                _ => {
                    let damage = self.pick(DAMAGE);
                    chars.splice(at..at, damage.chars());
                }
            }
        }
        chars.into_iter().collect()
    }

    fn list(&mut self) -> String {
        self.depth += 1;
        let mut text = self.pipeline();
        let n = if self.depth > 1 { 1 } else { 3 };
        for _ in 0..self.below(n) {
            let separator = self.pick(&[
                " && ", " || ", "; ", ";", "\n", " & ", "&&", "||", " # c\n", " &\n",
            ]);
            text.push_str(separator);
            text.push_str(&self.pipeline());
        }
        self.depth -= 1;
        text
    }

    fn pipeline(&mut self) -> String {
        let front = match self.below(12) {
            0 => "! ",
            1 => "time ",
            2 => "time -p ",
            _ => "",
        };
        let mut text = format!("{front}{}", self.command());
        if self.below(5) == 0 {
            let pipe = self.pick(&[" | ", "|", " |& ", " |\n"]);
            text.push_str(pipe);
            text.push_str(&self.command());
        }
        text
    }

    fn command(&mut self) -> String {
        if self.depth > 3 {
            return self.simple();
        }
        match self.below(36) {
            0 => format!("({})", self.list()),
            1 => format!("{{ {}; }}", self.list()),
            2 => format!("if {}; then {}; fi", self.list(), self.list()),
            3 => format!(
                "if {}; then {}; else {}; fi",
                self.list(),
                self.list(),
                self.list()
            ),
            4 => format!(
                "for x in {} {}; do {}; done",
                self.word(),
                self.word(),
                self.list()
            ),
            5 => format!("while {}; do {}; break; done", self.list(), self.list()),
            6 => format!("until {}; do {}; break; done", self.list(), self.list()),
            7 => format!(
                "case {} in a|b) {};; (*) {} ;; esac",
                self.word(),
                self.list(),
                self.list()
            ),
            8 => {
                // Names of their own: a call must not reach the function it stands in.
                self.n_functions += 1;
                let n = self.n_functions;
                format!("f{n}() {{ {}; }}; f{n} {}", self.list(), self.word())
            }
            9 => format!("[[ -n {} && {} == a* ]]", self.word(), self.word()),
            10 => format!("(( {} ))", self.arithmetic()),
            11 => format!("for ((i=0; i<2; i++)); do {}; done", self.list()),
            12 => format!("{{ {} > out <<E\n{}\nE\n}}", self.simple(), self.body()),
            13 => format!("{{ {} <<'E'\n{}\nE\n}}", self.simple(), self.body()),
            14 => format!("{{ {} <<-E\n\t{}\n\tE\n}}", self.simple(), self.body()),
            15 => format!("{{ {}\n}} 2>&1", self.list()),
            _ => self.simple(),
        }
    }

    fn simple(&mut self) -> String {
        let mut parts = Vec::new();
        match self.below(60) {
            0 => return format!("x={}; {} $x", self.word(), self.name()),
            1 => return format!("x={} && \"$x\" a", self.pick(PROGRAMS)),
            2 => return format!("set -- {} b; \"$@\"", self.pick(PROGRAMS)),
            3 => {
                return format!(
                    "arr=({} {}); \"${{arr[@]}}\"",
                    self.pick(PROGRAMS),
                    self.word()
                );
            }
            4 => return format!("cd sub && {} {}", self.name(), self.word()),
            5 => return format!("eval '{} a; {}'", self.pick(PROGRAMS), self.pick(PROGRAMS)),
            6 => return format!("command {} {}", self.name(), self.word()),
            7 => return format!("trap '{} bye' EXIT", self.pick(PROGRAMS)),
            8 => return format!("export y={}; {} \"$y\"", self.word(), self.name()),
            9 => return format!("echo {} {}", self.word(), self.word()),
            10 => return format!("readonly z={}", self.word()),
            _ => {}
        }
        if self.below(8) == 0 {
            let variable = self.pick(VARIABLES);
            parts.push(format!("{variable}={}", self.word()));
        }
        if self.below(14) == 0 {
            parts.push(self.redirect());
        }
        parts.push(self.name());
        for _ in 0..self.below(4) {
            parts.push(if self.below(8) == 0 {
                self.redirect()
            } else {
                self.word()
            });
        }
        parts.join(self.pick(&[" ", " ", "  ", "\t", " \\\n"]))
    }

    /// A program's name, often written in an odd way.
    fn name(&mut self) -> String {
        let name = self.pick(PROGRAMS);
        let (first, second) = name.split_at(1);
        match self.below(14) {
            0 => format!("\"{name}\""),
            1 => format!("'{name}'"),
            2 => format!("{first}''{second}"),
            3 => format!("\\{name}"),
            4 => format!("{first}\\\n{second}"),
            5 => format!("$'{name}'"),
            6 => format!("$'\\x{:x}'{second}", first.as_bytes()[0]),
            7 => format!("{first}\"{second}\""),
            8 => format!("$\"{name}\""),
            _ => name.to_owned(),
        }
    }

    fn redirect(&mut self) -> String {
        self.pick(&[
            "> out",
            ">> out",
            "2>&1",
            "2>/dev/null",
            "&> out",
            "< /dev/null",
            ">| out",
            "<<< hi",
            "{fd}> out",
            "3>&-",
            ">&2",
            "<<<\"$(pa here)\"",
            "> \"$(pb target)\"",
        ])
        .to_owned()
    }

    fn word(&mut self) -> String {
        if self.depth > 4 {
            return "w".to_owned();
        }
        self.depth += 1;
        let word = self.word_of_kind();
        self.depth -= 1;
        word
    }

    fn word_of_kind(&mut self) -> String {
        match self.below(34) {
            0 => format!("$({})", self.list()),
            1 => format!("\"$({})\"", self.list()),
            2 => format!("`{}`", self.pick(PROGRAMS)),
            3 => format!("\"a `{} b` c\"", self.pick(PROGRAMS)),
            4 => format!("<({})", self.list()),
            5 => format!("${{x:-{}}}", self.word()),
            6 => format!("\"${{y:-{}}}\"", self.word()),
            7 => format!("${{z:={}}}", self.word()),
            8 => format!("$(( {} ))", self.arithmetic()),
            9 => format!("${{x#{}}}", self.word()),
            10 => format!("${{x//a/{}}}", self.word()),
            11 => "$x".to_owned(),
            12 => "\"$y\"".to_owned(),
            13 => "${#x}".to_owned(),
            14 => "'q u; o'".to_owned(),
            15 => "\"d \\\" $x\"".to_owned(),
            16 => "{a,b}".to_owned(),
            17 => "no*such".to_owned(),
            18 => "a\\ b".to_owned(),
            19 => "x#y".to_owned(),
            20 => "$'t\\tn'".to_owned(),
            21 => "\"$@\"".to_owned(),
            22 => "`echo \\`pa deep\\``".to_owned(),
            23 => "-o".to_owned(),
            24 => "\"\"".to_owned(),
            25 => "${arr[0]}".to_owned(),
            26 => "{1..3}".to_owned(),
            _ => self
                .pick(&["a", "b", "w1", "--flag", "a=b", "in", "do", "if"])
                .to_owned(),
        }
    }

    fn arithmetic(&mut self) -> String {
        match self.below(6) {
            0 => format!("1 + $({} n)", self.pick(PROGRAMS)),
            1 => "x + 1".to_owned(),
            2 => "(1 + 2) * 3".to_owned(),
            3 => format!("`{}` + 2", self.pick(PROGRAMS)),
            4 => "x = 5".to_owned(),
            _ => "1".to_owned(),
        }
    }

    fn body(&mut self) -> String {
        match self.below(6) {
            0 => format!("text $({} h) end", self.pick(PROGRAMS)),
            1 => format!("`{} h`", self.pick(PROGRAMS)),
            2 => "it's \"plain\" $x".to_owned(),
            3 => format!("${{x:-$({} d)}}", self.pick(PROGRAMS)),
            4 => "; pa not run".to_owned(),
            _ => "line\nline two \\$(pa)".to_owned(),
        }
    }
}
