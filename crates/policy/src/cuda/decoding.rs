//! How an engine decodes: the way that was asked for, where the model and the device can take it.

use super::blas::Blas;
use super::chain::{self, Chain};
use super::choice::Choice;
use super::decode_product::BLOCK;
use super::device::Device;
use super::engine::Engine;
use super::error::Result;
use super::joined;
use super::kernels;
use super::way::{DecodeWay, Tuning};
use crate::model::Config;

/// How an engine decodes.
pub(super) struct Decoding {
    pub(super) way: DecodeWay,
    pub(super) chain: Option<Chain>,
}

impl Decoding {
    /// As the environment says.
    pub(super) fn from_environment(device: &Device, blas: &Blas, config: &Config) -> Result<Self> {
        Self::new(
            (device, blas),
            config,
            DecodeWay::from_environment()?,
            Tuning::from_environment()?,
        )
    }

    /// That way, where there are kernels for the model and the device has room for them; the plain one otherwise, with
    /// chosen products if they were asked for.
    fn new(
        (device, blas): (&Device, &Blas),
        config: &Config,
        way: DecodeWay,
        tuning: Tuning,
    ) -> Result<Self> {
        blas.set_choosing(way == DecodeWay::Chosen)?;
        let known = kernels::decode_flash(device.precision(), config.head_dim).is_some();
        let (joins, fuses) = (
            config.hidden <= joined::WIDEST,
            device.shared_limit() >= BLOCK,
        );
        let fits = match way {
            DecodeWay::Plain => false,
            DecodeWay::Chosen => joins,
            DecodeWay::Fused | DecodeWay::Chained => fuses,
            DecodeWay::Auto => joins && fuses,
        };
        let served = fits && known && way.suits(device.facts()?.1, chain::FIRST);
        let chain = served
            .then(|| Chain::new(device, config.head_dim, way, tuning))
            .transpose()?;
        Ok(Self {
            way: if served || way == DecodeWay::Chosen {
                way
            } else {
                DecodeWay::Plain
            },
            chain,
        })
    }

    /// Whether a step may have own products, which need space of their own.
    pub(super) fn is_fused(&self) -> bool {
        matches!(
            self.way,
            DecodeWay::Fused | DecodeWay::Chained | DecodeWay::Auto
        )
    }
}

impl Engine {
    /// How steps are decoded: not as asked where that does not serve the model or the device.
    pub fn decode_way(&self) -> DecodeWay {
        self.decoding.way
    }

    /// When the last products of a decode step came where, if the fused ways' constants ask for it: a row for each kind
    /// (qkv, o, gate and up, down), in it cycles and nanoseconds at the begin, behind the wait for the kernel before, when
    /// the first rows were there, when all was summed, when the block's sums were together, those of all slices, and the end.
    pub fn decode_clocks(&self) -> Result<Vec<Vec<[u64; 2]>>> {
        self.decoding
            .chain
            .as_ref()
            .map_or(Ok(Vec::new()), Chain::clocks)
    }

    /// Decodes that way from now on, with these constants.
    pub fn set_decode_way(&mut self, way: DecodeWay, tuning: Tuning) -> Result<()> {
        // Its graphs were recorded with the kernels that go.
        self.decoder = None;
        self.decoding = Decoding::new((&self.device, &self.blas), &self.model.config, way, tuning)?;
        Ok(())
    }

    /// How the algorithms of products were chosen, where that is the way.
    pub fn decode_choices(&self) -> Vec<Choice> {
        self.blas.choices()
    }
}
