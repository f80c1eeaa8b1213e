//! See `podward_fuzz::request`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| podward_fuzz::request(data));
