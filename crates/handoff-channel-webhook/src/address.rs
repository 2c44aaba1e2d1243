//! Which addresses are of the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is one of the public internet: not of this host, of a private or shared network, of a link, nor set
/// aside for anything else. An IPv4 address within an IPv6 one counts as itself.
///
/// ```
/// use handoff_channel_webhook::address::is_public;
///
/// assert!(is_public("93.184.215.14".parse()?));
/// assert!(!is_public("169.254.169.254".parse()?));
/// assert!(!is_public("::ffff:10.0.0.1".parse()?));
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match embedded(address) {
            Some(address) => is_public_v4(address),
            None => is_public_v6(address),
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !RESERVED_V4.iter().any(|(network, bits)| {
        let mask = u32::MAX.checked_shl(32 - u32::from(*bits)).unwrap_or(0);
        address.to_bits() & mask == network.to_bits() & mask
    })
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    // Only this block was ever given out as global; what is set aside within it is listed.
    within(address, Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3)
        && !RESERVED_V6.iter().any(|(network, bits)| within(address, *network, *bits))
}

fn within(address: Ipv6Addr, network: Ipv6Addr, bits: u8) -> bool {
    let mask = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
    address.to_bits() & mask == network.to_bits() & mask
}

/// The IPv4 address that an IPv6 one stands for: mapped, compatible, translated, or behind 6to4.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [.., a, b, c, d] = address.octets();
    let last = Ipv4Addr::new(a, b, c, d);
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff | 0, _, _] | [0, 0, 0, 0, 0xffff, 0, _, _] | [0x64, 0xff9b, 0, 0, 0, 0, _, _] => {
            Some(last)
        }
        [0x2002, high, low, ..] => Some(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low))),
        _ => None,
    }
}

const fn v4(a: u8, b: u8, c: u8, d: u8, bits: u8) -> (Ipv4Addr, u8) {
    (Ipv4Addr::new(a, b, c, d), bits)
}

/// The registry of special-purpose addresses, and the metadata services of clouds that stand elsewhere.
const RESERVED_V4: [(Ipv4Addr, u8); 16] = [
    v4(0, 0, 0, 0, 8),        // this network
    v4(10, 0, 0, 0, 8),       // private
    v4(100, 64, 0, 0, 10),    // shared by carriers
    v4(127, 0, 0, 0, 8),      // this host
    v4(168, 63, 129, 16, 32), // a cloud's own services
    v4(169, 254, 0, 0, 16),   // the link, metadata services
    v4(172, 16, 0, 0, 12),    // private
    v4(192, 0, 0, 0, 24),     // protocols
    v4(192, 0, 2, 0, 24),     // documentation
    v4(192, 88, 99, 0, 24),   // relays of 6to4
    v4(192, 168, 0, 0, 16),   // private
    v4(198, 18, 0, 0, 15),    // measurements
    v4(198, 51, 100, 0, 24),  // documentation
    v4(203, 0, 113, 0, 24),   // documentation
    v4(224, 0, 0, 0, 4),      // multicast
    v4(240, 0, 0, 0, 4),      // reserved, broadcast
];

const fn v6(a: u16, b: u16, bits: u8) -> (Ipv6Addr, u8) {
    (Ipv6Addr::new(a, b, 0, 0, 0, 0, 0, 0), bits)
}

/// What is set aside within the global block.
const RESERVED_V6: [(Ipv6Addr, u8); 3] = [
    v6(0x2001, 0, 23),     // protocols, Teredo among them
    v6(0x2001, 0xdb8, 32), // documentation
    v6(0x3fff, 0, 20),     // documentation
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_public_internet_is_public() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.255.255",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "223.255.255.1",
            "2606:4700:4700::1111",
            "2a00:1450::1",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2002:808:808::1",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn nothing_else_is() {
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.100.100.200",
            "127.0.0.1",
            "127.255.255.254",
            "168.63.129.16",
            "169.254.169.254",
            "169.254.170.2",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.168.1.1",
            "198.18.0.1",
            "224.0.0.1",
            "239.255.255.255",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::ffff:0:127.0.0.1",
            "::127.0.0.1",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2001::1",
            "2001:db8::1",
            "3fff::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "100::1",
            "5f00::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }
}
