//! Who is refused, and what is not executed.
