//! The table of a pod's limits, made of the constants that set them.

use std::fs;
use std::path::Path;

use syn::{BinOp, Expr, Item, Lit};

use crate::chores::Outcome;

/// A constant and what it limits.
struct Limit {
    file: &'static str,
    constant: &'static str,
    unit: Unit,
    what: &'static str,
}

#[derive(Clone, Copy)]
enum Unit {
    Count,
    Bytes,
    Seconds,
}

const fn limit(
    file: &'static str,
    constant: &'static str,
    unit: Unit,
    what: &'static str,
) -> Limit {
    Limit {
        file,
        constant,
        unit,
        what,
    }
}

const CODEC: &str = "crates/podward-protocol/src/codec.rs";
const CLIENTS: &str = "crates/podward-pod/src/serve/clients.rs";
const CONNECTION: &str = "crates/podward-pod/src/serve/connection.rs";
const HUB: &str = "crates/podward-pod/src/serve/hub.rs";
const HUB_CLIENTS: &str = "crates/podward-pod/src/serve/hub/clients.rs";
const METHODS: &str = "crates/podward-pod/src/serve/hub/methods.rs";
const OUTBOX: &str = "crates/podward-pod/src/serve/outbox.rs";
const PRESENCE: &str = "crates/podward-pod/src/serve/presence.rs";
const REPLIES: &str = "crates/podward-pod/src/serve/hub/replies.rs";
const SNAPSHOT: &str = "crates/podward-pod/src/serve/snapshot.rs";

/// In the order of the table; one that others are made of stands before them.
const LIMITS: &[Limit] = &[
    limit(
        CODEC,
        "MAX_REQUEST_BYTES",
        Unit::Bytes,
        "a line that a pod reads; after a longer one it answers `too_long` and closes the connection",
    ),
    limit(
        CODEC,
        "MAX_LINE_BYTES",
        Unit::Bytes,
        "a line that a pod sends",
    ),
    limit(
        CLIENTS,
        "MAX_CLIENTS",
        Unit::Count,
        "connections of a pod; one too many is closed",
    ),
    limit(
        CLIENTS,
        "MAX_BELOW",
        Unit::Count,
        "of these, connections of processes that descend from the pod",
    ),
    limit(
        HUB_CLIENTS,
        "MAX_WAITING",
        Unit::Count,
        "requests of a client that are without a response; the next one gets `too_many`",
    ),
    limit(
        CLIENTS,
        "MAX_NAME",
        Unit::Count,
        "characters of a client's name",
    ),
    limit(
        REPLIES,
        "MAX_FEEDBACK",
        Unit::Bytes,
        "`feedback` of `permission_reject_all`",
    ),
    limit(
        METHODS,
        "PAGE",
        Unit::Count,
        "requests or grants in one answer",
    ),
    limit(
        METHODS,
        "PAGE_BYTES",
        Unit::Bytes,
        "an answer with more than one request or grant",
    ),
    limit(HUB, "PING", Unit::Seconds, "from one `ping` to the next"),
    limit(
        PRESENCE,
        "MISSED_PINGS",
        Unit::Count,
        "pings without a sign of life, after which an approver is taken for gone",
    ),
    limit(
        CLIENTS,
        "HELLO_PINGS",
        Unit::Count,
        "pings to others that a connection may let pass without `hello`",
    ),
    limit(
        OUTBOX,
        "MAX_LINES",
        Unit::Count,
        "lines that wait for a client; one that is slower is cut off",
    ),
    limit(OUTBOX, "MAX_BYTES", Unit::Bytes, "the same in bytes"),
    limit(
        CONNECTION,
        "WRITE_TIME",
        Unit::Seconds,
        "that a client may let a write wait before it is cut off",
    ),
    limit(
        SNAPSHOT,
        "TURN_EVENTS",
        Unit::Count,
        "events of a turn in a snapshot; of more, the first are left out",
    ),
    limit(SNAPSHOT, "TURN_BYTES", Unit::Bytes, "the same in bytes"),
    limit(
        SNAPSHOT,
        "TEXT_BYTES",
        Unit::Bytes,
        "a text that a snapshot has in one event; a longer one is in several",
    ),
];

/// The table.
///
/// # Errors
/// A file cannot be read, or a constant is not there or made of something else than numbers.
pub(super) fn table(root: &Path) -> Outcome<String> {
    let mut table = "| limit | of what |\n|---|---|\n".to_owned();
    let mut known: Vec<(&str, u64)> = Vec::new();
    for limit in LIMITS {
        let source = fs::read_to_string(root.join(limit.file))?;
        let value = value(&source, limit.constant, &known)
            .ok_or_else(|| format!("{}: `{}` is no limit", limit.file, limit.constant))?;
        known.push((limit.constant, value));
        table += &format!("| {} | {} |\n", shown(value, limit.unit), limit.what);
    }
    Ok(table)
}

/// The value of a constant of a source file; `known` are those that it may name.
fn value(source: &str, constant: &str, known: &[(&str, u64)]) -> Option<u64> {
    let file = syn::parse_file(source).ok()?;
    let item = file.items.into_iter().find_map(|item| match item {
        Item::Const(item) if item.ident == constant => Some(item),
        _ => None, // no other item is a constant
    })?;
    evaluated(&item.expr, known)
}

fn evaluated(expression: &Expr, known: &[(&str, u64)]) -> Option<u64> {
    match expression {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) => number.base10_parse().ok(),
            _ => None, // no number
        },
        Expr::Binary(binary) => {
            let left = evaluated(&binary.left, known)?;
            let right = evaluated(&binary.right, known)?;
            match binary.op {
                BinOp::Mul(_) => left.checked_mul(right),
                BinOp::Add(_) => left.checked_add(right),
                _ => None, // not needed so far
            }
        }
        Expr::Path(path) => {
            let name = &path.path.segments.last()?.ident;
            known
                .iter()
                .find(|(known, _)| name == known)
                .map(|(_, value)| *value)
        }
        // `Duration::from_secs(10)`
        Expr::Call(call) => evaluated(call.args.first()?, known),
        _ => None, // nothing that makes a limit
    }
}

fn shown(value: u64, unit: Unit) -> String {
    const KIB: u64 = 1024;
    const MIB: u64 = 1024 * KIB;
    match unit {
        Unit::Count => value.to_string(),
        Unit::Seconds => format!("{value} s"),
        Unit::Bytes if value.is_multiple_of(MIB) => format!("{} MiB", value / MIB),
        Unit::Bytes if value.is_multiple_of(KIB) => format!("{} KiB", value / KIB),
        Unit::Bytes => format!("{value} bytes"),
    }
}

#[cfg(test)]
mod tests;
