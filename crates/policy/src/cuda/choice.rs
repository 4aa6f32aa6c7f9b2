//! Products by the fastest of cuBLAS's algorithms, found by timing them where they will be used.
//!
//! What cuBLAS takes by itself is a guess from the shape. A decode step is the same few shapes again and again, each
//! over all layers, so it pays to try: a step is run once and its products are noted; then every algorithm that cuBLAS
//! offers for a shape does all of that shape's products as one graph, whose weights come from memory as in a step.

use std::collections::HashMap;

use super::blas::{Dims, Operand, Target};
use super::device::{Address, Graph};
use super::error::{Error, Result};
use super::lt::{Handle, Place, Product};

/// Algorithms that are tried for a shape.
const TRIED: usize = 12;
/// Replays that an algorithm is timed by; the fastest counts.
const ROUNDS: usize = 4;
/// What replaces cuBLAS's own choice must take less than this part of its time: nothing changes for noise.
const WORTH: f64 = 0.97;

/// One product as it was asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    pub(super) a: Operand,
    pub(super) b: Operand,
    pub(super) c: Target,
    pub(super) dims: Dims,
    pub(super) alpha: f32,
}

/// What an algorithm depends on: everything but where the operands lie, of which only the alignment counts.
type Shape = ([usize; 6], [bool; 4], u32);

impl Call {
    fn shape(&self) -> Shape {
        let Self {
            a,
            b,
            c,
            dims: Dims(rows, columns, length),
            ..
        } = *self;
        let sizes = [rows, columns, length, a.stride, b.stride, c.stride];
        (
            sizes,
            [a.transposed, b.transposed, c.wide, c.add],
            self.alignment(),
        )
    }

    /// The bytes that all its operands lie at a multiple of: a power of two, and 256 at most, which is what cuBLASLt
    /// counts on unless told otherwise. Told less, it leaves out algorithms that ask for more.
    pub(super) fn alignment(&self) -> u32 {
        let bits = self.a.at.0 | self.b.at.0 | self.c.at.0;
        1 << bits.trailing_zeros().min(8)
    }
}

/// How the products of a shape were chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Rows and columns of the result, and the length summed over.
    pub size: [usize; 3],
    /// Products of that shape in a step.
    pub products: usize,
    /// Algorithms that could be timed.
    pub tried: usize,
    /// Microseconds of one product as cuBLAS does it by itself.
    pub usual_us: f64,
    /// And by the fastest algorithm that was tried, whether it was taken or not.
    pub fastest_us: f64,
}

/// The choices of a device.
pub(super) struct Choices {
    handle: Handle,
    /// The products of a step, while one is noted.
    noted: Option<Vec<Call>>,
    /// None where cuBLAS's own choice stays.
    taken: HashMap<Shape, Option<Product>>,
    told: Vec<Choice>,
}

impl Choices {
    pub(super) fn new() -> Result<Self> {
        Ok(Self {
            handle: Handle::new()?,
            noted: None,
            taken: HashMap::new(),
            told: Vec::new(),
        })
    }

    /// Notes the products that are asked for from now on.
    pub(super) fn note_all(&mut self) {
        self.noted = Some(Vec::new());
    }

    /// The products that were noted, whose shapes have no choice yet.
    pub(super) fn take_noted(&mut self) -> Vec<Call> {
        let mut noted = self.noted.take().unwrap_or_default();
        noted.retain(|call| !self.taken.contains_key(&call.shape()));
        noted
    }

    /// How products were chosen so far.
    pub(super) fn told(&self) -> &[Choice] {
        &self.told
    }

    /// Does the product if its shape has an algorithm; false leaves it to cuBLAS.
    pub(super) fn product(&mut self, call: &Call, place: &Place<'_>) -> Result<bool> {
        if let Some(noted) = &mut self.noted {
            noted.push(*call);
        }
        let Some(Some(product)) = self.taken.get(&call.shape()) else {
            return Ok(false);
        };
        product.run(&self.handle, call, place)?;
        Ok(true)
    }

    /// Chooses an algorithm for each shape among `calls`, against `usual`, which leaves one to cuBLAS.
    pub(super) fn choose(
        &mut self,
        calls: &[Call],
        place: &Place<'_>,
        usual: &dyn Fn(&Call) -> Result<()>,
    ) -> Result<()> {
        let mut shapes: Vec<Vec<Call>> = Vec::new();
        for call in calls {
            match shapes
                .iter_mut()
                .find(|shape| shape[0].shape() == call.shape())
            {
                Some(shape) => shape.push(*call),
                None => shapes.push(vec![*call]),
            }
        }
        for calls in shapes {
            self.choose_one(&calls, place, usual)?;
        }
        Ok(())
    }

    fn choose_one(
        &mut self,
        calls: &[Call],
        place: &Place<'_>,
        usual: &dyn Fn(&Call) -> Result<()>,
    ) -> Result<()> {
        let run_usual = || calls.iter().try_for_each(usual);
        run_usual()?;
        let usual_ms = timed(place, &place.device.capture(run_usual)?)?;
        let (mut best, mut best_ms, mut tried) = (None, f64::INFINITY, 0);
        for product in Product::offered(&self.handle, &calls[0], place, TRIED)? {
            let run = || {
                calls
                    .iter()
                    .try_for_each(|call| product.run(&self.handle, call, place))
            };
            // Libraries load kernels when they first run, which a capture does not allow. One that does not run, or not
            // in a graph, is no choice; a device that has failed says so to what comes next.
            if run().is_err() {
                continue;
            }
            let Ok(graph) = place.device.capture(run) else {
                continue;
            };
            let ms = timed(place, &graph)?;
            tried += 1;
            if ms < best_ms {
                (best, best_ms) = (Some(product), ms);
            }
        }
        let Dims(rows, columns, length) = calls[0].dims;
        let each_us = |ms: f64| ms * 1e3 / calls.len() as f64;
        self.told.push(Choice {
            size: [rows, columns, length],
            products: calls.len(),
            tried,
            usual_us: each_us(usual_ms),
            fastest_us: each_us(best_ms.min(usual_ms)),
        });
        self.taken.insert(
            calls[0].shape(),
            best.filter(|_| best_ms < WORTH * usual_ms),
        );
        Ok(())
    }
}

/// The fastest of some replays, in milliseconds.
fn timed(place: &Place<'_>, graph: &Graph) -> Result<f64> {
    let (device, (workspace, bytes)) = (place.device, place.workspace);
    let mut fastest = f64::INFINITY;
    for _ in 0..ROUNDS {
        // Larger than the caches, so that they hold no weights of the last round; and by the time it is written the host
        // has queued the graph, whose launch would be timed otherwise.
        device.clear(Address(workspace), bytes)?;
        let begin = device.event()?;
        device.replay(graph)?;
        let end = device.event()?;
        device.wait()?;
        let ms = begin.elapsed_ms(&end).map_err(|source| Error::Driver {
            at: "timing",
            source,
        })?;
        fastest = fastest.min(f64::from(ms));
    }
    Ok(fastest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(a: u64, b: u64) -> Call {
        let rows = |at| Operand::rows(Address(at), 64);
        let c = Target::set(Address(512), 32);
        Call {
            a: rows(a),
            b: rows(b).t(),
            c,
            dims: Dims(16, 32, 64),
            alpha: 1.0,
        }
    }

    #[test]
    fn a_shape_is_all_but_where_operands_lie() {
        assert_eq!(call(256, 1024).shape(), call(4096, 768).shape());
        assert_ne!(
            call(256, 1024).shape(),
            call(4096, 128).shape(),
            "but for their alignment"
        );
        let added = Call {
            c: Target::add(Address(512), 32),
            ..call(256, 1024)
        };
        assert_ne!(added.shape(), call(256, 1024).shape());
        let longer = Call {
            dims: Dims(32, 32, 64),
            ..call(256, 1024)
        };
        assert_ne!(longer.shape(), call(256, 1024).shape());
    }

    #[test]
    fn an_alignment_is_that_of_the_worst_operand() {
        assert_eq!(
            [call(512, 1024), call(4096, 16), call(514, 1 << 20)].map(|call| call.alignment()),
            [256, 16, 2]
        );
    }
}
