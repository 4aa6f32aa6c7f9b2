//! Compares what a run of a module left in memory with what is right.

use hotloop_flow::verdict::Mismatch;

use crate::gpu::driver::Address;
use crate::gpu::examine::desk::part;
use crate::gpu::examine::module::element::Element;
use crate::gpu::examine::module::laid::Laid;
use crate::gpu::examine::module::oracle::Draw;
use crate::gpu::examine::module::sitting::Sitting;
use crate::gpu::examine::module::work::Returned;
use crate::gpu::examine::runner::Spot;
use crate::gpu::examine::station::Station;
use crate::gpu::examine::verify::mismatch;
use crate::gpu::examine::work::Trouble;
use crate::gpu::trusted::{Apart, FOUND_WORDS, Found};

/// Words before those of comparisons: whether guards have changed.
const MEMORY_WORDS: usize = 1;
const WORD: u64 = 8;

/// The words that a run's check takes.
pub(super) fn words_of(outputs: usize) -> u64 {
    (MEMORY_WORDS + FOUND_WORDS * outputs) as u64
}

impl Station {
    /// Checks a run. `Ok(Err(_))` says what is wrong; `Ok(Ok(_))` is the worst error.
    pub(super) fn verify_module(
        &mut self,
        on: &mut Sitting<'_>,
        laid: &Laid,
        draw: Draw,
    ) -> Result<Result<f64, Mismatch>, Trouble> {
        let right = on.oracle.right(&on.places)?;
        if !right.finite && draw == Draw::Plain {
            let why = "the problem cannot be judged: its right results are not all finite numbers";
            return Err(Trouble::Task(why.into()));
        }
        let bytes = words_of(on.work.outputs.len()) * WORD;
        self.gpu.set(self.results, &[0; 4], bytes)?;
        self.check_guards(laid, self.results)?;
        let layouts = on.work.outputs.iter().map(layout_of);
        let layouts: Vec<Vec<u8>> = layouts.collect();
        let room = layouts.iter().map(|layout| part(layout.len() as u64)).sum();
        self.desk.make_room(&self.gpu, room)?;
        for (index, output) in on.work.outputs.iter().enumerate() {
            let element = element_of(output)?;
            let found = MEMORY_WORDS + FOUND_WORDS * index;
            let layout = self.desk.take(layouts[index].len() as u64);
            // The driver takes no range without a byte.
            if !layouts[index].is_empty() {
                self.gpu.upload(layout, &layouts[index])?;
            }
            let usual = right.usual.get(index).copied().flatten();
            let apart = Apart {
                number: element.number,
                at: self.begin_of(output, laid),
                layout,
                dimensions: output.shape.len() as i32,
                elements: output.elements(),
                // Integers are right or not: their errors count as they are.
                scale: usual.map_or((0.0, 1.0), |usual| (1.0, usual)),
            };
            let want = on.right.address(on.places[index].0);
            let found = self.results + found as u64 * WORD;
            self.kernels.compare_apart(&self.gpu, &apart, want, found)?;
        }
        let mut read = vec![0; bytes as usize];
        self.gpu.download(self.results, &mut read)?;
        let words = read.as_chunks::<8>().0.iter();
        let words: Vec<u64> = words.map(|word| u64::from_ne_bytes(*word)).collect();
        let changed = [
            (words[0] != 0, "wrote outside of its buffers"),
            (!right.same, "changed its inputs or parameters"),
        ];
        if let Some((_, why)) = changed.iter().find(|(is, _)| *is) {
            return Ok(Err(mismatch((*why).to_owned(), f64::INFINITY)));
        }
        // Inputs that are drawn otherwise may come out worse than when torch was looked at.
        let Some(torch) = right.determined() else {
            return Ok(Ok(0.0));
        };
        let torch = torch.max(on.known.error_of(draw));
        self.judge_outputs(on, laid, torch, &words[MEMORY_WORDS..])
    }

    fn judge_outputs(
        &self,
        on: &Sitting<'_>,
        laid: &Laid,
        torch: f64,
        words: &[u64],
    ) -> Result<Result<f64, Mismatch>, Trouble> {
        let mut worst: f64 = 0.0;
        let found = words.chunks(FOUND_WORDS).map(Found::read);
        for (index, (output, found)) in on.work.outputs.iter().zip(found).enumerate() {
            if found.reference_broken || found.compared != output.elements() {
                let why = "torch's results cannot be compared".to_owned();
                return Err(Trouble::Machine(why));
            }
            let element = element_of(output)?;
            if found.error <= element.bound(torch) {
                worst = worst.max(found.error);
                continue;
            }
            let place = place_of(output, found.index) * element.bytes;
            let mut got = vec![0; element.bytes as usize];
            let begin = self.begin_of(output, laid);
            self.gpu.download(begin + place, &mut got)?;
            let mut want = [0; WORD as usize];
            let right = on.right.address(on.places[index].0);
            self.gpu.download(right + found.index * WORD, &mut want)?;
            let why = format!(
                "{} is {} but should be {}",
                named(index, on.work.outputs.len(), output, found.index),
                element.spelled(&got),
                element.spelled_right(f64::from_ne_bytes(want)),
            );
            return Ok(Err(mismatch(why, found.error)));
        }
        Ok(Ok(worst))
    }

    fn begin_of(&self, output: &Returned, laid: &Laid) -> Address {
        let offset = match laid.spots[output.buffer] {
            Spot::Work(offset) => self.work.address(offset),
            Spot::Inputs(offset) => self.inputs.address(offset),
            Spot::Own => 0,
        };
        offset + output.offset
    }
}

/// Its type, which was looked at before the module ran.
fn element_of(output: &Returned) -> Result<Element, Trouble> {
    Element::of(&output.dtype)
        .ok_or_else(|| Trouble::Machine(format!("an output of {}", output.dtype)))
}

/// Lengths and strides, as the GPU reads them.
fn layout_of(output: &Returned) -> Vec<u8> {
    let words = output.shape.iter().chain(&output.strides);
    words.flat_map(|word| word.to_ne_bytes()).collect()
}

/// Where an element lies, counted in elements.
fn place_of(output: &Returned, index: u64) -> u64 {
    let mut rest = index;
    let dimensions = output.shape.iter().zip(&output.strides).rev();
    dimensions.fold(0, |place, (length, stride)| {
        let own = rest % length;
        rest /= length;
        place + own * stride
    })
}

/// For example `output[3][17]`, or `output 1[3][17]` of several.
fn named(output: usize, of: usize, returned: &Returned, index: u64) -> String {
    let mut rest = index;
    let mut places: Vec<String> = Vec::new();
    for length in returned.shape.iter().rev() {
        places.push(format!("[{}]", rest % length));
        rest /= length;
    }
    places.reverse();
    let number = if of > 1 {
        format!(" {output}")
    } else {
        String::new()
    };
    format!("output{number}{}", places.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_is_named_and_found_by_its_index() {
        let output = Returned {
            buffer: 0,
            offset: 0,
            dtype: "float32".to_owned(),
            shape: vec![2, 3, 4],
            strides: vec![1, 100, 10],
        };
        assert_eq!(place_of(&output, 0), 0);
        assert_eq!(place_of(&output, 12 + 4 + 3), 1 + 100 + 30);
        assert_eq!(named(0, 1, &output, 19), "output[1][1][3]");
        assert_eq!(named(1, 2, &output, 19), "output 1[1][1][3]");
        let single = Returned {
            shape: Vec::new(),
            strides: Vec::new(),
            ..output
        };
        assert_eq!(place_of(&single, 0), 0);
        assert_eq!(named(0, 1, &single, 0), "output");
        assert_eq!(layout_of(&single), Vec::<u8>::new());
    }
}
