//! Applications as loads: which programs a case runs, what each instance of them gets, and the objective (SLO) by which the
//! largest number of instances is searched (method §5.5). Pure; must not know where a program is installed.

use serde::{Deserialize, Serialize};
use stend_base::{Bytes, MilliIops, Millionths, Nanos, Say, say};

/// Neighbouring numbers of instances differ by this part, or by one.
const PRECISION: Millionths = Millionths::percent(3);
/// Longest time to make the data of an instance, besides that of writing them: an empty database takes minutes on a slow drive.
const MAKE: Nanos = Nanos::secs(150);
/// Bytes of data that are made in a second on the slowest drive: one disk that ten instances of sysbench fill in turn.
const MADE_PER_SECOND: u64 = 2 << 20;
/// Longest time to start and stop an instance.
const START_AND_STOP: Nanos = Nanos::secs(30);
/// Longest time that clients take to connect, and to end what is going on.
const GRACE: Nanos = Nanos::secs(60);
/// Longest time that each run of a client takes besides its load.
const START_CLIENT: Nanos = Nanos::secs(1);
/// Longest time to remove the data of an instance: sixteen with 4096 files each took more than a minute on a busy machine.
const REMOVAL: Nanos = Nanos::secs(20);
/// Bytes of data that are removed in a second where files are many and journals slow.
const REMOVED_PER_SECOND: u64 = 64 << 20;

/// What runs: a server that keeps data, and the client that loads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Program {
    /// PostgreSQL under sysbench's `oltp_read_write`.
    SysbenchPostgresql,
    /// MariaDB under sysbench's `oltp_read_write`.
    SysbenchMariadb,
    /// nginx under wrk.
    NginxWrk,
}

impl Program {
    /// The packages of Debian that bring its programs.
    pub fn packages(self) -> &'static str {
        match self {
            Program::SysbenchPostgresql => "sysbench postgresql",
            Program::SysbenchMariadb => "sysbench mariadb-server",
            Program::NginxWrk => "nginx wrk",
        }
    }

    /// What it is, for people.
    pub fn say(self) -> Say {
        match self {
            Program::SysbenchPostgresql => {
                say!("PostgreSQL under sysbench oltp_read_write", "PostgreSQL под нагрузкой sysbench oltp_read_write")
            }
            Program::SysbenchMariadb => {
                say!("MariaDB under sysbench oltp_read_write", "MariaDB под нагрузкой sysbench oltp_read_write")
            }
            Program::NginxWrk => say!("nginx under wrk", "nginx под нагрузкой wrk"),
        }
    }

    /// What its client means by latency.
    pub fn latency(self) -> Say {
        match self {
            Program::SysbenchPostgresql | Program::SysbenchMariadb => say!(
                "sysbench: a transaction of about 20 statements; with `rate`, from when it was due",
                "sysbench: транзакция примерно из 20 запросов, при `rate` — с назначенного срока"
            ),
            Program::NginxWrk => say!(
                "wrk: a request from its sending, in a closed loop; waiting behind a stall is not included",
                "wrk: запрос с момента отправки, в замкнутом цикле: ожидание за остановкой в неё не входит"
            ),
        }
    }

    /// Whether its client can be told a rate.
    pub fn has_rate(self) -> bool {
        self != Program::NginxWrk
    }

    /// Whether its client prints this percentile.
    pub fn prints(self, quantile: Millionths) -> bool {
        let percent = quantile.0 / 10_000;
        let whole = quantile.0.is_multiple_of(10_000);
        whole && (self != Program::NginxWrk || [50, 75, 90, 99].contains(&percent))
    }
}

/// The application of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct App {
    /// What runs.
    pub program: Program,
    /// How many of them at the same time.
    pub instances: u32,
    /// About how many bytes of data each has on the target.
    pub data: Bytes,
    /// Connections of each client.
    pub clients: u32,
    /// Transactions per second that each client offers; `None`: as many as its connections can do.
    pub rate: Option<MilliIops>,
    /// What each may take of the machine; `None`: everything.
    pub limits: Option<Limits>,
    /// What must hold.
    pub slo: Slo,
}

impl App {
    /// Longest time that making the data of one instance may take.
    pub fn make_limit(&self) -> Nanos {
        MAKE + Nanos::secs(self.data.0 / MADE_PER_SECOND)
    }

    /// Longest time that clients may take beyond a load of this length: they connect, end what is going on, and are started anew
    /// for each window if that is how they report windows.
    pub fn load_grace(&self, load: Nanos) -> Nanos {
        let runs = if self.program == Program::NginxWrk { load.0 / self.slo.window.0.max(1) } else { 1 };
        GRACE + Nanos(START_CLIENT.0.saturating_mul(runs))
    }

    /// Longest time that a trial takes besides its load: making data, starting and stopping, of all instances, and what clients
    /// take longer.
    pub(crate) fn set_up_limit(&self, load: Nanos) -> Nanos {
        self.times(self.make_limit() + START_AND_STOP) + self.load_grace(load)
    }

    /// Longest time that removing the data of all instances takes.
    pub fn removal_limit(&self) -> Nanos {
        self.times(REMOVAL + Nanos::secs(self.data.0 / REMOVED_PER_SECOND))
    }

    fn times(&self, of_one: Nanos) -> Nanos {
        Nanos(of_one.0.saturating_mul(u64::from(self.instances)))
    }
}

/// Time for which a share of CPU time is given to a control group: the kernel's default.
pub const CPU_PERIOD: Nanos = Nanos::millis(100);

/// What the control group of an instance allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// CPUs, in thousandths.
    pub cpu_thousandths: u32,
    /// Memory, page cache of its data included.
    pub memory: Bytes,
    /// Reads and, apart from them, writes per second on the drive of the target; `None`: any number.
    pub iops: Option<u32>,
}

/// The objective of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slo {
    /// The percentile that the client prints.
    pub quantile: Millionths,
    /// What it may be at most.
    pub limit: Nanos,
    /// Least part of the offered rate that must be served.
    pub served: Millionths,
    /// Length of a window, whole seconds; the trial has a whole number of them.
    pub window: Nanos,
    /// Least part of the windows of an instance in which all that must hold.
    pub windows: Millionths,
}

/// The numbers of instances among which the largest is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Density {
    /// Fewest, tried first.
    pub from: u32,
    /// Most.
    pub to: u32,
}

impl Density {
    /// The rungs of the search, ascending.
    pub fn counts(self) -> Vec<u32> {
        let (mut counts, mut count) = (vec![self.from], self.from);
        while count < self.to {
            let step = (u64::from(count) * u64::from(PRECISION.0) / u64::from(Millionths::ALL.0)).max(1);
            count = u64::from(count).saturating_add(step).min(u64::from(self.to)) as u32;
            counts.push(count);
        }
        counts
    }
}

/// The application of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppSpec {
    /// It, with the fewest instances.
    pub app: App,
    /// How many are tried.
    pub density: Density,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_instances_ascend_by_one_and_later_by_three_per_cent() {
        assert_eq!(Density { from: 1, to: 4 }.counts(), [1, 2, 3, 4]);
        let many = Density { from: 60, to: 1000 }.counts();
        assert_eq!((many[..8].to_vec(), many.last()), ((60..=67).collect(), Some(&1000)));
        assert!(many.windows(2).all(|pair| pair[0] < pair[1] && (pair[1] - pair[0]) * 100 <= pair[0] * 3 + 100));
        assert_eq!(Density { from: 7, to: 7 }.counts(), [7]);
    }

    #[test]
    fn making_more_data_may_take_longer() {
        let limits = |mib: u64| {
            let slo = Slo {
                quantile: Millionths::percent(95),
                limit: Nanos::secs(1),
                served: Millionths::percent(95),
                window: Nanos::secs(10),
                windows: Millionths::percent(95),
            };
            let (data, rate, limits) = (Bytes(mib << 20), None, None);
            let app = App { program: Program::NginxWrk, instances: 1, data, clients: 1, rate, limits, slo };
            (app.make_limit(), app.removal_limit())
        };
        assert_eq!(limits(64), (Nanos::secs(182), Nanos::secs(21)));
        // 100 GiB, which the limit of before cut off after 150 s.
        assert_eq!(limits(100 << 10), (Nanos::secs(51_350), Nanos::secs(1620)));
    }

    #[test]
    fn a_client_that_is_started_for_every_window_may_take_longer_for_many_of_them() {
        let grace = |program: Program, windows: u64| {
            let window = Nanos::secs(10);
            let slo = Slo {
                quantile: Millionths::percent(99),
                limit: Nanos::secs(1),
                served: Millionths::percent(95),
                window,
                windows: Millionths::percent(95),
            };
            let (data, rate, limits) = (Bytes::mib(1), None, None);
            let app = App { program, instances: 1, data, clients: 1, rate, limits, slo };
            let load = Nanos(window.0 * windows);
            (app.load_grace(load), app.set_up_limit(load).saturating_sub(app.set_up_limit(Nanos(0))))
        };
        assert_eq!(grace(Program::NginxWrk, 1000), (Nanos::secs(1060), Nanos::secs(1000)));
        assert_eq!(grace(Program::SysbenchMariadb, 1000), (Nanos::secs(61), Nanos(0)));
    }

    #[test]
    fn a_percentile_is_one_that_the_client_prints() {
        let prints = |program: Program, percents: [u32; 3]| percents.map(|p| program.prints(Millionths::percent(p)));
        assert_eq!(prints(Program::NginxWrk, [90, 95, 99]), [true, false, true]);
        assert_eq!(prints(Program::SysbenchMariadb, [90, 95, 99]), [true; 3]);
        assert!(!Program::SysbenchPostgresql.prints(Millionths(999_000)), "99.9 % is no whole number");
    }
}
