//! Records in, findings out: every check, every verdict; the statistics are those of `stend-stats`. Pure: no clock, no I/O.
#![forbid(unsafe_code)]

mod analysis;
pub mod as_fio;
mod between_arms;
mod by_host;
mod by_target;
pub mod by_trial;
mod case;
mod caveat;
mod ceilings;
pub mod chart;
mod charts;
mod check;
pub mod compare;
pub mod comparison_with_published;
mod cost;
mod counter;
mod cpu;
mod density;
pub mod eta;
mod faults;
mod fidelity;
pub mod findings;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod fixture_rounds;
mod forewarn;
pub mod gate;
mod grade;
pub mod history;
pub mod host_rates;
mod host_search;
pub mod intervals;
pub mod io_log;
pub mod journal;
mod leading;
mod levels;
pub mod limits;
pub mod listed;
pub mod live;
mod numa;
mod objective;
mod operations;
mod outline;
mod phrase;
mod precision;
pub mod preview;
mod printed;
pub mod prober;
mod pts;
pub mod rates;
pub mod recording;
pub mod recording_lines;
pub mod search;
mod searched;
mod series;
pub mod sources;
mod steady;
pub mod submitted;
mod sweeps;
mod trials;
mod unmeasured;
mod used_up;
mod verdict;
mod widths;

pub use analysis::{analyse, judge};
pub use as_fio::as_fio;
pub use by_trial::by_trial;
pub use ceilings::Demand;
pub use chart::Chart;
pub use charts::history::charts as history_charts;
pub use charts::timeline::{Row, Timeline, timeline};
pub use compare::{Comparison, compare, compare_arms};
pub use comparison_with_published::compare_with_published;
pub use eta::{Eta, EtaQuality, eta};
pub use faults::{Recovery, beyond, ended_by_cut, seconds};
pub use findings::Findings;
pub use forewarn::{forewarn, forewarn_others};
pub use history::history;
pub use leading::{Leading, leading};
pub use live::{LiveFigures, Seconds, live};
pub use outline::{Outline, outline};
pub use phrase::{
    conditioned as conditioned_in_words, data as data_in_words, files as files_in_words,
    operations as operations_in_words, pattern as pattern_in_words, place as place_in_words, rate_of as rate_in_words,
    sizes as sizes_in_words, verified as verified_in_words,
};
pub use precision::Looks;
pub use printed::is_cache_known;
pub use search::Ended;
pub use series::start;
pub use stend_stats::middle_and_most;
pub use widths::at_look;
