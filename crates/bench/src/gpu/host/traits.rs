//! What host code may ask of the GPU: its properties, without a GPU.

/// The properties of a GPU that host code may ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeviceTraits {
    pub(crate) name: String,
    pub(crate) compute_capability: (u32, u32),
    pub(crate) multiprocessors: u32,
    pub(crate) memory_bytes: u64,
    pub(crate) l2_bytes: u32,
    /// Bytes of shared memory that a block may have, without and with asking, and those of a
    /// multiprocessor.
    pub(crate) shared_per_block: u64,
    pub(crate) shared_per_block_optin: u64,
    pub(crate) shared_per_multiprocessor: u64,
    pub(crate) constant_bytes: u64,
    pub(crate) registers_per_multiprocessor: u32,
    pub(crate) threads_per_block: u32,
    pub(crate) threads_per_multiprocessor: u32,
    pub(crate) blocks_per_multiprocessor: u32,
    pub(crate) clock_khz: u32,
    pub(crate) memory_clock_khz: u32,
    pub(crate) memory_bus_bits: u32,
}

impl Default for DeviceTraits {
    /// Those of an H200.
    fn default() -> Self {
        Self {
            name: "NVIDIA H200".to_owned(),
            compute_capability: (9, 0),
            multiprocessors: 132,
            memory_bytes: 150_000_000_000,
            l2_bytes: 60 << 20,
            shared_per_block: 48 << 10,
            shared_per_block_optin: 227 << 10,
            shared_per_multiprocessor: 228 << 10,
            constant_bytes: 64 << 10,
            registers_per_multiprocessor: 65_536,
            threads_per_block: 1024,
            threads_per_multiprocessor: 2048,
            blocks_per_multiprocessor: 32,
            clock_khz: 1_980_000,
            memory_clock_khz: 3_201_000,
            memory_bus_bits: 6144,
        }
    }
}

/// Bytes of a name in what the recorder reads.
const NAME: usize = 256;

impl DeviceTraits {
    /// As the recorder reads them: `hotloop::Traits`.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.name.bytes().take(NAME - 1).collect();
        bytes.resize(NAME, 0);
        for number in [
            self.memory_bytes,
            self.shared_per_block,
            self.shared_per_block_optin,
            self.shared_per_multiprocessor,
            self.constant_bytes,
        ] {
            bytes.extend(number.to_le_bytes());
        }
        for number in [
            self.compute_capability.0,
            self.compute_capability.1,
            self.multiprocessors,
            self.registers_per_multiprocessor,
            self.threads_per_block,
            self.threads_per_multiprocessor,
            self.blocks_per_multiprocessor,
            self.l2_bytes,
            self.clock_khz,
            self.memory_clock_khz,
            self.memory_bus_bits,
        ] {
            bytes.extend(number.to_le_bytes());
        }
        bytes
    }
}
