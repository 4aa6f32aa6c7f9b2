//! Translates the remedies that libraries name into the flags, keys or commands of this command
//! line.

use clap::CommandFactory;
use hotloop_flow::Remedy;

use crate::cli::Cli;

/// A hint with the names of its remedies on this command line.
pub(crate) fn advice(hint: Option<&str>, remedies: &[Remedy]) -> Option<String> {
    let hint = hint?;
    let program = Cli::command();
    let command = std::env::args()
        .nth(1)
        .and_then(|name| program.find_subcommand(name));
    Some(named(hint, remedies, command.unwrap_or(&program)))
}

fn named(hint: &str, remedies: &[Remedy], command: &clap::Command) -> String {
    let names: Vec<String> = remedies
        .iter()
        .filter_map(|remedy| name(*remedy, command))
        .collect();
    if names.is_empty() {
        return hint.to_owned();
    }
    format!("{hint} ({})", names.join(", "))
}

/// The flag if the command has it, otherwise the key if it sets keys, otherwise the command to call
/// or the environment variable to set.
fn name(remedy: Remedy, command: &clap::Command) -> Option<String> {
    let has = |long: &str| {
        command
            .get_arguments()
            .any(|argument| argument.get_long() == Some(long))
    };
    let (flag, key, other) = match remedy {
        Remedy::Threads => ("threads", "bench.threads", ""),
        Remedy::Slots => ("slots", "bench.slots", ""),
        Remedy::Jobs => ("jobs", "", ""),
        Remedy::CompilerPath => ("cc", "", ""),
        Remedy::Landlock => ("", "", "hotloop judge --without landlock"),
        Remedy::Cores => ("cores", "", ""),
        Remedy::ShareCores => ("share-cores", "", ""),
        Remedy::FleetUp => ("", "", "hotloop fleet up"),
        Remedy::FleetDown => ("", "", "hotloop fleet down"),
        Remedy::FleetStatus => ("", "", "hotloop fleet status"),
        Remedy::FleetToken => ("", "", "HOTLOOP_FLEET_TOKEN"),
        Remedy::FleetExample => ("", "", "hotloop fleet example"),
        Remedy::Bind => ("bind", "", ""),
        Remedy::TokenFile => ("token-file", "", ""),
        Remedy::TaskList => ("", "", "hotloop task list"),
    };
    if !flag.is_empty() && has(flag) {
        let or = if remedy == Remedy::TokenFile {
            " or HOTLOOP_TOKEN"
        } else {
            ""
        };
        Some(format!("--{flag}{or}"))
    } else if !key.is_empty() && has("set") {
        Some(key.to_owned())
    } else if !other.is_empty() {
        Some(format!("`{other}`"))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_a_remedy_by_its_own_flags_and_keys() {
        let program = Cli::command();
        let advice = |command: &str, remedies: &[Remedy]| {
            named(
                "use fewer",
                remedies,
                program.find_subcommand(command).expect("a command"),
            )
        };
        let both = [Remedy::Slots, Remedy::Threads];
        assert_eq!(advice("judge", &both), "use fewer (--slots, --threads)");
        assert_eq!(
            advice("train", &both),
            "use fewer (bench.slots, bench.threads)"
        );
        assert_eq!(advice("doctor", &both), "use fewer");
        assert_eq!(
            advice("judge", &[Remedy::FleetUp]),
            "use fewer (`hotloop fleet up`)"
        );
        assert_eq!(
            advice("serve", &[Remedy::FleetToken]),
            "use fewer (`HOTLOOP_FLEET_TOKEN`)"
        );
    }

    #[test]
    fn flags_that_remedies_name_exist() {
        let program = Cli::command();
        let names = |remedy| {
            program
                .get_subcommands()
                .any(|command| name(remedy, command).is_some())
        };
        for remedy in [
            Remedy::Threads,
            Remedy::Slots,
            Remedy::Jobs,
            Remedy::CompilerPath,
            Remedy::Cores,
            Remedy::ShareCores,
            Remedy::Bind,
            Remedy::TokenFile,
        ] {
            assert!(names(remedy), "{remedy:?}");
        }
    }
}
