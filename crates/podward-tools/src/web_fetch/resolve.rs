//! From a host to the addresses that a request may be sent to.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use url::{Host, Url};

/// Addresses of one name that are looked at; more are not used.
const ADDRESSES_MAX: usize = 16;

/// Where a host was written as what it is, or looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// The URL says it: an address, or `localhost`.
    Written,
    /// A name server said it.
    LookedUp,
}

/// The addresses of a URL's host.
///
/// `localhost` and the names below it are this machine, and nobody is asked (RFC 6761, 6.3).
pub(crate) async fn addresses(url: &Url) -> io::Result<(Vec<IpAddr>, Known)> {
    Ok(match url.host() {
        Some(Host::Ipv4(address)) => (vec![address.into()], Known::Written),
        Some(Host::Ipv6(address)) => (vec![IpAddr::V6(address).to_canonical()], Known::Written),
        Some(Host::Domain(name)) if is_localhost(name) => (LOCALHOST.to_vec(), Known::Written),
        Some(Host::Domain(name)) => (look_up(name).await?, Known::LookedUp),
        None => (Vec::new(), Known::Written),
    })
}

/// What `localhost` means.
pub(crate) const LOCALHOST: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::LOCALHOST),
    IpAddr::V6(Ipv6Addr::LOCALHOST),
];

/// Whether a canonical host is this machine by its name.
pub(crate) fn is_localhost(host: &str) -> bool {
    host == "localhost" || host.ends_with(".localhost")
}

/// Asks the system once; what is not in its answer is never used.
async fn look_up(name: &str) -> io::Result<Vec<IpAddr>> {
    let mut addresses: Vec<IpAddr> = Vec::new();
    for found in tokio::net::lookup_host((name, 0)).await? {
        let address = SocketAddr::ip(&found).to_canonical();
        if !addresses.contains(&address) && addresses.len() < ADDRESSES_MAX {
            addresses.push(address);
        }
    }
    Ok(addresses)
}
