//! Families of generated tasks, which can be held out from training.

/// How the loops of a task look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Every element of the output from the same place of the inputs, some of them transposed.
    Map,
    /// As `map`, with rows and columns that are repeated.
    Broadcast,
    /// Sums over rows or over columns.
    Reduce,
    /// A recurrence along rows or down columns.
    Scan,
    /// A weighted sum of neighbours.
    Stencil,
    /// A sum over an inner index of two matrices, in any of their layouts.
    Contract,
}

impl Family {
    /// All families.
    pub const ALL: [Self; 6] = [
        Self::Map,
        Self::Broadcast,
        Self::Reduce,
        Self::Scan,
        Self::Stencil,
        Self::Contract,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Map => "map",
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
            Self::Scan => "scan",
            Self::Stencil => "stencil",
            Self::Contract => "contract",
        }
    }
}

impl std::str::FromStr for Family {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|family| family.name() == name);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("there is no family `{name}`; there are {names}")
        })
    }
}
