//! Where the engine computes.

use std::str::FromStr;

use crate::cuda;
use crate::engine::EngineError;

/// Where the engine is asked to compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Device {
    /// On a GPU where one can be used, else on the CPU.
    #[default]
    Auto,
    /// On the CPU.
    Cpu,
    /// On the first NVIDIA GPU; an error where there is none.
    Cuda,
}

impl Device {
    /// Whether that means the GPU on this machine.
    pub fn is_cuda(self) -> bool {
        match self {
            Self::Auto => cuda::available(),
            Self::Cpu => false,
            Self::Cuda => true,
        }
    }

    /// Whether the CPU is to be taken after a GPU failed so while a model was opened. Too little memory is not among
    /// it: what outgrows a GPU would take days on a CPU.
    pub fn falls_back(self, error: &EngineError) -> bool {
        use cuda::Error::{Blas, Compile, Driver, Missing, OutOfMemory, Setting, Shape};
        let EngineError::Device(error) = error else {
            return false;
        };
        match error {
            Missing { .. } | Compile { .. } | Shape(_) | Driver { .. } | Blas { .. } => {
                self == Self::Auto
            }
            Setting(_) | OutOfMemory { .. } => false,
        }
    }
}

impl FromStr for Device {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda),
            other => Err(format!(
                "no device is called {other}: choose auto, cpu or cuda"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_have_names_and_the_cpu_is_always_there() {
        assert_eq!("cuda".parse(), Ok(Device::Cuda));
        assert_eq!("auto".parse(), Ok(Device::Auto));
        assert!("gpu".parse::<Device>().is_err());
        assert!(!Device::Cpu.is_cuda());
        assert_eq!(Device::Auto.is_cuda(), cuda::available());
    }

    #[test]
    fn only_auto_falls_back_and_only_where_the_gpu_is_of_no_use() {
        let shape = EngineError::Device(cuda::Error::Shape("hidden_size is 7".into()));
        assert!(Device::Auto.falls_back(&shape));
        assert!(!Device::Cuda.falls_back(&shape));
        let full = cuda::Error::OutOfMemory {
            what: "the weights".into(),
            wanted: 2,
            free: 1,
            total: 1,
            fits: String::new(),
        };
        assert!(!Device::Auto.falls_back(&EngineError::Device(full)));
        assert!(!Device::Auto.falls_back(&EngineError::NotFinite));
    }
}
