//! What a prompt says about the GPU, and how an answer begins.

use crate::machine::Device;

/// Names the GPU. Its compute capability decides which instructions there are.
pub fn machine_hint(device: &Device) -> Option<String> {
    match device {
        Device::Gpu {
            name,
            compute_capability,
            ..
        } => Some(format!(
            "The GPU is an {name} (compute capability {compute_capability})."
        )),
        Device::Cpu { .. } => None,
    }
}

/// The include and the beginning of the first kernel. Its new name keeps small models from copying
/// the given version.
pub fn beginning(task: &str) -> String {
    let name = task.rsplit('/').next().unwrap_or(task).replace('-', "_");
    // A name of C++ begins with no digit.
    let mark = if name.starts_with(|first: char| first.is_ascii_digit()) {
        "k"
    } else {
        ""
    };
    format!("#include <cuda_runtime.h>\n\n__global__ void {mark}{name}_fast(")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_begins_with_a_kernel_of_the_tasks_name() {
        let start = "#include <cuda_runtime.h>\n\n__global__ void ";
        assert_eq!(beginning("cuda/relu"), format!("{start}relu_fast("));
        assert_eq!(beginning("cuda/row-sum"), format!("{start}row_sum_fast("));
        assert_eq!(beginning("2d"), format!("{start}k2d_fast("));
    }

    #[test]
    fn only_a_gpu_is_named() {
        assert_eq!(machine_hint(&Device::default()), None);
        let gpu = Device::Gpu {
            name: "NVIDIA H200".to_owned(),
            compute_capability: "9.0".to_owned(),
            memory_bytes: 0,
            driver: String::new(),
            clock_mhz: None,
            memory_clock_mhz: None,
            power_limit_w: None,
        };
        assert_eq!(
            machine_hint(&gpu).as_deref(),
            Some("The GPU is an NVIDIA H200 (compute capability 9.0).")
        );
    }
}
