//! The crate's test program plays the hidden roles, too: it is the executable that its tests start.
#![expect(unsafe_code, reason = "a function that runs before main")]

/// The C library calls this before `main`, and so before the test harness reads its arguments.
#[used]
// SAFETY: the section holds pointers to functions that take what `main` takes, and this one takes
// less.
#[unsafe(link_section = ".init_array")]
static PLAY: extern "C" fn() = play;

extern "C" fn play() {
    super::play_if_asked();
}
