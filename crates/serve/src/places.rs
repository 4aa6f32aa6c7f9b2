//! Places for connections: so many for all, and so many for one address, which cannot take those of
//! others.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Places, and who has them.
pub(crate) struct Places {
    /// For all addresses together.
    all: usize,
    /// For each of them.
    each: usize,
    taken: Mutex<HashMap<IpAddr, usize>>,
}

/// A place; dropping it gives it back.
pub(crate) struct Place {
    places: Arc<Places>,
    address: IpAddr,
}

impl Places {
    pub(crate) fn new(all: usize, each: usize) -> Arc<Self> {
        let taken = Mutex::default();
        Arc::new(Self { all, each, taken })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a connection from this address, or why there is none.
    pub(crate) fn take(self: &Arc<Self>, address: IpAddr) -> Result<Place, &'static str> {
        let address = counted(address);
        let mut taken = self.lock();
        if taken.values().sum::<usize>() >= self.all {
            return Err("too many connections");
        }
        let own = taken.entry(address).or_default();
        if *own >= self.each {
            return Err("too many connections from this address");
        }
        *own += 1;
        Ok(Place {
            places: Arc::clone(self),
            address,
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.lock();
        if let Some(own) = taken.get_mut(&self.address) {
            *own -= 1;
            if *own == 0 {
                taken.remove(&self.address);
            }
        }
    }
}

/// The address that requests are counted by. A client with one IPv6 address has all that share its
/// first half.
pub(crate) fn counted(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let network = u128::from(address) >> 64 << 64;
            IpAddr::V6(if address.is_loopback() {
                address
            } else {
                Ipv6Addr::from(network)
            })
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_leaves_places_for_others() {
        let places = Places::new(3, 2);
        let take = |address: &str| places.take(address.parse().unwrap());
        let first = take("10.0.0.1").ok();
        let _second = take("::ffff:10.0.0.1").ok();
        assert!(first.is_some() && take("10.0.0.1").is_err());
        let _other = take("10.0.0.2").ok();
        assert_eq!(take("10.0.0.3").err(), Some("too many connections"));
        drop(first);
        assert!(take("10.0.0.1").is_ok(), "a place that was given back");
        assert_eq!(places.lock().len(), 2, "nobody is remembered for nothing");
    }

    #[test]
    fn a_network_of_version_6_counts_as_one() {
        let places = Places::new(9, 1);
        let _first = places.take("2001:db8::1".parse().unwrap()).ok();
        assert!(places.take("2001:db8::2".parse().unwrap()).is_err());
        assert!(places.take("2001:db8:0:1::1".parse().unwrap()).is_ok());
    }
}
