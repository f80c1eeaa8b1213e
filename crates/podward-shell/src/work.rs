//! Counts work in tests, so that a bound on it needs no clock: bytes that were looked at, arguments
//! that were read by a model, bytes of text that were made for rules. It costs nothing elsewhere.

#[cfg(test)]
thread_local! {
    static DONE: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Notes this much work.
#[inline]
pub(crate) fn done(n: usize) {
    #[cfg(test)]
    DONE.with(|all| all.set(all.get() + n));
    #[cfg(not(test))]
    let _ = n;
}

#[cfg(test)]
mod tests;
