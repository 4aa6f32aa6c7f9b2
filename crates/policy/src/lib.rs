//! The language models of hotloop.
pub mod cpu;
pub mod load;
pub mod model;
mod noise;
pub mod pack;
pub mod sample;
pub mod save;
pub mod text;
pub mod train;
