//! Facts about the machine that judged, which decide whether two timings are comparable.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer};

/// Facts about a machine. Timings are compared only within one `class`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
pub struct MachineFacts {
    /// Hash of everything below that changes what a timing means.
    pub class: String,
    /// The device that runs candidates. JSON has its fields next to the others.
    #[serde(flatten)]
    pub device: Device,
    /// The kernel's release.
    pub kernel: String,
    /// The compiler and its version.
    pub compiler: String,
    /// Libraries that baselines call, with their versions, e.g. [`MachineFacts::OPENBLAS`].
    #[serde(default)]
    pub libraries: BTreeMap<String, String>,
    /// The layers of the sandbox that are active here.
    pub sandbox: Vec<String>,
}

impl MachineFacts {
    /// The key of OpenBLAS among the libraries.
    pub const OPENBLAS: &str = "openblas";
}

impl Serialize for MachineFacts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// The facts with a separate key for OpenBLAS, which readers of `judge --json` expect.
        #[derive(Serialize)]
        struct Written<'a> {
            class: &'a str,
            #[serde(flatten)]
            device: &'a Device,
            kernel: &'a str,
            compiler: &'a str,
            openblas: Option<&'a String>,
            libraries: &'a BTreeMap<String, String>,
            sandbox: &'a [String],
        }
        let Self {
            class,
            device,
            kernel,
            compiler,
            libraries,
            sandbox,
        } = self;
        let openblas = libraries.get(Self::OPENBLAS);
        Written {
            class,
            device,
            kernel,
            compiler,
            openblas,
            libraries,
            sandbox,
        }
        .serialize(serializer)
    }
}

/// A device that runs candidates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Device {
    /// A processor.
    Cpu {
        #[serde(rename = "cpu")]
        name: String,
        /// Widest vector level: `sse2`, `avx2`, `avx512`.
        simd: String,
        /// Logical cores that this process may use.
        cores: u32,
    },
    /// A graphics card.
    Gpu {
        #[serde(rename = "gpu")]
        name: String,
        /// For example `9.0`.
        compute_capability: String,
        memory_bytes: u64,
        /// The driver's version.
        driver: String,
        /// The highest clock of its processors.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        clock_mhz: Option<u32>,
        /// The highest clock of its memory.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        memory_clock_mhz: Option<u32>,
        /// The power that it may draw.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        power_limit_w: Option<u32>,
    },
}

impl Default for Device {
    fn default() -> Self {
        Self::with_vectors("")
    }
}

impl Device {
    /// A processor of which only the widest vectors are known.
    pub fn with_vectors(simd: &str) -> Self {
        Self::Cpu {
            name: String::new(),
            simd: simd.to_owned(),
            cores: 0,
        }
    }

    /// The product name.
    pub fn name(&self) -> &str {
        match self {
            Self::Cpu { name, .. } | Self::Gpu { name, .. } => name,
        }
    }

    /// The widest vector level of a CPU.
    pub fn simd(&self) -> Option<&str> {
        match self {
            Self::Cpu { simd, .. } => Some(simd),
            Self::Gpu { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_among_the_other_facts() {
        let cpu = MachineFacts {
            device: Device::Cpu {
                name: "Xeon".to_owned(),
                simd: "avx2".to_owned(),
                cores: 8,
            },
            libraries: [(MachineFacts::OPENBLAS.to_owned(), "0.3".to_owned())].into(),
            ..MachineFacts::default()
        };
        let gpu = MachineFacts {
            device: Device::Gpu {
                name: "H200".to_owned(),
                compute_capability: "9.0".to_owned(),
                memory_bytes: 141 << 30,
                driver: "570.1".to_owned(),
                clock_mhz: Some(1980),
                memory_clock_mhz: None,
                power_limit_w: Some(700),
            },
            ..MachineFacts::default()
        };
        let json = serde_json::to_value(&cpu).unwrap();
        assert_eq!(
            (&json["cpu"], &json["simd"], &json["cores"]),
            (&"Xeon".into(), &"avx2".into(), &8.into())
        );
        assert_eq!(json["libraries"]["openblas"], "0.3");
        assert_eq!(json["openblas"], "0.3");
        let json = serde_json::to_value(&gpu).unwrap();
        assert_eq!(
            (&json["gpu"], &json["clock_mhz"]),
            (&"H200".into(), &1980.into())
        );
        assert_eq!(json.get("memory_clock_mhz"), None, "nobody asked for it");
        for facts in [cpu, gpu] {
            let text = serde_json::to_string(&facts).unwrap();
            assert_eq!(serde_json::from_str::<MachineFacts>(&text).unwrap(), facts);
        }
    }
}
