//! Statistics of a list of numbers.

/// The mean; 0 for no values.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// The value below which a share `q` of the values lies, interpolated; NaN for no values.
pub fn quantile(values: &[f64], q: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let position = q * last as f64;
    let (low, high) = (
        sorted[position.floor() as usize],
        sorted[position.ceil() as usize],
    );
    low + (high - low) * position.fract()
}

/// Standard deviation relative to the mean; 0 for fewer than two values.
pub fn variation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt() / mean
}

/// The interval in which a share of `all` lies with probability 95 %, if `some` of them were seen:
/// Wilson's score interval. From 0 to 1 for none.
pub fn wilson(some: usize, all: usize) -> (f64, f64) {
    /// The quantile of the normal distribution for 95 % on both sides together.
    const Z: f64 = 1.959_963_984_540_054;
    if all == 0 {
        return (0.0, 1.0);
    }
    let all = all as f64;
    let share = some as f64 / all;
    let spread = Z * (share * (1.0 - share) / all + Z * Z / (4.0 * all * all)).sqrt();
    let (middle, scale) = (share + Z * Z / (2.0 * all), 1.0 + Z * Z / all);
    (
        ((middle - spread) / scale).max(0.0),
        ((middle + spread) / scale).min(1.0),
    )
}

/// The value that Student's t stays within with probability `level`, on both sides together.
///
/// With `t = sqrt(n) tan(a)` the density of t becomes that of the angle, `cos(a)^(n - 1)`, which is
/// smooth and bounded, so Simpson's rule integrates it well for any number of degrees of freedom.
pub fn student_t(level: f64, freedom: u32) -> f64 {
    const HALVINGS: u32 = 60;
    let within = |angle: f64| simpson(|a| a.cos().powi(freedom as i32 - 1), angle);
    let whole = within(std::f64::consts::FRAC_PI_2);
    let (mut low, mut high) = (0.0, std::f64::consts::FRAC_PI_2);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if within(middle) < level * whole {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::from(freedom).sqrt() * low.tan()
}

/// The integral of `of` from 0 to `end`.
fn simpson(of: impl Fn(f64) -> f64, end: f64) -> f64 {
    const PARTS: u32 = 400;
    let step = end / f64::from(PARTS);
    let weight = |part: u32| match part {
        0 | PARTS => 1.0,
        odd if odd % 2 == 1 => 4.0,
        _ => 2.0,
    };
    let sum: f64 = (0..=PARTS)
        .map(|part| weight(part) * of(f64::from(part) * step))
        .sum();
    sum * step / 3.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn students_t_matches_the_printed_tables() {
        for (level, freedom, wanted) in [
            (0.95, 1, 12.706),
            (0.95, 2, 4.303),
            (0.95, 4, 2.776),
            (0.99, 2, 9.925),
            (0.95, 30, 2.042),
        ] {
            let got = student_t(level, freedom);
            assert!((got - wanted).abs() < 1e-3, "{got} is not {wanted}");
        }
    }

    #[test]
    fn wilsons_interval_matches_printed_values() {
        for (some, all, low, high) in [
            (0, 10, 0.0, 0.2775),
            (5, 10, 0.2366, 0.7634),
            (10, 10, 0.7225, 1.0),
            (3, 20, 0.0524, 0.3604),
        ] {
            let (least, most) = wilson(some, all);
            assert!(
                (least - low).abs() < 1e-4 && (most - high).abs() < 1e-4,
                "{some} of {all}: {least} to {most}"
            );
        }
        assert_eq!(wilson(0, 0), (0.0, 1.0));
    }

    #[test]
    fn quantiles_interpolate() {
        assert!((quantile(&[4.0, 1.0, 3.0, 2.0], 0.5) - 2.5).abs() < 1e-12);
        assert!((quantile(&[7.0], 0.1) - 7.0).abs() < 1e-12);
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn median_and_variation_match_their_definitions() {
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < 1e-12);
        assert!((variation(&[9.0, 10.0, 11.0]) - 0.1).abs() < 1e-12);
        assert!(variation(&[5.0]).abs() < 1e-12);
        assert!(mean(&[]).abs() < 1e-12);
    }
}
