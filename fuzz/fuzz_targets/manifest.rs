//! See `podward_fuzz::manifest`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| podward_fuzz::manifest(data));
