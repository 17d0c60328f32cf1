//! The result as Markdown.

use super::campaign::{BASELINE, Campaign, Found, Rates};
use crate::{Outcome, Settings, machine, page};

/// A claim about the table, and whether it holds.
struct Goal {
    what: &'static str,
    asked: String,
    found: String,
    holds: bool,
}

/// Writes the page.
pub fn write(settings: &Settings, campaign: &Campaign) -> Outcome<()> {
    let mut text = "# Every layout of soft RAID in the virtual lab\n\n\
                    Written by `make lab`; everything above \"Notes\" is replaced by the next run. Six drives of 400 IOPS and 25 MiB/s each in a\n\
                    machine of the lab; each layout is built, measured by six tests of 2 s and taken down, in one run without anybody beside it. Says\n\
                    what layouts cost by their arithmetic, and nothing of drives.\n\n| what | |\n|---|---|\n"
        .to_string();
    let mut facts = machine::of_host(settings);
    facts.push(("layouts", campaign.stands.to_string()));
    facts.push((
        "all of them built, measured and taken down, min",
        format!("{:.1}", campaign.took.as_secs_f64() / 60.0),
    ));
    text += &rows(facts);
    text += "\n## What has to come out\n\nRatios are of means of five trials each (`lab/suites/raid-ratios.yaml`).\n\n| what | asked | found | holds |\n|---|---|---|---|\n";
    for goal in goals(campaign)? {
        let holds = if goal.holds { "yes" } else { "**no**" };
        text += &format!("| {} | {} | {} | {holds} |\n", goal.what, goal.asked, goal.found);
    }
    text += &format!(
        "\n## Every layout relative to {BASELINE}\n\n✖: that check failed, and the number is no number of these drives.\n\n"
    );
    page::write(&settings.page("lab.md"), &format!("{text}{}\n\n", campaign.table))
}

fn rows(facts: Vec<(&str, String)>) -> String {
    facts.into_iter().map(|(name, value)| format!("| {name} | {value} |\n")).collect()
}

fn of<'a>(rates: &'a Rates, stand: &str, case: &str) -> Outcome<&'a Found> {
    rates.get(&(stand.to_string(), case.to_string())).ok_or_else(|| format!("nothing of {case} on {stand}"))
}

fn goals(campaign: &Campaign) -> Outcome<Vec<Goal>> {
    let repeated = &campaign.repeated;
    let (write, read, alone) = ("rand-write-4k-qd32", "rand-read-4k-qd32", "rand-read-4k-qd1");
    let ratio = |(stand, other): (&str, &str), case: &str, asked: f64, most: f64, what| -> Outcome<Goal> {
        let found = of(repeated, stand, case)?.iops / of(repeated, other, case)?.iops;
        let holds = (found / asked - 1.0).abs() <= most;
        Ok(Goal { what, asked: format!("{asked} ± {:.0} %", most * 100.0), found: format!("{found:.2}"), holds })
    };
    let refused = |stand: &str, what| -> Outcome<Goal> {
        let failed = &of(&campaign.found, stand, read)?.failed;
        let holds = failed.iter().any(|check| check == "H11");
        let found = if failed.is_empty() { "–".to_string() } else { failed.join(", ") };
        Ok(Goal { what, asked: "H11 fails".into(), found, holds })
    };
    Ok(vec![
        ratio(
            ("md-raid0", BASELINE),
            alone,
            1.0,
            0.1,
            "one random read in flight on RAID 0 of six drives, in those of one",
        )?,
        ratio(
            ("md-raid0", BASELINE),
            read,
            6.0,
            0.08,
            "32 random reads in flight on RAID 0 of six drives, in those of one",
        )?,
        ratio(("md-raid0", "md-raid10"), write, 2.0, 0.08, "random writes of RAID 0, in those of RAID 10")?,
        refused("zfs-stripe-cached", "reads of a volume of ZFS that memory answers are refused")?,
        refused("nfs", "reads over NFS that the memory of the server answers are refused")?,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn campaign(rates: &[(&str, &str, f64, &[&str])]) -> Campaign {
        let found = |(stand, case, iops, failed): &(&str, &str, f64, &[&str])| {
            let failed = failed.iter().map(|check| check.to_string()).collect();
            ((stand.to_string(), case.to_string()), Found { iops: *iops, failed })
        };
        let found: Rates = rates.iter().map(found).collect();
        Campaign { repeated: found.clone(), found, stands: 5, took: Duration::from_secs(60), table: String::new() }
    }

    #[test]
    fn goals_hold_or_do_not() {
        let (write, read, alone) = ("rand-write-4k-qd32", "rand-read-4k-qd32", "rand-read-4k-qd1");
        let rates = [
            ("md-raid10", write, 1000.0, &[] as &[&str]),
            ("md-raid0", write, 2400.0, &[]),
            ("md-raid0", alone, 260.0, &[]),
            (BASELINE, alone, 270.0, &[]),
            ("md-raid0", read, 2400.0, &[]),
            (BASELINE, read, 400.0, &[]),
            ("zfs-stripe-cached", read, 9000.0, &["H11", "H12"]),
            ("nfs", read, 9000.0, &["H12"]),
        ];
        let told: Vec<bool> = goals(&campaign(&rates)).unwrap().iter().map(|goal| goal.holds).collect();
        assert_eq!(told, [true, true, false, true, false]);
        assert!(goals(&campaign(&rates[1..])).is_err_and(|why| why.contains("md-raid10")));
    }
}
