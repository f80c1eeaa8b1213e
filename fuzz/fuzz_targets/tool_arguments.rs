//! See `podward_fuzz::tool_arguments`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| podward_fuzz::tool_arguments(data));
