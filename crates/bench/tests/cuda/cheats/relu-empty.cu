// Nothing but this comment.
// It must fail: there is no code at all.
// expect: malformed, refused, not-compiled
