//! The matrix unit of some x86 CPUs (AMX): tiles of bf16 with sums in f32.
//!
//! The compiler does not support its registers and instructions yet. So one kernel is written in
//! assembly here, and its inputs and outputs are plain memory.

#![expect(
    unsafe_code,
    reason = "the unit is asked for by a system call and driven by assembly"
)]

use std::arch::asm;
use std::arch::x86_64::__cpuid_count;
use std::marker::PhantomData;
use std::sync::OnceLock;

use crate::cpu::onto::{Onto, Strided};

/// Rows of a tile, and columns of a tile of sums.
pub(super) const SIDE: usize = 16;

/// bf16 values in a row of a tile, which is also the number of products added to one sum at a time.
pub(super) const DEPTH: usize = 32;

/// bf16 values in a tile.
pub(super) const TILE: usize = SIDE * DEPTH;

/// Rows and columns that one call of the kernel computes: two by two tiles.
pub(super) const BLOCK: usize = 2 * SIDE;

/// Tiles that the kernel reads one after the other: `steps` tiles of `parts` parts each, in two
/// rows of tiles. All distances are in bf16 values.
#[derive(Clone, Copy)]
pub(super) struct Stream<'a> {
    /// Where the first tile begins.
    pub(super) data: &'a [u16],
    /// From one row of a tile to the next.
    pub(super) row: usize,
    /// From one tile to the next.
    pub(super) step: usize,
    /// From one part of a tile to the next.
    pub(super) part: usize,
    /// To the other row of tiles.
    pub(super) other: usize,
}

impl Stream<'_> {
    fn check(&self, steps: usize, parts: usize) {
        let last = self.other
            + (parts - 1) * self.part
            + (steps - 1) * self.step
            + (SIDE - 1) * self.row
            + DEPTH;
        assert!(
            last <= self.data.len(),
            "tiles reach past their {} values",
            self.data.len()
        );
    }
}

/// The unit, ready for this process.
#[derive(Clone, Copy)]
pub(super) struct Unit(());

/// A thread with configured tile registers, which are released on drop.
pub(super) struct Session(PhantomData<*const ()>);

/// Asks the kernel to save the tiles in context switches of this process.
const ARCH_REQ_XCOMP_PERM: libc::c_long = 0x1023;
const XFEATURE_XTILEDATA: libc::c_long = 18;
const AMX_BF16: u32 = 1 << 22;
const AMX_TILE: u32 = 1 << 24;

/// Values that the kernel keeps in memory because registers are scarce.
#[repr(C)]
struct Far {
    left_next: usize,
    right_next: usize,
    steps: usize,
    adds: usize,
    c_row: usize,
    c: *mut f32,
    c_other: *mut f32,
}

/// Eight tiles of sixteen rows of 64 bytes, in the only palette.
#[repr(C, align(64))]
struct Layout {
    palette: u8,
    start: u8,
    reserved: [u8; 14],
    row_bytes: [u16; 16],
    rows: [u8; 16],
}

static LAYOUT: Layout = Layout {
    palette: 1,
    start: 0,
    reserved: [0; 14],
    row_bytes: [64, 64, 64, 64, 64, 64, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0],
    rows: [16, 16, 16, 16, 16, 16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0],
};

impl Unit {
    /// The unit, if the CPU has it and the system lets this process use it.
    pub(super) fn find() -> Option<Self> {
        static FOUND: OnceLock<bool> = OnceLock::new();
        FOUND
            .get_or_init(|| {
                let has = |bit: u32| __cpuid_count(7, 0).edx & bit != 0;
                // SAFETY: this call accesses no memory of this process.
                let asked = || unsafe {
                    libc::syscall(
                        libc::SYS_arch_prctl,
                        ARCH_REQ_XCOMP_PERM,
                        XFEATURE_XTILEDATA,
                    )
                };
                has(AMX_BF16) && has(AMX_TILE) && asked() == 0
            })
            .then_some(Self(()))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: the session began with `ldtilecfg` on this thread, which it cannot leave.
        unsafe { asm!("tilerelease", options(nostack, nomem)) };
    }
}

/// The terms of a product of tiles: all parts of all steps.
#[derive(Clone, Copy)]
pub(super) struct Sum {
    pub(super) steps: usize,
    pub(super) parts: usize,
    pub(super) onto: Onto,
}

impl Far {
    /// Checks that all tiles are inside their slices.
    fn new(left: &Stream, right: &Stream, sum: Sum, c: Strided) -> Self {
        let Sum { steps, parts, onto } = sum;
        let Strided { data: c, stride } = c;
        assert!(steps > 0 && parts > 0, "a sum of nothing");
        left.check(steps, parts);
        right.check(steps, parts);
        assert!(
            stride >= BLOCK && (BLOCK - 1) * stride + BLOCK <= c.len(),
            "the sums reach past their slice"
        );
        // After the parts of a step, the pointers return to the first part and move to the next
        // step.
        let next = |stream: &Stream| bytes(stream.step).wrapping_sub(bytes(stream.part) * parts);
        let base = c.as_mut_ptr();
        Self {
            left_next: next(left),
            right_next: next(right),
            steps,
            adds: usize::from(onto == Onto::Add),
            c_row: size_of::<f32>() * stride,
            c: base,
            c_other: base.wrapping_add(SIDE * stride),
        }
    }
}

/// The size of bf16 values in bytes.
fn bytes(values: usize) -> usize {
    values * size_of::<u16>()
}

impl Session {
    /// Configures this thread's tiles. The `Unit` proves that this is allowed.
    pub(super) fn begin(_unit: Unit) -> Self {
        // SAFETY: a `Unit` exists only if the instruction exists and is allowed, and the layout is
        // valid.
        unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const LAYOUT, options(nostack, readonly)) };
        Self(PhantomData)
    }

    /// `c = sum of left tile x right tile` over all parts of all steps, or added to c, for two by
    /// two tiles. Left tiles hold rows. Right tiles hold columns, with two values of depth next to
    /// each other.
    #[expect(
        clippy::unused_self,
        reason = "only within a session are the tiles laid out"
    )]
    pub(super) fn multiply(&self, left: Stream, right: Stream, sum: Sum, c: Strided) {
        let mut far = Far::new(&left, &right, sum, c);
        let parts = sum.parts;
        let l = left.data.as_ptr();
        let r = right.data.as_ptr();
        // SAFETY: `Far::new` has checked that all tiles are inside the slices. This thread's tiles
        // stay configured as long as the session lives.
        unsafe {
            asm!(
                "mov {n}, [{far} + 32]",
                "mov {l0}, [{far} + 40]",
                "mov {l1}, [{far} + 48]",
                "cmp qword ptr [{far} + 24], 0",
                "jz 4f",
                "tileloadd tmm0, [{l0} + {n}]",
                "tileloadd tmm1, [{l0} + {n} + 64]",
                "tileloadd tmm2, [{l1} + {n}]",
                "tileloadd tmm3, [{l1} + {n} + 64]",
                "jmp 5f",
                "4:",
                "tilezero tmm0",
                "tilezero tmm1",
                "tilezero tmm2",
                "tilezero tmm3",
                "5:",
                "mov {l0}, {l}",
                "lea {l1}, [{l} + {l_other}]",
                "2:",
                "mov {n}, {parts}",
                "3:",
                "tileloadd tmm4, [{l0} + {l_row}]",
                "tileloadd tmm6, [{r0} + {r_row}]",
                "tdpbf16ps tmm0, tmm4, tmm6",
                "tileloadd tmm7, [{r1} + {r_row}]",
                "tdpbf16ps tmm1, tmm4, tmm7",
                "tileloadd tmm5, [{l1} + {l_row}]",
                "tdpbf16ps tmm2, tmm5, tmm6",
                "tdpbf16ps tmm3, tmm5, tmm7",
                "add {l0}, {l_part}",
                "add {l1}, {l_part}",
                "add {r0}, {r_part}",
                "add {r1}, {r_part}",
                "dec {n}",
                "jnz 3b",
                "add {l0}, [{far}]",
                "add {l1}, [{far}]",
                "add {r0}, [{far} + 8]",
                "add {r1}, [{far} + 8]",
                "dec qword ptr [{far} + 16]",
                "jnz 2b",
                "mov {n}, [{far} + 32]",
                "mov {l0}, [{far} + 40]",
                "mov {l1}, [{far} + 48]",
                "tilestored [{l0} + {n}], tmm0",
                "tilestored [{l0} + {n} + 64], tmm1",
                "tilestored [{l1} + {n}], tmm2",
                "tilestored [{l1} + {n} + 64], tmm3",
                n = out(reg) _,
                parts = in(reg) parts,
                l0 = out(reg) _,
                l1 = out(reg) _,
                l = in(reg) l,
                l_other = in(reg) bytes(left.other),
                r0 = inout(reg) r => _,
                r1 = inout(reg) r.add(right.other) => _,
                l_row = in(reg) bytes(left.row),
                r_row = in(reg) bytes(right.row),
                l_part = in(reg) bytes(left.part),
                r_part = in(reg) bytes(right.part),
                far = in(reg) &raw mut far,
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack),
            );
        }
    }
}
