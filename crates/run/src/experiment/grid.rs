//! The papers' experiments: grids of run files, and the figures and tables made from them.
//!
//! The run files are embedded, with the papers' values. A scale below 1 shrinks the settings that
//! cost time (group, steps, iterations) and keeps those that are compared.

use std::path::Path;

use crate::config::{Config, Layered, Mistake, SourceKind};
use crate::state::RunState;

macro_rules! settings {
    ($folder:literal: $($name:literal),* $(,)?) => {
        &[$(Setting {
            name: $name,
            text: include_str!(concat!("../../../../experiments/", $folder, "/", $name, ".toml")),
        }),*]
    };
}

/// One run of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// Its name, which is also its run directory's.
    pub name: &'static str,
    /// Its run file.
    pub text: &'static str,
}

/// A grid of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Experiment {
    pub name: &'static str,
    /// What it is.
    pub summary: &'static str,
    /// Its runs.
    pub settings: &'static [Setting],
}

/// All experiments.
pub const EXPERIMENTS: [Experiment; 2] = [
    Experiment {
        name: "exp1",
        summary: "hyperparameters with fixed prompts (Mikasa et al. 2026, experiment 1)",
        settings: settings!["exp1": "O0-lr2e-7-beta0", "O0-lr2e-7-beta0.001", "O0-lr2e-7-beta0.01",
            "O0-lr5e-7-beta0", "O0-lr5e-7-beta0.001", "O0-lr5e-7-beta0.01",
            "O3-lr2e-7-beta0", "O3-lr2e-7-beta0.001", "O3-lr2e-7-beta0.01",
            "O3-lr5e-7-beta0", "O3-lr5e-7-beta0.001", "O3-lr5e-7-beta0.01"],
    },
    Experiment {
        name: "exp2",
        summary: "staged search, with and without learning (Mikasa et al. 2026, experiment 2)",
        settings: settings!["exp2": "O0-lr0", "O0-lr5e-7", "O1-lr0", "O1-lr5e-7", "O3-lr0", "O3-lr5e-7"],
    },
];

pub fn named(name: &str) -> Option<Experiment> {
    EXPERIMENTS
        .into_iter()
        .find(|experiment| experiment.name == name)
}

/// How far a setting's run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Not begun.
    New,
    /// Started; it can be resumed.
    Open,
    /// Done; it is skipped.
    Done,
}

impl Experiment {
    /// The progress of each setting, read from the folder of the run directories.
    pub fn progress(&self, folder: &Path) -> Vec<(Setting, Progress)> {
        let of = |setting: &Setting| match RunState::read(&folder.join(setting.name)) {
            Ok(state) if state.ended.is_some() => Progress::Done,
            Ok(state) if state.started.is_some() => Progress::Open,
            _ => Progress::New,
        };
        self.settings
            .iter()
            .map(|setting| (*setting, of(setting)))
            .collect()
    }
}

impl Setting {
    /// The configuration at a scale, followed by further overrides. Configurations that differ only
    /// in scale share everything that is compared.
    pub fn configure(
        &self,
        scale: f64,
        directory: &Path,
        overrides: &[String],
    ) -> Result<Layered, Vec<Mistake>> {
        let file = format!("{}.toml", self.name);
        let full = Layered::read(Some((&file, self.text)), &[])?.config;
        let mut sets = scaled(&full, scale);
        sets.push(format!("directory={}", directory.join(self.name).display()));
        sets.extend_from_slice(overrides);
        Layered::read(Some((&file, self.text)), &sets)
    }
}

/// The overrides that shrink or grow a configuration.
fn scaled(config: &Config, scale: f64) -> Vec<String> {
    let times = |value: f64, least: f64| (value * scale).round().max(least) as u64;
    let mut sets = vec![format!(
        "sampling.group={}",
        times(f64::from(config.sampling.group), 4.0)
    )];
    if config.budget.steps > 0 {
        sets.push(format!(
            "budget.steps={}",
            times(config.budget.steps as f64, 2.0)
        ));
    }
    if config.budget.iterations > 0 {
        // Fewer would not reach the last stage.
        sets.push(format!(
            "budget.iterations={}",
            times(f64::from(config.budget.iterations), 6.0)
        ));
    }
    if config.stepping.probe > 0 {
        sets.push(format!(
            "loop.probe={}",
            times(f64::from(config.stepping.probe), 8.0)
        ));
    }
    sets
}

/// A setting's name as the paper writes it. Experiment 2 has no penalty to name.
pub(super) fn label(config: &Config) -> String {
    let named = config.prompts.source == SourceKind::Fixed;
    let beta = if named {
        format!(", β={}", config.learning.beta)
    } else {
        String::new()
    };
    format!(
        "{}, LR={}{beta}",
        config.bench.how.opt,
        rate(config.learning.rate)
    )
}

pub(super) fn rate(rate: f64) -> String {
    if rate > 0.0 {
        format!("{rate:e}")
    } else {
        "0".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configs(name: &str) -> Vec<Config> {
        let read = |setting: &Setting| {
            Layered::read(Some(("x.toml", setting.text)), &[])
                .unwrap()
                .config
        };
        named(name).unwrap().settings.iter().map(read).collect()
    }

    #[test]
    fn the_grids_match_the_papers() {
        let first = configs("exp1");
        assert_eq!(first.len(), 12);
        assert!(
            first
                .iter()
                .all(|config| config.budget.steps == 200 && config.sampling.group == 64)
        );
        assert!(
            first
                .iter()
                .all(|config| config.prompts.source == SourceKind::Fixed)
        );
        let second = configs("exp2");
        assert_eq!(second.len(), 6);
        assert!(
            second
                .iter()
                .all(|config| config.budget.iterations == 9 && config.budget.steps == 0)
        );
        let labels: std::collections::BTreeSet<String> =
            first.iter().chain(&second).map(label).collect();
        assert_eq!(labels.len(), 18, "{labels:?}");
        assert!(labels.contains("O3, LR=5e-7, β=0.01") && labels.contains("O1, LR=0"));
    }

    #[test]
    fn names_match_the_content_of_the_files() {
        for experiment in EXPERIMENTS {
            for setting in experiment.settings {
                let config = Layered::read(Some(("x.toml", setting.text)), &[])
                    .unwrap()
                    .config;
                let name = format!("{}-lr{}", config.bench.how.opt, rate(config.learning.rate));
                assert!(
                    setting.name == name
                        || setting.name == format!("{name}-beta{}", config.learning.beta)
                );
            }
        }
    }

    #[test]
    fn a_scale_shrinks_what_costs_time_and_nothing_else() {
        let setting = named("exp1").unwrap().settings[0];
        let full = setting
            .configure(1.0, Path::new("runs"), &[])
            .unwrap()
            .config;
        let small = setting
            .configure(0.1, Path::new("runs"), &["model=nano".into()])
            .unwrap()
            .config;
        assert_eq!(
            (
                small.budget.steps,
                small.sampling.group,
                small.model.as_str()
            ),
            (20, 6, "nano")
        );
        assert_eq!(
            (small.learning, small.bench, small.reward),
            (full.learning, full.bench, full.reward)
        );
        assert_eq!(small.directory, "runs/O0-lr2e-7-beta0");
    }
}
