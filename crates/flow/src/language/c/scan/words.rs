//! Names that are known word by word, because a program's own functions may begin like them.
//!
//! A newer compiler's name that is missing here opens nothing: calls of OpenMP show in the object
//! too, masks are of no use without vectors, and the first vectors get no more functions.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Functions of OpenMP, with those of its versions 5.2 and 6.0, and types that nothing else needs;
/// behind `omp_`.
const OPENMP: &str = "
    aligned_alloc aligned_calloc alloc allocator_handle_t alloctrait_key_t alloctrait_t
    alloctrait_value_t ancestor_is_free_agent calloc capture_affinity control_tool
    destroy_allocator destroy_lock destroy_mempartition destroy_mempartitioner
    destroy_nest_lock display_affinity display_env free fulfill_event get_active_level
    get_affinity_format get_ancestor_thread_num get_cancellation get_default_allocator
    get_default_device get_device_allocator get_device_and_host_allocator
    get_device_and_host_memspace get_device_from_uid get_device_max_teams
    get_device_memspace get_device_num get_device_num_teams get_device_teams_thread_limit
    get_devices_all_allocator get_devices_all_memspace get_devices_allocator
    get_devices_and_host_allocator get_devices_and_host_memspace get_devices_memspace
    get_dyn_gprivate_nofb_ptr get_dyn_gprivate_ptr get_dyn_gprivate_size get_dynamic
    get_gprivate_limit get_initial_device get_interop_int get_interop_name get_interop_ptr
    get_interop_rc_desc get_interop_str get_interop_type_desc get_level get_mapped_ptr
    get_max_active_levels get_max_task_priority get_max_teams get_max_threads
    get_memspace_num_resources get_memspace_pagesize get_nested get_num_devices
    get_num_interop_properties get_num_places get_num_procs get_num_teams get_num_threads
    get_partition_num_places get_partition_place_nums get_place_num get_place_num_procs
    get_place_proc_ids get_proc_bind get_schedule get_submemspace
    get_supported_active_levels get_team_num get_team_size get_teams_thread_limit
    get_thread_limit get_thread_num get_uid_from_device get_wtick get_wtime
    in_explicit_task in_final in_parallel init_allocator init_lock init_lock_with_hint
    init_mempartition init_mempartitioner init_nest_lock init_nest_lock_with_hint
    is_free_agent is_initial_device lock_t mempartition_get_user_data mempartition_set_part
    nest_lock_t pause_hard pause_resource pause_resource_all pause_resource_t pause_resume
    pause_soft pause_stop_tool realloc sched_t set_affinity_format set_default_allocator
    set_default_device set_device_num_teams set_device_teams_thread_limit set_dynamic
    set_lock set_max_active_levels set_nest_lock set_nested set_num_teams set_num_threads
    set_schedule set_teams_thread_limit target_alloc target_associate_ptr
    target_disassociate_ptr target_free target_is_accessible target_is_present
    target_memcpy target_memcpy_async target_memcpy_rect target_memcpy_rect_async
    target_memset target_memset_async test_lock test_nest_lock unset_lock unset_nest_lock
";

/// Functions on the first vectors that there were, MMX and 3DNow!; behind `_m_`.
const FIRST_VECTORS: &str = "
    empty femms from_float from_int from_int64 maskmovq packssdw packsswb packuswb paddb paddd
    paddsb paddsw paddusb paddusw paddw pand pandn pavgb pavgusb pavgw pcmpeqb pcmpeqd
    pcmpeqw pcmpgtb pcmpgtd pcmpgtw pextrw pf2id pf2iw pfacc pfadd pfcmpeq pfcmpge pfcmpgt
    pfmax pfmin pfmul pfnacc pfpnacc pfrcp pfrcpit1 pfrcpit2 pfrsqit1 pfrsqrt pfrsqrtit1
    pfsub pfsubr pi2fd pi2fw pinsrw pmaddwd pmaxsw pmaxub pminsw pminub pmovmskb pmulhrw
    pmulhuw pmulhw pmullw por psadbw pshufw pslld pslldi psllq psllqi psllw psllwi psrad
    psradi psraw psrawi psrld psrldi psrlq psrlqi psrlw psrlwi psubb psubd psubsb psubsw
    psubusb psubusw psubw pswapd pswapdsf pswapdsi punpckhbw punpckhdq punpckhwd punpcklbw
    punpckldq punpcklwd pxor to_float to_int to_int64
";

/// What is done to registers that hold masks of vectors: `_kand_mask8`, `_cvtu32_mask8`,
/// `_load_mask64`.
const OF_MASKS: &str = "
    _cvt _cvtu32_ _cvtu64_ _kadd_ _kand_ _kandn_ _kmov_ _knot_ _kor_ _kortest_ _kortestc_
    _kortestz_ _kshiftli_ _kshiftri_ _ktest_ _ktestc_ _ktestz_ _kunpackb_ _kunpackd_
    _kunpackw_ _kxnor_ _kxor_ _load_ _store_
";

type Words = LazyLock<HashSet<&'static str>>;

/// Whether OpenMP has a function or a type of this name.
pub(super) fn is_of_openmp(name: &str) -> bool {
    static WORDS: Words = LazyLock::new(|| OPENMP.split_whitespace().collect());
    name.strip_prefix("omp_").is_some_and(|rest| {
        // For Fortran, the runtimes have `omp_get_wtime_` and `omp_set_dynamic_8_` too.
        let plain = rest.trim_end_matches('_');
        WORDS.contains(plain.strip_suffix("_8").unwrap_or(plain))
    })
}

/// Whether it is a function on the first vectors.
pub(super) fn is_of_first_vectors(name: &str) -> bool {
    static WORDS: Words = LazyLock::new(|| FIRST_VECTORS.split_whitespace().collect());
    name.strip_prefix("_m_")
        .is_some_and(|rest| WORDS.contains(rest))
}

/// Whether it is a function on masks of vectors.
pub(super) fn is_of_masks(name: &str) -> bool {
    static WORDS: Words = LazyLock::new(|| OF_MASKS.split_whitespace().collect());
    name.split_once("mask").is_some_and(|(what, width)| {
        let ends = ["_u8", "_u32", "_u64"];
        let bits = ends.iter().find_map(|end| width.strip_suffix(end));
        matches!(bits.unwrap_or(width), "8" | "16" | "32" | "64") && WORDS.contains(what)
    })
}
