//! See `podward_fuzz::line`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| podward_fuzz::line(data));
