//! See `podward_fuzz::shell`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| podward_fuzz::shell(data));
