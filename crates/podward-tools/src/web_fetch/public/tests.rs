use super::*;

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn addresses_that_are_not_plainly_global_are_not_public() {
    // The first and the last of each network, and what only looks like something else.
    let not_public = [
        "0.0.0.0",
        "0.255.255.255",
        "10.0.0.0",
        "10.255.255.255",
        "100.64.0.0",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.255",
        "169.254.0.0",
        "169.254.169.254",
        "169.254.255.255",
        "172.16.0.0",
        "172.31.255.255",
        "192.0.0.0",
        "192.0.0.255",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.0.0",
        "192.168.255.255",
        "198.18.0.0",
        "198.19.255.255",
        "198.51.100.7",
        "203.0.113.7",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::ffff:10.0.0.1",
        "::ffff:127.0.0.1",
        "::7f00:1",
        "64:ff9b::a00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::808:808",
        "100::1",
        "2001::1",
        "2001:2::1",
        "2001:db8::1",
        "2001:1ff:ffff::1",
        "2002:a00:1::1",
        "2002:808:808::1",
        "3ffe::1",
        "3fff::1",
        "5f00::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fec0::1",
        "ff02::1",
    ];
    for address in not_public {
        assert!(!is_public(ip(address)), "{address}");
    }
}

#[test]
fn other_addresses_are_public() {
    let public = [
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "93.184.216.34",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
        "2001:200::1",
        "2001:4860:4860::8888",
        "2606:2800:220:1::1",
        "2a00:1450::1",
    ];
    for address in public {
        assert!(is_public(ip(address)), "{address}");
    }
}

#[test]
fn the_ipv4_address_that_another_carries_is_found() {
    let shown = |text: &str| carried(ip(text)).map(|address| address.to_string());
    assert_eq!(shown("64:ff9b::a00:5"), Some("10.0.0.5".to_owned()));
    assert_eq!(shown("2002:a00:5::1"), Some("10.0.0.5".to_owned()));
    assert_eq!(shown("2606::1"), None);
    assert_eq!(shown("10.0.0.5"), None);
}
