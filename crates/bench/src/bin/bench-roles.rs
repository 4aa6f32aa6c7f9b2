//! An executable that only plays the bench's hidden roles, for this crate's tests.

fn main() {
    hotloop_bench::role::play_if_asked();
}
