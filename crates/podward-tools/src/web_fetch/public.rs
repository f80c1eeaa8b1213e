//! Which addresses are those of the public internet.
//!
//! The IANA registries of special-purpose IPv4 and IPv6 addresses, read strictly: what is not
//! plainly global is not public, and neither is an address that carries an IPv4 one which is not.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Networks of IPv4 that are not public: the first address and the bits that count.
const SPECIAL_V4: [(Ipv4Addr, u32); 15] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),       // this network
    (Ipv4Addr::new(10, 0, 0, 0), 8),      // private
    (Ipv4Addr::new(100, 64, 0, 0), 10),   // shared by carriers
    (Ipv4Addr::new(127, 0, 0, 0), 8),     // loopback
    (Ipv4Addr::new(169, 254, 0, 0), 16),  // link-local, and where clouds keep credentials
    (Ipv4Addr::new(172, 16, 0, 0), 12),   // private
    (Ipv4Addr::new(192, 0, 0, 0), 24),    // protocol assignments
    (Ipv4Addr::new(192, 0, 2, 0), 24),    // documentation
    (Ipv4Addr::new(192, 88, 99, 0), 24),  // 6to4 relays
    (Ipv4Addr::new(192, 168, 0, 0), 16),  // private
    (Ipv4Addr::new(198, 18, 0, 0), 15),   // benchmarks
    (Ipv4Addr::new(198, 51, 100, 0), 24), // documentation
    (Ipv4Addr::new(203, 0, 113, 0), 24),  // documentation
    (Ipv4Addr::new(224, 0, 0, 0), 4),     // multicast
    (Ipv4Addr::new(240, 0, 0, 0), 4),     // reserved, broadcast
];

/// Networks inside global unicast IPv6 (2000::/3) that are not public.
const SPECIAL_V6: [(Ipv6Addr, u32); 5] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23), // protocol assignments: Teredo, benchmarks
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32), // documentation
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16), // 6to4
    (Ipv6Addr::new(0x3ffe, 0, 0, 0, 0, 0, 0, 0), 16), // given back
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20), // documentation
];

/// Global unicast.
const GLOBAL_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// The well-known prefix of NAT64 (RFC 6052): the last four bytes are an IPv4 address.
const NAT64: (Ipv6Addr, u32) = (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96);

/// Whether an address is one of the public internet.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => !SPECIAL_V4.iter().any(|network| holds_v4(*network, address)),
        IpAddr::V6(address) if holds_v6(NAT64, address) => {
            is_public(IpAddr::V4(last_four(address)))
        }
        IpAddr::V6(address) => {
            holds_v6(GLOBAL_V6, address)
                && !SPECIAL_V6.iter().any(|network| holds_v6(*network, address))
        }
    }
}

/// The IPv4 address to which an IPv6 one leads by translation or a tunnel.
pub(crate) fn carried(address: IpAddr) -> Option<Ipv4Addr> {
    let IpAddr::V6(address) = address.to_canonical() else {
        return None;
    };
    let [first, a, b, ..] = address.segments();
    if holds_v6(NAT64, address) {
        Some(last_four(address))
    } else if first == 0x2002 {
        let [a, b, c, d] = ((u32::from(a) << 16) | u32::from(b)).to_be_bytes();
        Some(Ipv4Addr::new(a, b, c, d))
    } else {
        None
    }
}

fn last_four(address: Ipv6Addr) -> Ipv4Addr {
    let [.., a, b, c, d] = address.octets();
    Ipv4Addr::new(a, b, c, d)
}

fn holds_v4((network, n_bits): (Ipv4Addr, u32), address: Ipv4Addr) -> bool {
    (network.to_bits() ^ address.to_bits()) >> (32 - n_bits) == 0
}

fn holds_v6((network, n_bits): (Ipv6Addr, u32), address: Ipv6Addr) -> bool {
    (network.to_bits() ^ address.to_bits()) >> (128 - n_bits) == 0
}

#[cfg(test)]
mod tests;
