//! Selects the decode kernels for a model on a device.

use super::chain::Chain;
use super::decode_product::BLOCK;
use super::device::Device;
use super::error::Result;
use super::joined;
use super::kernels;
use super::way::DecodeWay;
use crate::model::Config;

/// The kernels for `way`, if they support the model and fit on the device; `None` for the plain
/// way.
pub(super) fn chain(device: &Device, config: &Config, way: DecodeWay) -> Result<Option<Chain>> {
    let known = kernels::decode_flash(device.precision(), config.head_dim).is_some();
    let fits = config.hidden <= joined::WIDEST && device.shared_limit() >= BLOCK;
    let served = way == DecodeWay::Auto
        && known
        && fits
        && DecodeWay::is_timed_on(device.facts()?.capability);
    served
        .then(|| Chain::new(device, config.head_dim))
        .transpose()
}
