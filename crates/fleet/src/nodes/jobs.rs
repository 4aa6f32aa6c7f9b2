//! Workers that are scheduler jobs: pilot jobs of Slurm, or jobs that a command starts.

use std::time::Duration;

use hotloop_flow::BenchError;

use super::launch::{Launcher, command, line};
use crate::config::{Config, Nodes};
use crate::site::{Side, quote};

/// Jobs of a scheduler.
pub(super) struct Jobs {
    side: Side,
    start: String,
    list: String,
    stop: String,
}

impl Jobs {
    /// One exclusive job per node. Slurm decides where and when it runs. A job that ends is
    /// replaced.
    pub(super) fn slurm(
        config: &Config,
        nodes: &Nodes,
        side: Side,
        program: &str,
        number: usize,
    ) -> Self {
        let name = format!("hotloop-{}-{number}", config.name);
        let mut words: Vec<String> = [
            "sbatch",
            "--parsable",
            "--exclusive",
            "--nodes=1",
            "--ntasks=1",
        ]
        .map(str::to_owned)
        .to_vec();
        words.push(format!("--job-name={name}"));
        words.push(format!("--output={}/slurm-%j.log", side.folder()));
        // The keeper replaces a worker whose node fails sooner than a requeue would.
        words.push("--no-requeue".to_owned());
        if let Nodes::Slurm {
            partition,
            time,
            warning,
            options,
            ..
        } = nodes
        {
            words.extend(
                partition
                    .iter()
                    .map(|partition| format!("--partition={partition}")),
            );
            words.push(format!("--time={time}"));
            if *warning > 0 {
                words.push(format!("--signal=B:TERM@{warning}"));
            }
            words.extend(options.iter().cloned());
        }
        let worker = line(&command(
            config,
            program,
            &format!("{}/worker.toml", side.folder()),
        ));
        words.push(format!("--wrap=exec {worker}"));
        Self {
            start: line(&words),
            // A suspended job keeps its node and continues later. A job that Slurm queues again is
            // completing first, and another one in its place would be one too many.
            list: format!(
                "squeue --noheader --format=%i --name={} --states=PENDING,CONFIGURING,RUNNING,SUSPENDED,COMPLETING",
                quote(&name)
            ),
            stop: "scancel {id}".to_owned(),
            side,
        }
    }

    /// Jobs started by the user's command templates.
    pub(super) fn command(
        config: &Config,
        side: Side,
        program: &str,
        templates: [String; 3],
    ) -> Self {
        let worker = line(&command(
            config,
            program,
            &format!("{}/worker.toml", side.folder()),
        ));
        let [start, list, stop] = templates;
        Self {
            start: start.replace("{command}", &quote(&format!("exec {worker}"))),
            list,
            stop,
            side,
        }
    }
}

impl Launcher for Jobs {
    fn start(&mut self, _place: usize) -> Result<String, BenchError> {
        let said = self.side.shell(&self.start)?;
        // Slurm adds the cluster's name after a semicolon.
        let id = said
            .split_whitespace()
            .last()
            .unwrap_or_default()
            .split(';')
            .next()
            .unwrap_or_default();
        if id.is_empty() {
            return Err(BenchError::machine(format!(
                "`{}` printed no job's id",
                self.start
            )));
        }
        Ok(id.to_owned())
    }

    fn living(&mut self, ids: &[String]) -> Result<Vec<String>, BenchError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let said = self.side.shell(&self.list)?;
        let words: Vec<&str> = said.split_whitespace().collect();
        Ok(ids
            .iter()
            .filter(|id| words.contains(&id.as_str()))
            .cloned()
            .collect())
    }

    fn stop(&mut self, id: &str) -> Result<(), BenchError> {
        self.side
            .shell(&self.stop.replace("{id}", &quote(id)))
            .map(drop)
    }

    fn finish(&mut self, _patience: Duration) {
        // The scheduler does this.
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_start_list_and_stop() {
        let folder = tempfile::tempdir().unwrap();
        let side = Side::Here {
            folder: folder.path().to_owned(),
        };
        let config: Config = toml::from_str("").unwrap();
        let at = folder.path().display();
        // A scheduler of three lines, in which a job is a file with its command.
        let templates = [
            format!("printf %s {{command}} > {at}/7.job; echo submitted job 7"),
            format!("cd {at} && ls *.job 2>/dev/null | sed s/.job//"),
            format!("rm {at}/{{id}}.job"),
        ];
        let mut jobs = Jobs::command(&config, side, "/opt/hot loop", templates);
        let id = jobs.start(0).unwrap();
        assert_eq!(id, "7");
        let command = std::fs::read_to_string(folder.path().join("7.job")).unwrap();
        assert!(
            command.starts_with("exec '/opt/hot loop' 'worker' '--access'"),
            "{command}"
        );
        let both = ["7".to_owned(), "8".to_owned()];
        assert_eq!(jobs.living(&both).unwrap(), ["7"]);
        jobs.stop("7").unwrap();
        assert!(jobs.living(&both).is_ok_and(|living| living.is_empty()));
    }

    #[test]
    fn pilots_are_exclusive_and_warned() {
        let config: Config = toml::from_str("name = \"n\"").unwrap();
        let nodes: Nodes = toml::from_str(
            "kind = \"slurm\"\npartition = \"p\"\ntime = \"5\"\noptions = [\"--account=me\"]",
        )
        .unwrap();
        let jobs = Jobs::slurm(
            &config,
            &nodes,
            Side::Here {
                folder: "/f".into(),
            },
            "hotloop",
            3,
        );
        for word in [
            "--exclusive",
            "--partition=p",
            "--time=5",
            "--signal=B:TERM@60",
            "--account=me",
            "hotloop-n-3",
        ] {
            assert!(jobs.start.contains(word), "{word}: {}", jobs.start);
        }
        assert!(jobs.list.contains("hotloop-n-3"));
    }
}
