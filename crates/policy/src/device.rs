//! Where the engine computes.

use std::str::FromStr;

use crate::cuda;

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
