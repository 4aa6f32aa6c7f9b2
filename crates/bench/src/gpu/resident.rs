//! How many blocks of a kernel are on the GPU at the same time: all of a cooperative launch must
//! be.
//!
//! Host code is recorded before its kernels are compiled, so what the recorder says of this assumes
//! registers. Here they are known.

use crate::gpu::host::DeviceTraits;
use crate::gpu::image::{Image, Taken};
use crate::gpu::plan::{Launch, Plan};

const WARP: u64 = 32;
/// The hardware gives a warp registers in such pieces.
const PIECE: u64 = 256;
/// Bytes of shared memory that the system takes of each block.
const RESERVED: u64 = 1024;

/// Why a cooperative launch of these plans cannot be made.
pub(crate) fn refuse(plans: &[Plan], images: &[Image], traits: &DeviceTraits) -> Option<String> {
    let launches = plans.iter().flat_map(Plan::launches);
    launches
        .filter(|launch| launch.cooperative)
        .find_map(|launch| {
            let image = images.get(launch.image)?;
            let taken = image.taken.get(image.symbols.get(&launch.kernel)?)?;
            let blocks: u64 = launch.grid.iter().map(|count| u64::from(*count)).product();
            let most = most_blocks(launch, *taken, traits);
            (blocks > most).then(|| {
                format!(
                    "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE (launching a kernel): `{}` takes {} \
                     registers of a thread, so at most {most} of its blocks are on the GPU at the \
                     same time, and {blocks} are launched; `__launch_bounds__` limits registers",
                    launch.kernel, taken.registers
                )
            })
        })
}

/// The most blocks of a launch that a GPU can hold: no GPU of these traits holds more.
fn most_blocks(launch: &Launch, taken: Taken, traits: &DeviceTraits) -> u64 {
    let threads: u64 = launch.block.iter().map(|count| u64::from(*count)).product();
    let warps = threads.div_ceil(WARP).max(1);
    let registers = (u64::from(taken.registers) * WARP).next_multiple_of(PIECE);
    let shared = taken.shared_bytes + u64::from(launch.shared) + RESERVED;
    let each = [
        u64::from(traits.threads_per_multiprocessor) / (warps * WARP),
        u64::from(traits.registers_per_multiprocessor) / (warps * registers).max(1),
        traits.shared_per_multiprocessor / shared,
        u64::from(traits.blocks_per_multiprocessor),
    ];
    each.into_iter().min().unwrap_or(0) * u64::from(traits.multiprocessors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::plan::Step;

    fn said(registers: u32, blocks: u32, cooperative: bool) -> Option<String> {
        let launch = Launch {
            image: 0,
            kernel: "k".to_owned(),
            grid: [blocks, 1, 1],
            block: [512, 1, 1],
            shared: 0,
            cooperative,
            cluster: None,
            arguments: Vec::new(),
        };
        let plan = Plan {
            steps: vec![Step::Launch(launch)],
            ..Plan::default()
        };
        let taken = Taken {
            registers,
            ..Taken::default()
        };
        let image = Image {
            symbols: [("k".to_owned(), "_Z1k".to_owned())].into(),
            taken: [("_Z1k".to_owned(), taken)].into(),
            ..Image::default()
        };
        refuse(&[plan], &[image], &DeviceTraits::default())
    }

    #[test]
    fn a_cooperative_launch_fits_as_often_as_its_registers_do() {
        assert_eq!(said(32, 4 * 132, true), None);
        assert_eq!(said(64, 2 * 132, true), None);
        assert_eq!(said(65, 132, true), None);
        let why = said(65, 2 * 132, true).unwrap();
        assert!(
            why.contains("`k` takes 65 registers of a thread, so at most 132 of its blocks"),
            "{why}"
        );
        assert_eq!(said(65, 2 * 132, false), None);
        assert!(said(200, 1, true).is_some(), "not even one block fits");
    }
}
