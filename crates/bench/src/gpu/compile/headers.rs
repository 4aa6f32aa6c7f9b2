//! The headers that a device half finds by their names, before any file: what nvcc would take from
//! the host's libraries, and what NVRTC knows by itself.

/// What NVRTC includes before the text, each including the ones before.
pub(super) const PRELUDE: &str = "hotloop/prelude.h";
pub(super) const HALVES: &str = "hotloop/halves.h";
pub(super) const GROUPS: &str = "hotloop/groups.h";

/// Names and texts. What host code alone needs is empty here.
pub(super) const HEADERS: &[(&str, &str)] = &[
    (PRELUDE, include_str!("headers/prelude.h")),
    (HALVES, include_str!("headers/halves.h")),
    (GROUPS, include_str!("headers/groups.h")),
    ("math_constants.h", include_str!("headers/constants.h")),
    ("algorithm", ""),
    ("array", ""),
    ("assert.h", ""),
    ("cassert", ""),
    ("cfloat", ""),
    ("chrono", ""),
    ("climits", ""),
    ("cmath", ""),
    ("cstddef", ""),
    ("cstdint", ""),
    ("cstdio", ""),
    ("cstdlib", ""),
    ("cstring", ""),
    ("cuda.h", ""),
    ("cuda_device_runtime_api.h", ""),
    ("cuda_runtime.h", ""),
    ("cuda_runtime_api.h", ""),
    ("device_functions.h", ""),
    ("device_launch_parameters.h", ""),
    ("driver_types.h", ""),
    ("exception", ""),
    ("float.h", ""),
    ("functional", ""),
    ("inttypes.h", ""),
    ("iomanip", ""),
    ("iostream", ""),
    ("limits", ""),
    ("limits.h", ""),
    ("map", ""),
    ("math.h", ""),
    ("memory", ""),
    ("numeric", ""),
    ("random", ""),
    ("sstream", ""),
    ("stddef.h", ""),
    ("stdexcept", ""),
    ("stdint.h", ""),
    ("stdio.h", ""),
    ("stdlib.h", ""),
    ("string", ""),
    ("string.h", ""),
    ("sys/types.h", ""),
    ("time.h", ""),
    ("ctime", ""),
    ("tuple", ""),
    ("type_traits", ""),
    ("unistd.h", ""),
    ("utility", ""),
    ("vector", ""),
    ("vector_types.h", ""),
];

/// Which of the three a text needs, by the headers that it includes.
pub(super) fn needed<'a>(included: impl Iterator<Item = &'a str>) -> &'static str {
    const SMALL: [&str; 8] = [
        "cuda_bf16.h",
        "cuda_fp16.h",
        "cuda_pipeline.h",
        "cuda_pipeline_primitives.h",
        "mma.h",
        "crt/mma.h",
        "cuda_bf16.hpp",
        "cuda_fp16.hpp",
    ];
    included.fold(PRELUDE, |needed, header| {
        let is_large = header.starts_with("cooperative_groups") || header.starts_with("cuda/");
        if is_large || needed == GROUPS {
            GROUPS
        } else if SMALL.contains(&header) {
            HALVES
        } else {
            needed
        }
    })
}

/// Whether a header is one of those above or NVIDIA's.
pub(super) fn is_of_device(header: &str) -> bool {
    const STARTS: [&str; 6] = ["cooperative_groups", "cub/", "cuda", "mma.h", "crt/", "nv/"];
    HEADERS.iter().any(|(name, _)| *name == header)
        || STARTS.iter().any(|start| header.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_gets_what_its_headers_need() {
        assert_eq!(needed(["cuda_runtime.h", "cmath"].into_iter()), PRELUDE);
        assert_eq!(needed(["mma.h", "cstdio"].into_iter()), HALVES);
        assert_eq!(
            needed(["cooperative_groups.h", "mma.h"].into_iter()),
            GROUPS
        );
    }

    #[test]
    fn names_are_not_given_twice() {
        let mut names: Vec<&str> = HEADERS.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
