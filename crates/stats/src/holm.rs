//! Holm's correction: with many comparisons some look different by chance, so each has to be clearer the more there
//! are. Holds for any dependence between them.

/// The p of each comparison corrected for all of them, in the order given: to be held against the level as if it stood
/// alone. Never below the p itself, at most 1.
///
/// Step-down (method S5): the smallest p is multiplied by their number m, the next by m − 1, and so on, and none may
/// come out below one that was smaller.
pub fn adjusted(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut adjusted = vec![1.0; p.len()];
    let mut least: f64 = 0.0;
    for (place, index) in order.into_iter().enumerate() {
        least = least.max((p[index] * (p.len() - place) as f64).min(1.0));
        adjusted[index] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(p: &[f64], expected: &[f64]) {
        let found = adjusted(p);
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
        assert_eq!(found.len(), expected.len());
    }

    #[test]
    fn each_step_multiplies_by_what_is_left() {
        // By hand: 4 × 0.01, 3 × 0.013, 2 × 0.03, 1 × 0.04, each at least the one before.
        check(&[0.03, 0.01, 0.04, 0.013], &[0.06, 0.04, 0.06, 0.04]);
    }

    #[test]
    fn one_stands_for_itself_and_equal_ones_stay_equal() {
        check(&[0.03], &[0.03]);
        check(&[0.03125; 3], &[0.09375; 3]);
        check(&[0.9, 0.8], &[1.0, 1.0]);
        check(&[], &[]);
    }
}
