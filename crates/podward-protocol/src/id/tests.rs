use super::*;

#[test]
fn a_session_id_is_written_as_a_ulid() {
    for text in ["01JDXW8Z4M9V7Q3T5R6S8N0PAB", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"] {
        assert_eq!(SessionId::new(text).unwrap().as_str(), text);
    }
    for text in [
        "",
        "01JDXW8Z4M9V7Q3T5R6S8N0PA",
        "01JDXW8Z4M9V7Q3T5R6S8N0PABC",
        "01jdxw8z4m9v7q3t5r6s8n0pab",
        "01JDXW8Z4M9V7Q3T5R6S8N0PAU",
        "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
        "../../../../../../etc/pass",
    ] {
        assert!(SessionId::new(text).is_err(), "{text}");
    }
}

#[test]
fn an_error_shows_control_characters_escaped() {
    let error = SessionId::new("\u{1b}[31m").unwrap_err();
    assert!(
        error.to_string().starts_with("`\\u{1b}[31m` is not"),
        "{error}"
    );
}

#[test]
fn an_id_is_its_128_bits() {
    let check = |bits, text| {
        assert_eq!(SessionId::from_bits(bits), SessionId::new(text).unwrap());
    };
    check(0, "00000000000000000000000000");
    check(u128::MAX, "7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
    check(
        0x0193_0b2c_4e5f_0000_0000_0000_0000_001f,
        "01JC5JRKJZ000000000000000Z",
    );
}
