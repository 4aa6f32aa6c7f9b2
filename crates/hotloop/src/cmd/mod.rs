//! One file or folder per command.

pub(crate) mod bench;
pub(crate) mod chat;
pub(crate) mod corpus;
pub(crate) mod discover;
pub(crate) mod doctor;
pub(crate) mod evaluate;
pub(crate) mod experiment;
pub(crate) mod fleet;
pub(crate) mod judge;
pub(crate) mod manual;
pub(crate) mod model;
pub(crate) mod pull;
pub(crate) mod quickstart;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod review;
pub(crate) mod sample;
pub(crate) mod serve;
pub(crate) mod task;
pub(crate) mod train;
pub(crate) mod tune;
pub(crate) mod watch;
pub(crate) mod worker;
