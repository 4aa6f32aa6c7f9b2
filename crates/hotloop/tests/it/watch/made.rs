//! Run directories of any size, made without a policy and a bench.

use std::io::Write;
use std::path::Path;

use hotloop_flow::advantage::Fate;
use hotloop_flow::bench::Seconds;
use hotloop_flow::language::c::stages;
use hotloop_flow::policy::{Capabilities, Ending, Updated};
use hotloop_flow::random::Random;
use hotloop_flow::verdict::Mismatch;
use hotloop_flow::{Candidate, Device, Judgement, Language, MachineFacts, Measured, Role, Verdict};
use hotloop_run::event::{
    Answer, Asked, Event, GroupFinished, GroupSampled, Line, Made, Place, RunStarted, StepFinished,
    StepSampled, StepSeconds, Watched,
};
use hotloop_run::{Layered, store};

/// What a made run is like.
pub(crate) struct Shape<'a> {
    pub(crate) steps: u64,
    pub(crate) groups: u32,
    pub(crate) members: u32,
    /// Tokens of an answer.
    pub(crate) tokens: usize,
    /// The source of the candidate with this number.
    pub(crate) source: &'a dyn Fn(usize) -> String,
    /// What is wrong with every third candidate.
    pub(crate) why: &'a str,
}

struct Journal(std::io::BufWriter<std::fs::File>);

impl Journal {
    fn put(&mut self, event: Event, at_s: f64) {
        serde_json::to_writer(&mut self.0, &Line::new(event, at_s)).unwrap();
        self.0.write_all(b"\n").unwrap();
    }
}

fn judgement(verdict: Verdict) -> Judgement {
    Judgement {
        verdict,
        seconds: Seconds::default(),
    }
}

fn timed(gflops: f64) -> Judgement {
    judgement(Verdict::Correct(Measured::steady(gflops, 1.0 / gflops)))
}

fn wrong(why: &str) -> Judgement {
    judgement(Verdict::Wrong(Mismatch {
        why: why.to_owned(),
        error: 1.0,
        paper: false,
    }))
}

/// Keeps a candidate, and returns its hash.
fn kept(directory: &Path, source: String) -> String {
    let candidate = Candidate::restore(Language::C, source);
    let path = store::candidate_path(directory, candidate.hash());
    std::fs::write(path, candidate.source()).unwrap();
    candidate.hash().to_owned()
}

fn answer(hash: String, tokens: usize) -> Answer {
    Answer {
        tokens: (0..tokens as u32).collect(),
        logprobs: vec![-0.731_25; tokens],
        ending: Ending::Stop,
        made: Made::Candidate {
            normal: hash.clone(),
            hash,
        },
    }
}

/// Makes the folder with its run file and seed.
fn begin(directory: &Path, steps: u64) {
    std::fs::create_dir_all(directory.join("candidates")).unwrap();
    let sets = [
        "model=made".to_owned(),
        "task=matmul".to_owned(),
        format!("budget.steps={steps}"),
    ];
    let config = Layered::read(None, &sets).unwrap().config;
    std::fs::write(directory.join("run.toml"), config.to_toml()).unwrap();
    std::fs::write(directory.join("seed.c"), "void seed(void) {\n}\n").unwrap();
}

/// Writes a run directory.
pub(crate) fn run(directory: &Path, shape: &Shape<'_>) {
    begin(directory, shape.steps);
    let file = std::fs::File::create(store::journal_path(directory)).unwrap();
    let mut journal = Journal(std::io::BufWriter::new(file));
    journal.put(started(), 1_700_000_000.0);
    let seed = Event::SeedJudged {
        task: None,
        judgement: timed(1.0),
    };
    journal.put(seed, 1_700_000_001.0);
    let mut random = Random::new(7);
    let mut parents: Vec<String> = Vec::new();
    let mut number = 0;
    for step in 0..shape.steps {
        let at_s = 1_700_000_002.0 + 10.0 * step as f64;
        let mut judged = Vec::new();
        let mut groups = Vec::new();
        for group in 0..shape.groups {
            let parent =
                (!parents.is_empty()).then(|| parents[random.below(parents.len())].clone());
            let mut answers = Vec::new();
            for member in 0..shape.members {
                let hash = kept(directory, (shape.source)(number));
                let gflops = 1.0 + random.unit() * (5.0 + step as f64 / 10.0);
                let verdict = if number % 3 == 2 {
                    wrong(shape.why)
                } else {
                    timed(gflops)
                };
                if member == 0 {
                    parents.push(hash.clone());
                }
                judged.push((
                    Place {
                        step,
                        group,
                        member,
                    },
                    verdict,
                ));
                answers.push(answer(hash, shape.tokens));
                number += 1;
            }
            parents.drain(..parents.len().saturating_sub(20));
            groups.push(GroupSampled {
                asked: asked(parent),
                prompt_tokens: vec![1, 2, 3],
                answers,
            });
        }
        let sampled = StepSampled {
            step,
            lag: 0,
            temperature: 1.0,
            groups,
        };
        journal.put(Event::StepSampled(Box::new(sampled)), at_s);
        let rewards: Vec<f64> = judged
            .iter()
            .map(|(_, one)| if one.verdict.is_correct() { 1.0 } else { 0.0 })
            .collect();
        for (at, judgement) in judged {
            journal.put(Event::CandidateJudged { at, judgement }, at_s + 5.0);
        }
        let finished = finished(step, &rewards, shape.members as usize);
        journal.put(Event::StepFinished(Box::new(finished)), at_s + 9.0);
    }
    let why = format!("all {} steps are done", shape.steps);
    journal.put(Event::RunEnded { why }, 1_800_000_000.0);
    journal.0.flush().unwrap();
}

fn asked(parent: Option<String>) -> Asked {
    Asked {
        task: None,
        role: if parent.is_some() {
            Role::Improve
        } else {
            Role::Explore
        },
        stage: Some(stages::ALL),
        parent,
        variant: 0,
        beside: Vec::new(),
    }
}

fn started() -> Event {
    let policy = Capabilities {
        model: "made".to_owned(),
        learns: true,
        logprobs: true,
        context: 4096,
    };
    let machine = MachineFacts {
        class: "made".to_owned(),
        device: Device::with_vectors("avx2"),
        ..MachineFacts::default()
    };
    Event::RunStarted(Box::new(RunStarted {
        task: "matmul".to_owned(),
        task_hash: String::new(),
        practised: Vec::new(),
        stages: 6,
        seed_normal: String::new(),
        machine,
        policy,
        temperature: 1.0,
        config: None,
    }))
}

fn finished(step: u64, rewards: &[f64], members: usize) -> StepFinished {
    let groups = rewards.chunks(members).map(|rewards| GroupFinished {
        rewards: rewards.iter().copied().map(Some).collect(),
        advantages: vec![Some(0.5); rewards.len()],
        fate: Fate::Live,
        noise: 0.0,
    });
    StepFinished {
        step,
        groups: groups.collect(),
        updated: Some(Updated {
            loss: 0.1,
            gradient_norm: 1.0,
            kl: None,
            clipped: 0.0,
            entropy: 0.9,
            sampler_gap: 0.0,
        }),
        watched: Watched {
            entropy: Some(0.9),
            distinct: 0.8,
            live: 1.0,
            kl: None,
        },
        temperature: 1.0,
        warnings: Vec::new(),
        stop: None,
        enough: None,
        seconds: StepSeconds {
            wall: 10.0,
            sampling: 4.0,
            judging: 4.0,
            updating: 1.0,
            policy_idle: 4.0,
            bench_idle: 6.0,
        },
    }
}
