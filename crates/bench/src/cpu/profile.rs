//! A profile without privileges: what can be said about a candidate without counters and without
//! running it. Counters need rights that few machines give, and whatever earns a reward is gamed,
//! so this goes into prompts only.

use std::collections::HashMap;

use hotloop_flow::{BenchError, Job};

use crate::cpu::machine::Machine;
use crate::sandbox::user::unprivileged_user;
use crate::sys;

/// Loops that gcc did not vectorise, at most.
const MISSED: usize = 4;

/// The profile of a job's candidate; `None` if it does not compile.
pub(crate) fn of(machine: &Machine, job: &Job) -> Result<Option<String>, BenchError> {
    let user = sys::is_root().then(|| unprivileged_user(0));
    let Some(assembly) = machine.builder.assembly(job.candidate.source(), user)? else {
        return Ok(None);
    };
    let mut lines = Vec::new();
    if let Some(hottest) = hottest(&assembly.text) {
        lines.push(Facts::of(&hottest).told());
        let said = machine.builder.analysed(&hottest.join("\n"), user)?;
        lines.extend(said.as_deref().and_then(bottleneck));
    }
    lines.extend(missed(&assembly.missed));
    let work = job.task.work(&job.task.function().sizes.timed);
    if let (Some(flops), Some(bytes)) = (work.flops.filter(|flops| *flops > 0.0), work.bytes) {
        lines.push(format!(
            "the task must move {:.3} bytes per FLOP",
            bytes / flops
        ));
    }
    Ok(Some(lines.join("\n")))
}

/// Innermost loops that are looked at, and lines of the longest: a text may have any number.
const LOOPS: usize = 1000;
const LINES: usize = 10_000;

/// The innermost loop with the most floating-point instructions: its label, instructions and jump.
fn hottest(assembly: &str) -> Option<Vec<&str>> {
    let lines: Vec<&str> = assembly.lines().map(str::trim).collect();
    let mut labels: HashMap<&str, usize> = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        if let Some(label) = line.strip_suffix(':') {
            labels.entry(label).or_insert(at);
        }
    }
    let jumps = lines.iter().enumerate().filter_map(|(at, line)| {
        let (_, target) = line.strip_prefix('j')?.split_once(char::is_whitespace)?;
        let begin = *labels.get(target.trim())?;
        (begin < at).then_some((begin, at))
    });
    let body = |(begin, end): (usize, usize)| -> Vec<&str> {
        let body = lines[begin..=end].iter().copied();
        // Directives say nothing about speed, and analysers may not know them.
        body.filter(|line| !line.is_empty() && (!line.starts_with('.') || line.ends_with(':')))
            .collect()
    };
    let mut innermost = innermost(jumps.collect());
    innermost.retain(|(begin, end)| end - begin <= LINES);
    let bodies = innermost.into_iter().take(LOOPS).map(body);
    bodies.max_by_key(|body| body.iter().filter(|line| is_arithmetic(line)).count())
}

/// The loops that contain no other one, by their begins and ends, in the order of these.
fn innermost(mut loops: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    // From the last to begin to the first; of those that begin together, the shortest first.
    loops.sort_unstable_by_key(|(begin, end)| (std::cmp::Reverse(*begin), *end));
    let mut first_end = usize::MAX;
    loops.retain(|(_, end)| {
        let contains_one = first_end <= *end;
        first_end = first_end.min(*end);
        !contains_one
    });
    loops.reverse();
    loops
}

fn is_arithmetic(line: &str) -> bool {
    let name = line.split_whitespace().next().unwrap_or_default();
    [
        "add", "sub", "mul", "div", "max", "min", "sqrt", "fm", "fnm",
    ]
    .iter()
    .any(|kind| name.trim_start_matches('v').starts_with(kind))
        && (name.ends_with("pd") || name.ends_with("sd"))
}

/// What the instructions of a loop show.
#[derive(Debug, PartialEq)]
struct Facts {
    instructions: usize,
    /// Bits of the widest vectors that arithmetic uses; 64 for scalars, 0 without arithmetic.
    bits: u32,
    arithmetic: usize,
    fused: usize,
    /// Accesses to the stack: values that found no register.
    spills: usize,
}

impl Facts {
    fn of(body: &[&str]) -> Self {
        let instructions = || body.iter().filter(|line| !line.ends_with(':'));
        let arithmetic = || instructions().filter(|line| is_arithmetic(line));
        let bits = |line: &&&str| match line.split_whitespace().next() {
            Some(name) if name.ends_with("sd") => 64,
            _ if line.contains("%zmm") => 512,
            _ if line.contains("%ymm") => 256,
            _ => 128,
        };
        let fused = |line: &&&str| line.starts_with("vfm") || line.starts_with("vfnm");
        Self {
            instructions: instructions().count(),
            bits: arithmetic().map(|line| bits(&line)).max().unwrap_or(0),
            arithmetic: arithmetic().count(),
            fused: arithmetic().filter(fused).count(),
            spills: instructions()
                .filter(|line| line.contains("(%rsp") || line.contains("(%rbp"))
                .count(),
        }
    }

    fn told(&self) -> String {
        let width = match self.bits {
            0 => "no floating-point arithmetic".to_owned(),
            64 => "scalar arithmetic".to_owned(),
            bits => format!("vectors of {bits} bits"),
        };
        format!(
            "hottest loop: {} instructions, {width}, {} arithmetic ({} fused multiply-adds), {} accesses to the stack",
            self.instructions, self.arithmetic, self.fused, self.spills
        )
    }
}

/// The cycles of an iteration and what they wait for, from what llvm-mca prints.
fn bottleneck(said: &str) -> Option<String> {
    let number = |name: &str| {
        let line = said
            .lines()
            .find(|line| line.trim_start().trim_start_matches("- ").starts_with(name))?;
        let rest = line.split_once(':').map_or(line, |(_, rest)| rest);
        let digits = rest.trim_matches(|c: char| !c.is_ascii_digit());
        let digits = digits
            .split(|c: char| !c.is_ascii_digit() && c != '.')
            .next()?;
        digits.parse::<f64>().ok()
    };
    let cycles = number("Block RThroughput")?;
    let (ports, waits) = (number("Resource Pressure"), number("Data Dependencies"));
    let why = match (ports, waits) {
        (Some(ports), Some(waits)) if waits > ports => {
            format!("; most of all it waits for earlier results ({waits:.0} % of cycles)")
        }
        (Some(ports), _) if ports > 0.0 => {
            format!("; most of all execution ports are busy ({ports:.0} % of cycles)")
        }
        _ => String::new(),
    };
    Some(format!(
        "llvm-mca: at best {cycles:.1} cycles an iteration{why}"
    ))
}

/// The first loops that gcc did not vectorise, with its reason.
fn missed(said: &str) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for line in said.lines() {
        let Some(rest) = line.strip_prefix("candidate.c:") else {
            continue;
        };
        let place = rest.split(':').next().unwrap_or_default();
        let why = rest.split_once("not vectorized: ").map(|(_, why)| why);
        if let Some(why) = why {
            let line = format!("gcc did not vectorise line {place}: {}", why.trim());
            if !told.contains(&line) && told.len() < MISSED {
                told.push(line);
            }
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn innermost_loops_contain_no_other() {
        let loops = vec![(1, 20), (3, 9), (4, 8), (10, 15), (10, 12), (16, 25)];
        assert_eq!(innermost(loops), [(4, 8), (10, 12), (16, 25)]);
        let mut text = "# x\n".repeat(500_000);
        text.push_str(".L1:\nvmulpd a, b, c\njne .L1\n");
        assert_eq!(hottest(&text).unwrap().len(), 3, "of half a million lines");
    }

    const ASSEMBLY: &str = "\
kernel:
\tpushq\t%rbp
.L4:
\txorl\t%eax, %eax
\t.p2align 4
.L3:
\tvmovupd\t(%rdi,%rax), %ymm0
\tvfmadd231pd\t(%rsi,%rax), %ymm0, %ymm1
\tvmovapd\t%ymm1, -32(%rbp)
\taddq\t$32, %rax
\tcmpq\t%rdx, %rax
\tjne\t.L3
\tvmulsd\t%xmm0, %xmm1, %xmm1
\tjne\t.L4
\tret
";

    #[test]
    fn the_innermost_loop_with_arithmetic_is_read() {
        let body = hottest(ASSEMBLY).expect("it has loops");
        assert_eq!((body[0], body[body.len() - 1]), (".L3:", "jne\t.L3"));
        let facts = Facts::of(&body);
        let wanted = Facts {
            instructions: 6,
            bits: 256,
            arithmetic: 1,
            fused: 1,
            spills: 1,
        };
        assert_eq!(facts, wanted);
        assert!(facts.told().contains("vectors of 256 bits"));
        assert!(hottest("ret\n").is_none());
    }

    #[test]
    fn the_bottleneck_is_what_costs_most_cycles() {
        let said = "Block RThroughput: 4.0\n\nCycles with backend pressure increase [ 47.12% ]\n\
                    Throughput Bottlenecks: \n  Resource Pressure       [ 1.10% ]\n  \
                    Data Dependencies:      [ 46.02% ]\n  - Register Dependencies [ 46.02% ]\n";
        let told = bottleneck(said).expect("a throughput");
        assert!(
            told.contains("4.0 cycles") && told.contains("earlier results (46 % of cycles)"),
            "{told}"
        );
        assert!(bottleneck("error: unknown CPU").is_none());
        let calm = bottleneck(
            "Block RThroughput: 2.5\nNo resource or data dependency bottlenecks discovered.\n",
        );
        assert_eq!(
            calm.as_deref(),
            Some("llvm-mca: at best 2.5 cycles an iteration")
        );
    }

    #[test]
    fn loops_that_were_not_vectorised_are_named_once() {
        let said = "candidate.c:5:3: missed: couldn't vectorize loop\n\
                    candidate.c:5:3: missed: not vectorized: control flow in loop.\n\
                    candidate.c:5:3: missed: not vectorized: control flow in loop.\n\
                    /usr/include/x.h:1:1: missed: not vectorized: no.\n";
        assert_eq!(
            missed(said),
            ["gcc did not vectorise line 5: control flow in loop."]
        );
    }
}
