//! The real service over real sockets, with a bench that says what the test tells it to.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod adapters; // the protocols of other trainers
mod classes; // a bench that comes back on another class of machine
mod fake; // the bench, the service and a client for the tests
mod guard; // who and what is refused
mod hostile; // clients that hang up, send garbage or never read
mod judging; // POST /v1/judge
mod kernelgym; // evaluations of modules
mod prompts; // the staged search for foreign trainers
mod tls;
mod typos; // keys that nobody knows // certificates, good and expired
