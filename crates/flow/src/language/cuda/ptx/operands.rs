//! What an instruction of PTX names: state spaces, types, and what is stored.

/// What a store stores, behind its address.
pub(super) fn stored<'o, 'p>(operands: &'o [&'p str]) -> &'o [&'p str] {
    let list = operands.iter().position(|one| *one == "{");
    &operands[list.unwrap_or(operands.len().saturating_sub(1))..]
}

/// Whether a conversion keeps a part of an integer of eight bytes.
pub(super) fn is_cut(modifiers: &[&str]) -> bool {
    let [.., to, from] = modifiers else {
        return false;
    };
    let is_whole = to.starts_with(['u', 's', 'b']) && !to.ends_with("64");
    is_whole && matches!(*from, "u64" | "s64" | "b64")
}

/// Whether a state space is named that is not global memory.
pub(super) fn is_elsewhere(modifiers: &[&str]) -> bool {
    modifiers.iter().any(|one| {
        let space = one.split("::").next();
        matches!(space, Some("shared" | "local" | "param" | "const"))
    })
}

/// Whether a type of eight bytes is named.
pub(super) fn is_wide(modifiers: &[&str]) -> bool {
    let types = ["b64", "u64", "s64", "f64"];
    modifiers.iter().any(|one| types.contains(one))
}
