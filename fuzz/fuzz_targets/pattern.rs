//! See `podward_fuzz::pattern`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| podward_fuzz::pattern(data));
