//! A real server, real workers in separate processes, and failures between them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod conformance; // what every bench must do, here and far away
mod failures; // workers, servers, tunnels and coordinators that end
mod parts; // servers and workers, started and ended
mod security; // who is refused, and what is not executed
mod tunnel; // a forwarded port that can be cut
