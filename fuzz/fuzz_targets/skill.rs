//! See `podward_fuzz::skill_file`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| podward_fuzz::skill_file(data));
