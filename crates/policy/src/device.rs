//! Where the engine computes.

use std::str::FromStr;

use crate::cuda;

/// The requested device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Device {
    /// A GPU if one can be used, otherwise the CPU.
    #[default]
    Auto,
    /// On the CPU.
    Cpu,
    /// The first NVIDIA GPU; an error if there is none.
    Cuda,
}

impl Device {
    /// Whether this means the GPU on this machine.
    pub fn is_cuda(self) -> bool {
        match self {
            Self::Auto => cuda::available(),
            Self::Cpu => false,
            Self::Cuda => true,
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
}
