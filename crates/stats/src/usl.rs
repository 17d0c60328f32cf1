//! The Universal Scalability Law: how a rate follows the number of those who ask, and where it is largest.
//!
//= Gunther, Guerrilla Capacity Planning (2007), equation 4.32: X(N) = γN / (1 + α(N − 1) + βN(N − 1))

/// Fewest values of N that three coefficients are fitted to (method §5.5).
pub const POINTS_LEAST: usize = 6;
/// Most steps of a fit; fixtures need about ten.
const STEPS: usize = 200;
/// Damping above which no step helps any more.
const DAMPING_MAX: f64 = 1e12;

/// A rate at one N.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observed {
    /// Those who ask at the same time, at least 1.
    pub n: f64,
    /// Rate.
    pub rate: f64,
    /// Weight of its squared deviation, usually one over its variance.
    pub weight: f64,
}

/// Coefficients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usl {
    /// Rate of one alone.
    pub gamma: f64,
    /// Contention: the part of the work that only one can do at a time. At least 0.
    pub alpha: f64,
    /// Coherence: what each costs every other one. At least 0.
    pub beta: f64,
}

impl Usl {
    /// Rate at `n`.
    pub fn rate(&self, n: f64) -> f64 {
        self.gamma * n / self.divisor(n)
    }

    /// N at which the rate is largest, √((1 − α) / β); `None` where it only ever comes nearer to γ / α.
    pub fn peak(&self) -> Option<f64> {
        (self.beta > 0.0 && self.alpha < 1.0).then(|| ((1.0 - self.alpha) / self.beta).sqrt())
    }

    fn divisor(&self, n: f64) -> f64 {
        1.0 + self.alpha * (n - 1.0) + self.beta * n * (n - 1.0)
    }
}

/// The coefficients with the least weighted squared deviation; `None` for fewer than [`POINTS_LEAST`] different N, or values
/// that are no rates.
pub fn fit(points: &[Observed]) -> Option<Usl> {
    let sane = |p: &Observed| p.n >= 1.0 && p.rate > 0.0 && p.weight > 0.0 && (p.n * p.rate * p.weight).is_finite();
    let mut values: Vec<f64> = points.iter().map(|p| p.n).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    if values.len() < POINTS_LEAST || !points.iter().all(sane) {
        return None;
    }
    let last = values.last()?;
    let gamma = points.iter().map(|p| p.rate / p.n).fold(0.0, f64::max);
    // From several places: the sum of squares may have more than one valley.
    let starts = [0.3, 0.03, 0.003].map(|alpha| Usl { gamma, alpha, beta: alpha / last });
    let found = starts.into_iter().map(|start| descend(points, start));
    found.min_by(|a, b| cost(points, a).total_cmp(&cost(points, b)))
}

fn cost(points: &[Observed], usl: &Usl) -> f64 {
    points.iter().map(|p| p.weight * (p.rate - usl.rate(p.n)).powi(2)).sum()
}

/// Levenberg's and Marquardt's method; a coefficient at 0 stays there while it would become negative.
fn descend(points: &[Observed], mut usl: Usl) -> Usl {
    let (mut damping, mut now) = (1e-3, cost(points, &usl));
    for _ in 0..STEPS {
        let (mut normal, slope) = normal_equations(points, &usl);
        for (i, row) in normal.iter_mut().enumerate() {
            row[i] += damping * row[i].max(f64::MIN_POSITIVE);
        }
        let frozen = [false, usl.alpha == 0.0 && slope[1] <= 0.0, usl.beta == 0.0 && slope[2] <= 0.0];
        let step = solve(without(normal, frozen), slope, frozen);
        let next = Usl {
            gamma: (usl.gamma + step[0]).max(usl.gamma / 10.0),
            alpha: (usl.alpha + step[1]).max(0.0),
            beta: (usl.beta + step[2]).max(0.0),
        };
        let then = cost(points, &next);
        if then < now {
            let gain = (now - then) / now;
            (usl, now, damping) = (next, then, damping / 3.0);
            if gain < 1e-14 {
                break;
            }
        } else {
            damping *= 4.0;
            if damping > DAMPING_MAX {
                break;
            }
        }
    }
    usl
}

/// JᵀWJ and JᵀWr of the coefficients γ, α, β.
fn normal_equations(points: &[Observed], usl: &Usl) -> ([[f64; 3]; 3], [f64; 3]) {
    let (mut normal, mut slope) = ([[0.0; 3]; 3], [0.0; 3]);
    for p in points {
        let divisor = usl.divisor(p.n);
        let share = p.n / divisor;
        let bend = -usl.gamma * share / divisor;
        let row = [share, bend * (p.n - 1.0), bend * p.n * (p.n - 1.0)];
        let off = p.rate - usl.gamma * share;
        for i in 0..3 {
            slope[i] += p.weight * row[i] * off;
            for j in 0..3 {
                normal[i][j] += p.weight * row[i] * row[j];
            }
        }
    }
    (normal, slope)
}

/// The equations with the frozen coefficients taken out.
fn without(normal: [[f64; 3]; 3], frozen: [bool; 3]) -> [[f64; 3]; 3] {
    let value = |i: usize, j: usize| match (frozen[i] || frozen[j], i == j) {
        (false, _) => normal[i][j],
        (true, true) => 1.0,
        (true, false) => 0.0,
    };
    std::array::from_fn(|i| std::array::from_fn(|j| value(i, j)))
}

/// Gaussian elimination with pivots; a coefficient that nothing depends on gets 0.
fn solve(mut m: [[f64; 3]; 3], slope: [f64; 3], frozen: [bool; 3]) -> [f64; 3] {
    let mut right: [f64; 3] = std::array::from_fn(|i| if frozen[i] { 0.0 } else { slope[i] });
    for column in 0..3 {
        let pivot = (column..3).max_by(|&a, &b| m[a][column].abs().total_cmp(&m[b][column].abs())).unwrap_or(column);
        m.swap(column, pivot);
        right.swap(column, pivot);
        let (above, value) = (m[column], right[column]);
        if above[column] == 0.0 {
            continue;
        }
        for row in column + 1..3 {
            let factor = m[row][column] / above[column];
            m[row].iter_mut().zip(above).for_each(|(cell, above)| *cell -= factor * above);
            right[row] -= factor * value;
        }
    }
    let mut out = [0.0; 3];
    for i in (0..3).rev() {
        let rest: f64 = (i + 1..3).map(|j| m[i][j] * out[j]).sum();
        out[i] = if m[i][i] == 0.0 { 0.0 } else { (right[i] - rest) / m[i][i] };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(n: &[f64], rates: &[f64]) -> Vec<Observed> {
        n.iter().zip(rates).map(|(&n, &rate)| Observed { n, rate, weight: 1.0 }).collect()
    }

    //= smoeding/usl, the R package of that name: its first example
    #[test]
    fn the_coefficients_of_exact_values_are_found() {
        let rates = [1.0, 1.8868, 3.0769, 3.5294, 3.5398, 3.3557];
        let found = fit(&points(&[1.0, 2.0, 4.0, 6.0, 8.0, 10.0], &rates)).unwrap();
        assert!((found.alpha - 0.02).abs() < 1e-4 && (found.beta - 0.02).abs() < 1e-4, "{found:?}");
        assert!((found.peak().unwrap() - 7.0).abs() < 0.01, "{found:?}");
    }

    //= smoeding/usl, data set specsdm91: α 0.0277285, β 0.0001044, γ 89.995, largest rate 1884 at 96.52
    #[test]
    fn the_coefficients_of_measured_values_are_those_of_the_reference() {
        let rates = [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2];
        let found = fit(&points(&[1.0, 18.0, 36.0, 72.0, 108.0, 144.0, 216.0], &rates)).unwrap();
        let near = |value: f64, reference: f64| (value / reference - 1.0).abs() < 1e-3;
        assert!(near(found.alpha, 0.0277285) && near(found.beta, 0.0001044), "{found:?}");
        assert!(near(found.gamma, 89.995) && near(found.peak().unwrap(), 96.52), "{found:?}");
        assert!(near(found.rate(96.52), 1884.0), "{}", found.rate(96.52));
    }

    #[test]
    fn what_scales_without_loss_has_no_loss_and_no_peak() {
        let n = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
        let linear = fit(&points(&n, &n.map(|n| 100.0 * n))).unwrap();
        assert!(linear.alpha < 1e-9 && linear.beta < 1e-9, "{linear:?}");
        // More than linear has no coefficients: none is negative.
        let above = fit(&points(&n, &n.map(|n| 100.0 * n.powf(1.1)))).unwrap();
        assert_eq!((above.alpha, above.beta, above.peak()), (0.0, 0.0, None));
        let bounded = fit(&points(&n, &n.map(|n| 100.0 * n / (1.0 + 0.1 * (n - 1.0))))).unwrap();
        assert!((bounded.alpha - 0.1).abs() < 1e-6 && bounded.beta < 1e-6, "{bounded:?}");
    }

    #[test]
    fn a_value_that_weighs_little_moves_little() {
        let n = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
        let truth = Usl { gamma: 50.0, alpha: 0.05, beta: 0.001 };
        let mut seen = points(&n, &n.map(|n| truth.rate(n)));
        seen[3].rate *= 2.0;
        seen[3].weight = 1e-9;
        let found = fit(&seen).unwrap();
        assert!((found.alpha - 0.05).abs() < 1e-3 && (found.beta - 0.001).abs() < 1e-4, "{found:?}");
    }

    #[test]
    fn too_few_values_or_no_rates_have_no_fit() {
        let n = [1.0, 2.0, 4.0, 8.0, 16.0, 16.0];
        assert_eq!(fit(&points(&n, &n)), None);
        assert_eq!(fit(&points(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[1.0, 2.0, 0.0, 4.0, 5.0, 6.0])), None);
        assert_eq!(fit(&points(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[1.0, 2.0, f64::NAN, 4.0, 5.0, 6.0])), None);
    }
}
