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

#[cfg(test)]
mod tests {
    use super::*;

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
