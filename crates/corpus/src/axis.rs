//! A space of candidates is a struct whose fields are axes: finite sets with weights.
//!
//! The weights form the mixture. They favour plain code and leave a long tail of good code.

use crate::rng::Rng;

/// A finite set of choices, each with its weight.
pub(crate) trait Axis: Copy + 'static {
    /// All choices; the first is the plain one.
    const ALL: &'static [(Self, u32)];

    /// Draws a choice by weight.
    fn draw(rng: &mut Rng) -> Self {
        rng.weighted(Self::ALL)
    }
}

/// Declares an axis: `axis!(/// doc  Name { /// doc  Choice = weight, ... })` for words, and
/// `axis!(/// doc  Name(u32) { 8 = weight, ... })` for numbers.
macro_rules! axis {
    ($(#[$doc:meta])* $name:ident { $($(#[$choice_doc:meta])* $choice:ident = $weight:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { $($(#[$choice_doc])* $choice),+ }
        impl $crate::axis::Axis for $name {
            const ALL: &'static [(Self, u32)] = &[$((Self::$choice, $weight)),+];
        }
    };
    ($(#[$doc:meta])* $name:ident(u32) { $($number:literal = $weight:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
        pub struct $name(pub u32);
        impl $crate::axis::Axis for $name {
            const ALL: &'static [(Self, u32)] = &[$((Self($number), $weight)),+];
        }
    };
}

/// Declares a struct of axes that can be enumerated and drawn.
macro_rules! space {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $axis:ty),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
        pub struct $name { $($(#[$field_doc])* pub $field: $axis),+ }

        impl $name {
            /// The number of combinations. Not all of them make sense.
            pub fn combinations() -> u64 {
                [$(<$axis as $crate::axis::Axis>::ALL.len() as u64),+].iter().product()
            }

            /// The combination number `index`; the first field varies slowest.
            pub fn nth(index: u64) -> Self {
                let mut left = index;
                let mut radix = Self::combinations();
                $(
                    let choices = <$axis as $crate::axis::Axis>::ALL;
                    radix /= choices.len() as u64;
                    let $field = choices[((left / radix) as usize).min(choices.len() - 1)].0;
                    left %= radix;
                )+
                let _ = left;
                Self { $($field),+ }
            }

            /// Draws a combination by weight.
            pub fn draw(rng: &mut $crate::rng::Rng) -> Self {
                Self { $($field: <$axis as $crate::axis::Axis>::draw(rng)),+ }
            }

            /// A copy with one choice drawn again.
            #[must_use]
            pub fn changed(self, rng: &mut $crate::rng::Rng) -> Self {
                let axes = [$(stringify!($field)),+];
                let axis = axes[rng.below(axes.len())];
                let mut changed = self;
                $(if axis == stringify!($field) {
                    changed.$field = <$axis as $crate::axis::Axis>::draw(rng);
                })+
                changed
            }
        }
    };
}

pub(crate) use {axis, space};

#[cfg(test)]
#[expect(unreachable_pub, reason = "the macros declare public types")]
mod tests {
    use super::*;
    use std::collections::HashSet;

    axis!(
        Word { /// One.
            One = 9, /// Two.
            Two = 1 }
    );
    axis!(
        Number(u32) { 0 = 5, 8 = 1, 16 = 1 }
    );
    space!(Both {
        /// A word.
        word: Word,
        /// A number.
        number: Number
    });

    #[test]
    fn every_combination_has_its_number() {
        let all: HashSet<Both> = (0..Both::combinations()).map(Both::nth).collect();
        assert_eq!(all.len(), 6);
        assert_eq!(
            Both::nth(0),
            Both {
                word: Word::One,
                number: Number(0)
            }
        );
        assert_eq!(
            Both::nth(5),
            Both {
                word: Word::Two,
                number: Number(16)
            }
        );
    }

    #[test]
    fn a_change_touches_one_choice() {
        let mut rng = Rng::new(5, 0);
        for _ in 0..100 {
            let from = Both::draw(&mut rng);
            let to = from.changed(&mut rng);
            assert!(from.word == to.word || from.number == to.number);
        }
    }
}
