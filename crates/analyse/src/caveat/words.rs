//! Caveats in plain sentences: what happened, and what to do about it. One place that knows every caveat;
//! the sentences are in the leaves.

mod arms;
mod engine;
mod events;
mod hosts;
mod imported;
mod run;
mod target;

use crate::findings::Caveat;
use stend_base::Say;

/// What a caveat says.
struct Words {
    /// What was found and what it means, as a sentence.
    text: Say,
    /// What to do, as a sentence.
    advice: Say,
}

impl Caveat {
    /// What was found and what it means for the numbers, as a sentence.
    pub fn say(&self) -> Say {
        self.words().text
    }

    /// What the user can do about it, as a sentence.
    pub fn advice(&self) -> Say {
        self.words().advice
    }

    /// Name of its page in `docs/caveats/`: that of the variant, as `virtual-disk`.
    pub fn slug(&self) -> String {
        let variant = format!("{self:?}");
        let name = variant.chars().take_while(|c| c.is_alphanumeric());
        let dashed = name.map(|c| if c.is_uppercase() { format!("-{}", c.to_lowercase()) } else { c.into() });
        dashed.collect::<String>().trim_start_matches('-').to_string()
    }

    fn words(&self) -> Words {
        match self {
            Caveat::NoEnd => run::no_end(),
            Caveat::NoStorage { what, cases } => target::no_storage(what, cases),
            Caveat::EndedEarly { reason } => run::ended_early(reason),
            Caveat::OnLoadHosts { hosts, of_hosts, caveat } => hosts::on_load_hosts(hosts, *of_hosts, caveat),
            Caveat::LoadHostLost { .. } => hosts::load_host_lost(self),
            Caveat::Imported { by, after_submission, printed, snapshots } => {
                imported::imported(by, (*after_submission, *printed), *snapshots)
            }
            Caveat::ImportedInPart { dropped } => imported::in_part(dropped),
            Caveat::CrashesSurvived { crashes, rebooted, below } => run::crashes_survived(*crashes, *rebooted, *below),
            Caveat::ReplaysSurvived { states, of } => run::replays_survived(*states, *of),
            Caveat::CrashUnknown { reason } => run::crash_unknown(reason),
            Caveat::Suspended { arm, instruction } => arms::suspended(arm, instruction),
            Caveat::ArmsInSequence => arms::in_sequence(),
            Caveat::ArmWithoutChange { arm } => arms::without_change(arm),
            Caveat::ArmDrifted { arm, conditions } => arms::drifted(arm, conditions),
            Caveat::TrialsLeftOut { count } => run::trials_left_out(*count),
            Caveat::EventsMissing { trials, case, cases } => events::missing(*trials, case, *cases),
            Caveat::NeverWritten { share } => run::never_written(*share),
            Caveat::TraceChanged { .. } => run::trace_changed(self),
            Caveat::NotFilled => run::not_filled(),
            Caveat::ReadsErased { at_once } => run::reads_erased(*at_once),
            Caveat::StreamsOverlap { case, first, second } => run::streams_overlap(case, *first, *second),
            Caveat::ProberHeavy { case, share } => run::prober_heavy(case, *share),
            Caveat::TargetsInTurn { cases, targets } => run::targets_in_turn(*cases, *targets),
            Caveat::NotSteady { cases, case, rounds, range, slope } => {
                run::not_steady(*cases, (case, *rounds), (*range).zip(*slope))
            }
            Caveat::FewTrials { cases, trials, need, blocks, takes } => {
                run::few_trials(*cases, *trials, *need, (*blocks, *takes))
            }
            Caveat::NotPrecise { cases, case, between_arms, rate, p99, no_p99 } => {
                run::not_precise(*cases, (case, *between_arms), (*rate, *p99, *no_p99))
            }
            Caveat::Fallback { backend, reason } => engine::fallback(backend, reason),
            Caveat::OtherEngine { cases, differences } => engine::other_engine(*cases, differences),
            Caveat::KernelWorkers { count } => engine::kernel_workers(*count),
            Caveat::OrdinaryPages { huge } => engine::ordinary_pages(*huge),
            Caveat::FewCpus { cpus } => run::few_cpus(*cpus),
            Caveat::ClockStep { by_ns } => run::clock_step(*by_ns),
            Caveat::NoSpool { why } => run::no_spool(why),
            Caveat::IntervalsMerged { count } => run::intervals_merged(*count),
            Caveat::LogIncomplete { dropped, recorded } => run::log_incomplete(*dropped, *recorded),
            Caveat::TargetInUse { reasons } => target::in_use(reasons),
            Caveat::OtherLoad { device, iops, bytes_per_s } => target::other_load(device, *iops, *bytes_per_s),
            Caveat::RunBeside { runs, drives } => target::run_beside(runs, drives),
            Caveat::VolatileCache { drives, cases } => target::volatile_cache(drives, *cases),
            Caveat::InMemory { what } => target::in_memory(what),
            Caveat::OverNetwork { file_system } => target::over_network(file_system),
            Caveat::OverFabric { device, transport } => target::over_fabric(device, transport),
            Caveat::StorageWatched { host, drives } => target::storage_watched(host, *drives),
            Caveat::StorageUnwatched { host, why } => target::storage_unwatched(host, why),
            Caveat::HostUnwatched { host, why } => target::host_unwatched(host, why),
            Caveat::Fuse { file_system } => target::fuse(file_system),
            Caveat::Overlay => target::overlay(),
            Caveat::CopyOnWrite { file_system } => target::copy_on_write(file_system),
            Caveat::Compressed { option } => target::compressed(option),
            Caveat::Encrypted { device } => target::encrypted(device),
            Caveat::Cached { device, size } => target::cached(device, *size),
            Caveat::NoDevice => target::no_device(),
            Caveat::VirtualDisk { device } => target::virtual_disk(device),
            Caveat::Removable { device } => target::removable(device),
            Caveat::NearlyFull { used } => target::nearly_full(*used),
            Caveat::MemorySized { working_set, memory, direct } => target::memory_sized(*working_set, *memory, *direct),
            Caveat::WillWrite { fill, trials, drive } => target::will_write(*fill, *trials, drive.as_ref()),
        }
    }
}
