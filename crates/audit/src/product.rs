//! H84: a count that the text makes of others must be their product: 5 nodes with 7 drives each are no 42.

use super::{Found, Severity, doubt, printed};
use stend_analyse::findings::CheckId;
use stend_base::{Say, format, say, say_in};
use stend_record::published::{Claim, Dimension, Unread};

/// Most factors of one number.
const FACTORS_MAX: usize = 20;

/// What stands between factors.
const SIGNS: [char; 2] = ['*', '×'];

/// Settings whose `baseline` names their factors. Factors that the table does not have are listed as unread.
pub(super) fn products(rows: &[Claim], unread: &mut Vec<Unread>) -> Found {
    let (mut places, mut doubts) = (0, Vec::new());
    for claim in rows.iter().filter(|claim| claim.metric.starts_with("config_") && claim.baseline.contains(SIGNS)) {
        let Some(number) = claim.value else { continue };
        let names: Vec<&str> = claim.baseline.split(SIGNS).map(str::trim).collect();
        if names.len() > FACTORS_MAX {
            let why = say!("it has more than {FACTORS_MAX} factors", "в нём больше {FACTORS_MAX} множителей");
            unread.push(Unread { row: claim.row, column: "baseline".into(), why });
            continue;
        }
        let factors: Vec<&Claim> = names.iter().filter_map(|name| setting(rows, claim, name)).collect();
        if factors.len() < names.len() {
            let missing = names.iter().find(|name| setting(rows, claim, name).is_none()).unwrap_or(&"");
            let why = say!(
                "the experiment has no single number `{missing}`: factors are names of settings, joined by `*`",
                "в эксперименте нет единственного числа `{missing}`: множители — имена настроек через `*`"
            );
            unread.push(Unread { row: claim.row, column: "baseline".into(), why });
            continue;
        }
        places += 1;
        let product: f64 = factors.iter().map(|factor| value(factor)).product();
        let open = number.value.abs() * rounding(claim)
            + product.abs() * factors.iter().map(|factor| rounding(factor)).sum::<f64>();
        if (number.value - product).abs() <= open + 1e-9 * product.abs() {
            continue;
        }
        let other = instead(rows, claim, &factors, number.value);
        let told = factors.iter().map(|factor| printed(factor)).collect::<Vec<_>>().join(" × ");
        let (shown, printed) = (product / number.factor, printed(claim));
        let why = Say::both(|lang| {
            let text = say_in!(
                lang,
                "{f} = {p}, but the text says {s}: one of these numbers is wrong.",
                "{f} = {p}, а в тексте {s}: одно из этих чисел неверно.",
                p = if shown.fract() == 0.0 { format::count(shown as u64) } else { format::number(shown, lang) },
                s = printed,
                f = told
            );
            let hint = other.map(|(factor, other)| {
                say_in!(
                    lang,
                    " With `{o}` ({v}) in place of `{f}` it fits.",
                    " С `{o}` ({v}) вместо `{f}` всё сходится.",
                    o = other.metric,
                    v = other.printed,
                    f = factor.metric
                )
            });
            text + &hint.unwrap_or_default()
        });
        doubts.push(doubt(CheckId::H84, Severity::Wrong, claim, &factors, why));
    }
    Found::new(CheckId::H84, places, doubts)
}

fn value(claim: &Claim) -> f64 {
    claim.value.map_or(f64::NAN, |number| number.value)
}

/// What rounding hides, as a share. Whole counts are not rounded, unless a word stands for their last digits: `1.2M`.
fn rounding(claim: &Claim) -> f64 {
    match claim.value {
        Some(number) if number.dimension != Dimension::Plain || number.value.fract() != 0.0 || number.step > 1.0 => {
            number.step / 2.0 / number.value.abs().max(f64::MIN_POSITIVE)
        }
        _ => 0.0,
    }
}

/// The only number of this name in the experiment.
fn setting<'a>(rows: &'a [Claim], claim: &Claim, metric: &str) -> Option<&'a Claim> {
    let here = |row: &&Claim| {
        (&row.source, &row.experiment, row.metric.as_str()) == (&claim.source, &claim.experiment, metric)
            && row.row != claim.row
            && row.value.is_some_and(|number| number.value > 0.0)
    };
    let mut all = rows.iter().filter(here);
    let first = all.next()?;
    all.all(|row| value(row) == value(first)).then_some(first)
}

/// A count of the same thing (its name shares a word) with which, in place of a factor, the product is right.
fn instead<'a>(rows: &'a [Claim], claim: &Claim, factors: &[&'a Claim], wanted: f64) -> Option<(&'a Claim, &'a Claim)> {
    let product: f64 = factors.iter().map(|factor| value(factor)).product();
    factors.iter().find_map(|factor| {
        let fits = |row: &&Claim| {
            (&row.source, &row.experiment) == (&claim.source, &claim.experiment)
                && row.metric != factor.metric
                && row.row != claim.row
                && alike(&row.metric, &factor.metric)
                && (product / value(factor) * value(row) - wanted).abs() <= 1e-9 * wanted
        };
        rows.iter().find(fits).map(|row| (*factor, row))
    })
}

/// Whether two names of settings share a word.
fn alike(a: &str, b: &str) -> bool {
    a.split('_').filter(|word| *word != "config").any(|word| b.split('_').any(|other| word == other))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::claim;
    use super::*;

    fn of(total: (&str, &str), formula: &str) -> (Found, Vec<Unread>) {
        let rows = [
            claim(2, "", "config_nodes", "count", "6"),
            claim(3, "", "config_storage_nodes", "count", "5"),
            claim(4, "", "config_drives", "count", "7"),
            claim(5, "", "config_size", "MB/s", "1.4"),
            Claim { baseline: formula.into(), ..claim(6, "", "config_total", total.0, total.1) },
        ];
        let mut unread = Vec::new();
        let found = products(&rows, &mut unread);
        (found, unread)
    }

    #[test]
    fn five_nodes_with_seven_drives_are_no_42() {
        let (found, _) = of(("count", "42"), "config_storage_nodes * config_drives");
        let [doubt] = found.doubts.as_slice() else { panic!("{:?}", found.doubts) };
        assert_eq!((doubt.row, doubt.against.as_slice(), doubt.severity), (6, &[3, 4][..], Severity::Wrong));
        assert_eq!(
            doubt.why.en,
            "5 × 7 = 35, but the text says 42: one of these numbers is wrong. With `config_nodes` (6) in place of `config_storage_nodes` it fits."
        );
        assert!(doubt.why.ru.contains("= 35, а в тексте 42"), "{}", doubt.why.ru);
    }

    #[test]
    fn what_multiplies_passes_with_the_rounding_of_what_was_measured() {
        for (total, formula) in [
            (("count", "42"), "config_nodes × config_drives"),
            (("count", "35"), "config_storage_nodes*config_drives"),
            // 7 × 1.4 is 9.8; printed with one digit, 10.
            (("MB/s", "10"), "config_drives * config_size"),
        ] {
            let (found, unread) = of(total, formula);
            assert_eq!((found.places, found.doubts.len(), unread.len()), (1, 0, 0), "{formula}");
        }
    }

    #[test]
    fn a_list_of_factors_has_an_end() {
        let (found, unread) = of(("count", "42"), &["config_drives"; 21].join("*"));
        assert_eq!((found.places, unread[0].row), (0, 6));
        assert!(unread[0].why.en.contains("more than 20"), "{}", unread[0].why.en);
    }

    #[test]
    fn a_factor_that_the_table_lacks_is_told() {
        let (found, unread) = of(("count", "42"), "config_nodes * config_racks");
        assert_eq!((found.places, unread[0].row, unread[0].column.as_str()), (0, 6, "baseline"));
        assert!(unread[0].why.en.contains("`config_racks`"), "{}", unread[0].why.en);
    }

    #[test]
    fn a_rounded_count_is_not_exact() {
        let with = |total: f64, step: f64| {
            let rounded = claim(4, "", "config_files", "count", "1");
            let rounded = Claim {
                printed: "1.2M".into(),
                value: rounded.value.map(|n| stend_record::published::Number { value: 1.2e6, step: 1e5, ..n }),
                ..rounded
            };
            let all = claim(5, "", "config_total", "count", "1");
            let all = Claim {
                baseline: "config_nodes * config_files".into(),
                value: all.value.map(|n| stend_record::published::Number { value: total, step, ..n }),
                ..all
            };
            products(&[claim(2, "", "config_nodes", "count", "6"), rounded, all], &mut Vec::new()).doubts.len()
        };
        assert_eq!((with(7.1e6, 1e5), with(7.13e6, 1.0), with(8.0e6, 1.0)), (0, 0, 1));
    }
}
