//! How an engine decodes: the way that was asked for, where the model and the device can take it.

use super::chain::Chain;
use super::decode_product::BLOCK;
use super::device::Device;
use super::engine::Engine;
use super::error::Result;
use super::joined;
use super::kernels;
use super::way::DecodeWay;
use crate::model::Config;

/// How an engine decodes: with kernels of a step's own, or the plain way without them.
pub(super) struct Decoding {
    pub(super) chain: Option<Chain>,
}

impl Decoding {
    /// As the environment says.
    pub(super) fn from_environment(device: &Device, config: &Config) -> Result<Self> {
        Self::new(device, config, DecodeWay::from_environment()?)
    }

    /// That way, where there are kernels for the model and the device has room for them; the plain one otherwise.
    fn new(device: &Device, config: &Config, way: DecodeWay) -> Result<Self> {
        let known = kernels::decode_flash(device.precision(), config.head_dim).is_some();
        let fits = config.hidden <= joined::WIDEST && device.shared_limit() >= BLOCK;
        let served = way == DecodeWay::Auto
            && known
            && fits
            && DecodeWay::is_timed_on(device.facts()?.capability);
        let chain = served.then(|| Chain::new(device, config.head_dim));
        Ok(Self {
            chain: chain.transpose()?,
        })
    }
}

impl Engine {
    /// How steps are decoded: the plain way where the one asked for does not serve the model or the device.
    pub fn decode_way(&self) -> DecodeWay {
        if self.decoding.chain.is_some() {
            DecodeWay::Auto
        } else {
            DecodeWay::Plain
        }
    }

    /// Decodes that way from now on.
    pub fn set_decode_way(&mut self, way: DecodeWay) -> Result<()> {
        // Its graphs were recorded with the kernels that go.
        self.decoder = None;
        self.decoding = Decoding::new(&self.device, &self.model.config, way)?;
        Ok(())
    }
}
