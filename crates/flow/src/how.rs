//! How candidates are compiled, timed and checked: one type from the run file, the command line
//! and the wire to the bench.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The user's choices for judging candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct How {
    pub compiler: Compiler,
    pub opt: OptLevel,
    /// OpenMP threads of a candidate.
    pub threads: u32,
    pub timing: Estimator,
    pub check: Check,
}

impl Default for How {
    fn default() -> Self {
        Self {
            compiler: Compiler::Gcc,
            opt: OptLevel::O3,
            threads: 1,
            timing: Estimator::Gated,
            check: Check::Strict,
        }
    }
}

/// A word that matches none of the choices.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is not one of {}", .names.join(", "))]
pub struct UnknownName {
    pub word: String,
    pub names: &'static [&'static str],
}

/// Defines an enum whose variants have the same name in run files, on the command line and on the
/// wire.
macro_rules! named {
    ($(#[$about:meta])* $type:ident { $($(#[$variant_about:meta])* $variant:ident = $name:literal,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $type {
            $($(#[$variant_about])* #[serde(rename = $name)] $variant,)+
        }

        impl $type {
            pub const NAMES: &[&str] = &[$($name),+];

            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(self.name())
            }
        }

        impl FromStr for $type {
            type Err = UnknownName;

            /// Ignores case.
            fn from_str(word: &str) -> Result<Self, UnknownName> {
                $(if word.eq_ignore_ascii_case($name) {
                    return Ok(Self::$variant);
                })+
                Err(UnknownName { word: word.to_owned(), names: Self::NAMES })
            }
        }
    };
}

named! {
    /// The compiler that builds C candidates.
    Compiler {
        Gcc = "gcc",
        Clang = "clang",
    }
}

named! {
    /// The optimisation level for candidates.
    OptLevel {
        O0 = "O0",
        O1 = "O1",
        O2 = "O2",
        O3 = "O3",
    }
}

named! {
    /// The estimator that decides how long a call takes. The bench always reports both.
    Estimator {
        /// The fastest sample. The bench samples until enough samples are between quiet probes, or
        /// until its rounds are used up.
        Gated = "gated",
        /// The mean of three runs after one warm-up.
        Paper = "paper",
    }
}

named! {
    /// The check that decides whether a candidate is correct. The bench always computes both.
    Check {
        /// Every element, with a bound relative to the scale of the values.
        Strict = "strict",
        /// 105 points, with a tolerance of 1e-6.
        Paper = "paper",
    }
}

impl OptLevel {
    /// The compiler's flag.
    pub fn flag(self) -> &'static str {
        match self {
            Self::O0 => "-O0",
            Self::O1 => "-O1",
            Self::O2 => "-O2",
            Self::O3 => "-O3",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_has_one_name_everywhere() {
        let text = toml::to_string(&How::default()).unwrap();
        let written = [
            "compiler = \"gcc\"",
            "opt = \"O3\"",
            "threads = 1",
            "timing = \"gated\"",
            "check = \"strict\"",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), written);
        assert_eq!(toml::from_str::<How>(&text).unwrap(), How::default());
        for name in OptLevel::NAMES {
            let level: OptLevel = name.to_lowercase().parse().unwrap();
            assert_eq!(level.name(), *name);
            assert_eq!(level.flag(), format!("-{name}"));
        }
        let error = "icc".parse::<Compiler>().unwrap_err();
        assert_eq!(error.to_string(), "`icc` is not one of gcc, clang");
    }
}
