//! Numbers with their units and ranges of vdbench's lists: `(4k-64k,d)`, `(sd1-sd8)`. Must not know which key they belong to.
//! Facts: `Vdb_scan.parms_split()` and `Var_parms.java` of vdbench 5.04.

/// Values of a list; longer ones are no work of a person.
const VALUES_MAX: usize = 1000;

/// A number with k, m, g or t behind it, powers of 1024.
pub(super) fn bytes(text: &str) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    let end = lower.find(|c: char| !c.is_ascii_digit()).unwrap_or(lower.len());
    let factor = match &lower[end..] {
        "" => 1u64,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        "t" => 1 << 40,
        _ => return None,
    };
    lower[..end].parse::<u64>().ok()?.checked_mul(factor)
}

/// The values with each range in full; `None` if a range is none or too long. What has no dash stays as it is.
pub(super) fn expanded(values: &[String]) -> Option<Vec<String>> {
    let mut found: Vec<String> = Vec::new();
    let mut rest = values.iter();
    while let Some(value) = rest.next() {
        match value.split_once('-') {
            None => found.push(value.clone()),
            Some((from, to)) => match (bytes(from), bytes(to)) {
                (Some(from), Some(to)) => found.extend(numbers(from, to, rest.next()?)?),
                _ => found.extend(names(from, to)?),
            },
        }
        if found.len() > VALUES_MAX {
            return None;
        }
    }
    Some(found)
}

/// From one number to another, upwards by a step, or doubled or halved each time.
fn numbers(from: u64, to: u64, step: &str) -> Option<Vec<String>> {
    let next: Box<dyn Fn(u64) -> Option<u64>> = match (step, from < to) {
        ("d", _) if from == 0 => return None,
        ("d", true) => Box::new(|at: u64| at.checked_mul(2)),
        ("d", false) => Box::new(|at: u64| Some(at / 2).filter(|half| *half > 0)),
        (step, _) => {
            let step = bytes(step).filter(|step| *step > 0)?;
            Box::new(move |at: u64| at.checked_add(step))
        }
    };
    let within = |at: &u64| if step == "d" && from > to { *at >= to } else { *at <= to };
    let all = std::iter::successors(Some(from), |at| next(*at).filter(within));
    Some(all.take(VALUES_MAX + 1).map(|number| number.to_string()).collect())
}

/// From one name to another that differ in the number at their end.
fn names(from: &str, to: &str) -> Option<Vec<String>> {
    let split = |name: &str| {
        let at = name.rfind(|c: char| !c.is_ascii_digit())? + 1;
        Some((name.get(..at)?.to_string(), name.get(at..)?.parse::<u64>().ok()?))
    };
    let ((prefix, first), (other, last)) = (split(from)?, split(to)?);
    let count = last.checked_sub(first)?;
    let fits = prefix == other && count > 0 && count <= VALUES_MAX as u64;
    fits.then(|| (first..=last).map(|number| format!("{prefix}{number}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Option<String> {
        let values: Vec<String> = text.split(',').map(String::from).collect();
        expanded(&values).map(|found| found.join(","))
    }

    #[test]
    fn ranges_are_those_of_vdbench() {
        for (text, expected) in [
            ("1k-8k,d", "1024,2048,4096,8192"),
            ("64-20,d", "64,32"),
            ("0,10-50,20,99", "0,10,30,50,99"),
            ("1-6,d", "1,2,4"),
            ("sd9-sd11,sd20", "sd9,sd10,sd11,sd20"),
            ("a,b*", "a,b*"),
        ] {
            assert_eq!(all(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_range_or_has_no_end_is_none() {
        for text in ["1k-8k", "0-8,d", "1-9,0", "1-99999999,1", "sd1-wd2", "sd3-sd1", "sd1-sd9999", "-", "a-b"] {
            assert_eq!(all(text), None, "{text}");
        }
        assert_eq!(bytes("99999999999t"), None);
    }
}
