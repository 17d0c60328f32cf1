//! The result as Markdown.

use super::campaign::{BASELINE, Campaign, Found, Rates};
use crate::{Outcome, Settings, machine, page};
use std::time::Duration;

/// A claim about the table, and whether it holds.
struct Goal {
    what: &'static str,
    asked: String,
    found: String,
    holds: bool,
}

/// Writes the page.
pub fn write(settings: &Settings, starts: &[Duration], campaign: &Campaign) -> Outcome<()> {
    let mut text = "# Every layout of soft RAID in the virtual lab\n\n\
                    Written by `make lab`; everything above \"Notes\" is replaced by the next run. Six drives of 400 IOPS and 25 MiB/s each in a\n\
                    machine of the lab; each layout is built, measured by six tests of 2 s and taken down, in one run without anybody beside it. Says\n\
                    what layouts cost by their arithmetic, and nothing of drives.\n\n| what | |\n|---|---|\n"
        .to_string();
    let mut facts = machine::of_host(settings);
    let seconds: Vec<String> = starts.iter().map(|start| format!("{:.1}", start.as_secs_f64())).collect();
    facts.push(("from `lab up` to a worker that answers, s", seconds.join(", ")));
    facts.push(("layouts", campaign.stands.to_string()));
    facts.push((
        "all of them built, measured and taken down, min",
        format!("{:.1}", campaign.took.as_secs_f64() / 60.0),
    ));
    for (name, value) in facts {
        text += &format!("| {name} | {value} |\n");
    }
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

fn of<'a>(rates: &'a Rates, stand: &str, case: &str) -> Outcome<&'a Found> {
    rates.get(&(stand.to_string(), case.to_string())).ok_or_else(|| format!("nothing of {case} on {stand}"))
}

fn goals(campaign: &Campaign) -> Outcome<Vec<Goal>> {
    let repeated = &campaign.repeated;
    let (write, read) = ("rand-write-4k-qd32", "rand-read-4k-qd32");
    let parity = of(repeated, "md-raid5", write)?.iops;
    let ratio = |stand: &str, case: &str, over: f64, asked: f64, most: f64, what| -> Outcome<Goal> {
        let found = of(repeated, stand, case)?.iops / over;
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
        ratio("md-raid0", write, parity, 4.0, 0.08, "random writes of RAID 0, in those of RAID 5")?,
        ratio("md-raid10", write, parity, 2.0, 0.08, "random writes of RAID 10, in those of RAID 5")?,
        ratio(
            "md-raid0",
            read,
            of(repeated, BASELINE, read)?.iops,
            6.0,
            0.05,
            "random reads of RAID 0 on six drives, in those of one",
        )?,
        refused("zfs-stripe-cached", "reads of a volume of ZFS that memory answers are refused")?,
        refused("nfs", "reads over NFS that the memory of the server answers are refused")?,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let (write, read) = ("rand-write-4k-qd32", "rand-read-4k-qd32");
        let rates = [
            ("md-raid5", write, 600.0, &[] as &[&str]),
            ("md-raid0", write, 2400.0, &[]),
            ("md-raid10", write, 1000.0, &[]),
            ("md-raid0", read, 2400.0, &[]),
            (BASELINE, read, 400.0, &[]),
            ("zfs-stripe-cached", read, 9000.0, &["H11", "H12"]),
            ("nfs", read, 9000.0, &["H12"]),
        ];
        let told: Vec<bool> = goals(&campaign(&rates)).unwrap().iter().map(|goal| goal.holds).collect();
        assert_eq!(told, [true, false, true, true, false]);
        assert!(goals(&campaign(&rates[1..])).is_err_and(|why| why.contains("md-raid5")));
    }
}
