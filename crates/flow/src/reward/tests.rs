use super::*;
use crate::verdict::Mismatch;

fn correct(gflops: f64, seconds: f64) -> Verdict {
    Verdict::Correct(Measured::steady(gflops, seconds))
}

/// Of a task that counts no operations.
fn uncounted(seconds: f64) -> Verdict {
    Verdict::Correct(Measured::steady(None, seconds))
}

fn suspect(gflops: f64) -> Verdict {
    Verdict::Suspect {
        why: "too fast".into(),
        measured: Measured::steady(gflops, 1.0),
    }
}

/// One failure of each kind; the fourth met the compiler's limit.
fn failures() -> Vec<Verdict> {
    vec![
        Verdict::Malformed { why: String::new() },
        Verdict::Refused { why: String::new() },
        Verdict::NotCompiled {
            diagnostics: String::new(),
        },
        Verdict::TimedOut {
            limit_s: 8.0,
            during: Phase::Compile,
        },
        Verdict::TimedOut {
            limit_s: 8.0,
            during: Phase::Run,
        },
        Verdict::Crashed { how: String::new() },
        Verdict::Wrong(Mismatch {
            why: String::new(),
            error: 1.0,
            paper: false,
        }),
    ]
}

fn check(reward: Reward, verdicts: &[Verdict], context: RewardContext, expect: &[f64]) {
    let group: Vec<Option<&Verdict>> = verdicts.iter().map(Some).collect();
    let rewards: Vec<f64> = reward
        .of_group(&group, &context)
        .unwrap()
        .into_iter()
        .map(Option::unwrap)
        .collect();
    assert_eq!(rewards.len(), expect.len());
    for (got, want) in rewards.iter().zip(expect) {
        assert!(
            (got - want).abs() < 1e-12,
            "{}: got {rewards:?}, want {expect:?}",
            reward.name()
        );
    }
}

const NOTHING: RewardContext = RewardContext {
    pace: Pace::Gflops,
    seed_s: None,
    parent_s: None,
    baseline_s: None,
    sol_s: None,
};

#[test]
fn the_ladder_is_equation_3() {
    check(
        Reward::Ladder,
        &failures(),
        NOTHING,
        &[-100.0, -100.0, -40.0, -30.0, -30.0, -20.0, -10.0],
    );
    check(Reward::Ladder, &[correct(230.7, 1.0)], NOTHING, &[230.7]);
}

#[test]
fn the_group_ladder_shares_out_a_hundred() {
    let mut verdicts = failures();
    verdicts.extend([correct(50.0, 4.0), correct(200.0, 1.0)]);
    check(
        Reward::LadderGroup,
        &verdicts,
        NOTHING,
        &[
            -100.0, -100.0, -40.0, -30.0, -30.0, -20.0, -10.0, 25.0, 100.0,
        ],
    );
}

#[test]
fn the_log_ladder_doubles_by_ones_between_its_limits() {
    let seed = RewardContext {
        seed_s: Some(8.0),
        ..NOTHING
    };
    check(
        "ladder-log".parse().unwrap(),
        &failures(),
        NOTHING,
        &[-4.0, -4.0, -3.0, -2.5, -2.5, -2.0, -1.0],
    );
    let verdicts = [
        correct(2.0, 8.0),
        correct(8.0, 2.0),
        correct(0.1, 160.0),
        correct(1e9, 1e-9),
    ];
    check(
        "ladder-log".parse().unwrap(),
        &verdicts,
        seed,
        &[1.0, 3.0, 0.0, 8.0],
    );
}

#[test]
fn weights_add_up_as_far_as_it_came() {
    let baseline = RewardContext {
        baseline_s: Some(2.0),
        ..NOTHING
    };
    check(
        Reward::Weighted,
        &failures(),
        NOTHING,
        &[0.0, 0.0, 0.0, 0.0, 0.4, 0.4, 0.4],
    );
    check(
        Reward::Weighted,
        &[correct(1.0, 2.0), correct(1.0, 1.9)],
        baseline,
        &[0.8, 1.0],
    );
}

#[test]
fn the_composite_caps_the_speedup() {
    let reward = Reward::Composite {
        alpha: 0.1,
        beta: 0.2,
        gamma: 1.0,
        r_max: 3.0,
    };
    let baseline = RewardContext {
        baseline_s: Some(6.0),
        ..NOTHING
    };
    check(
        reward,
        &failures(),
        NOTHING,
        &[0.0, 0.0, 0.0, 0.0, 0.1, 0.1, 0.1],
    );
    check(
        reward,
        &[correct(1.0, 12.0), correct(1.0, 3.0), correct(1.0, 1.0)],
        baseline,
        &[0.8, 2.3, 3.3],
    );
}

#[test]
fn the_roof_earns_one_and_the_baseline_a_half() {
    let context = RewardContext {
        baseline_s: Some(3.0),
        sol_s: Some(1.0),
        ..NOTHING
    };
    check(Reward::Sol, &failures(), NOTHING, &[0.0; 7]);
    check(
        Reward::Sol,
        &[
            correct(1.0, 3.0),
            correct(1.0, 1.0),
            correct(1.0, 0.5),
            correct(1.0, 7.0),
        ],
        context,
        &[0.5, 1.0, 1.0, 0.25],
    );
    let no_scale = RewardContext {
        baseline_s: Some(1.0),
        sol_s: Some(1.0),
        ..NOTHING
    };
    check(Reward::Sol, &[correct(1.0, 4.0)], no_scale, &[0.25]);
    let mut own_roof = Measured::steady(1.0, 3.0);
    own_roof.roof = Some(crate::measured::Roof {
        seconds: 1.0,
        peak_flops: 1e9,
    });
    check(
        Reward::Sol,
        &[Verdict::Correct(own_roof)],
        RewardContext {
            baseline_s: Some(3.0),
            ..NOTHING
        },
        &[0.5],
    );
}

#[test]
fn without_operations_every_shape_measures_by_seconds() {
    let mut seed = Measured::steady(None, 8.0);
    seed.roof = Some(crate::measured::Roof {
        seconds: 1.0,
        peak_flops: 1e9,
    });
    let context = RewardContext::of_seed(&seed);
    let verdicts = [uncounted(8.0), uncounted(2.0), uncounted(16.0)];
    let expect = [
        (Reward::Ladder, [1.0, 4.0, 0.5]),
        (Reward::LadderGroup, [25.0, 100.0, 12.5]),
        ("ladder-log".parse().unwrap(), [1.0, 3.0, 0.0]),
        ("gain".parse().unwrap(), [0.0, 2.0, 0.0]),
        (Reward::Weighted, [0.8, 1.0, 0.8]),
        ("composite".parse().unwrap(), [1.0, 5.0 / 3.0, 2.5 / 3.0]),
        (Reward::Sol, [0.5, 0.875, 7.0 / 22.0]),
    ];
    assert_eq!(expect.len(), Reward::ALL.len());
    for (reward, expect) in expect {
        check(reward, &verdicts, context, &expect);
        check(reward, &failures(), context, &{
            let group = failures();
            let group: Vec<Option<&Verdict>> = group.iter().map(Some).collect();
            let counted = RewardContext::of_seed(&Measured::steady(1.0, 8.0));
            let rewards = reward.of_group(&group, &counted).unwrap();
            rewards
                .into_iter()
                .map(Option::unwrap)
                .collect::<Vec<f64>>()
        });
    }
    assert_eq!(
        Reward::Ladder.of(&uncounted(1.0), &NOTHING),
        Err(RewardError::Missing {
            shape: "ladder",
            what: "the seed's seconds"
        })
    );
}

#[test]
fn masked_places_stay_masked_and_do_not_count() {
    let (fast, best) = (suspect(1e6), correct(10.0, 1.0));
    let group = [Some(&fast), None, Some(&best)];
    assert_eq!(
        Reward::LadderGroup.of_group(&group, &NOTHING),
        Ok(vec![None, None, Some(100.0)])
    );
    for reward in Reward::ALL {
        assert_eq!(reward.of(&fast, &NOTHING), Ok(None), "{}", reward.name());
    }
    assert_eq!(
        Reward::Ladder.of(&correct(f64::NAN, 1.0), &NOTHING),
        Ok(None)
    );
}

#[test]
fn a_missing_measure_is_an_error() {
    for name in ["ladder-log", "weighted", "composite", "sol"] {
        let reward: Reward = name.parse().unwrap();
        let error = reward.of(&correct(1.0, 1.0), &NOTHING).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with(&format!("reward `{name}` needs the ")),
            "{error}"
        );
    }
    assert_eq!("best".parse::<Reward>(), Err(RewardError::Unknown));
}

#[test]
fn numbers_that_turn_a_reward_round_are_named_with_a_remedy() {
    let mistake = |text: &str| toml::from_str::<Reward>(text).unwrap().mistake();
    let key = |text: &str| mistake(text).map(|mistake| mistake.key);
    for reward in Reward::ALL {
        assert_eq!(reward.mistake(), None, "{}", reward.name());
    }
    let reversed = mistake("shape = \"ladder-log\"\nlow = 8.0\nhigh = 0.0").unwrap();
    assert_eq!(reversed.key, "high");
    assert_eq!(
        reversed.what,
        "0 is below low, 8; set high to at least 8, or low to at most 0"
    );
    assert_eq!(
        key("shape = \"ladder-log\"\nlow = 9.0"),
        Some("high"),
        "the default is below"
    );
    assert_eq!(
        key("shape = \"ladder-log\"\nlow = 2.0\nhigh = 2.0"),
        None,
        "all that is correct is worth the same"
    );
    assert_eq!(
        key("shape = \"ladder-log\"\nlow = -1.5"),
        Some("low"),
        "less than for a wrong answer"
    );
    assert_eq!(key("shape = \"ladder-log\"\nlow = nan"), Some("low"));
    assert_eq!(key("shape = \"ladder-log\"\nhigh = nan"), Some("high"));
    assert_eq!(key("shape = \"ladder-log\"\nhigh = inf"), None, "no limit");
    for name in ["alpha", "beta", "gamma"] {
        assert_eq!(
            key(&format!("shape = \"composite\"\n{name} = -0.1")),
            Some(name)
        );
        assert_eq!(key(&format!("shape = \"composite\"\n{name} = 0.0")), None);
    }
    assert_eq!(key("shape = \"composite\"\nr-max = 0.0"), Some("r-max"));
}

#[test]
fn configuration_names_a_shape_and_may_change_its_numbers() {
    for reward in Reward::ALL {
        assert_eq!(
            toml::from_str::<Reward>(&format!("shape = \"{}\"", reward.name())),
            Ok(reward)
        );
    }
    let composite: Reward = toml::from_str("shape = \"composite\"\nr-max = 5.0").unwrap();
    assert!(matches!(composite, Reward::Composite { r_max, .. } if (r_max - 5.0).abs() < 1e-12));
    assert!(toml::from_str::<Reward>("shape = \"composite\"\nrmax = 5.0").is_err());
    assert!(toml::from_str::<Reward>("shape = \"sol\"\nhihg = 6.0").is_err());
}

#[test]
fn the_improver_earns_its_gain_over_the_parent() {
    let parent = RewardContext {
        seed_s: Some(8.0),
        parent_s: Some(2.0),
        ..NOTHING
    };
    let gain = Reward::Gain {
        low: 0.0,
        high: 3.0,
    };
    // log2(2 / 0.5) = 2; log2(2 / 2) = 0; log2(2 / 4) = -1 is cut to 0; log2(2 / 0.125) = 4 to 3.
    let verdicts = [0.5, 2.0, 4.0, 0.125].map(|seconds| correct(1.0, seconds));
    check(gain, &verdicts, parent, &[2.0, 0.0, 0.0, 3.0]);
    let failed = [-4.0, -4.0, -3.0, -2.5, -2.5, -2.0, -1.0];
    check(gain, &failures(), parent, &failed);
    let lost = gain.of(&verdicts[0], &NOTHING).unwrap_err();
    assert!(lost.to_string().contains("the parent's seconds"), "{lost}");
}
