//! How the engine submitted the I/O of a trial: the way, the threads, the memory, and the jobs as they were set up.

use serde::{Deserialize, Serialize};
use stend_base::{Bytes, Say, say};
use stend_spec::workload::Region;

/// Why I/O was submitted as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Chosen {
    /// The suite named it.
    #[default]
    Named,
    /// Probing found that io_uring works.
    Works,
    /// io_uring hands every sync to a kernel worker thread, so syncs are made by plain calls.
    Syncs,
    /// io_uring hands every discard and write of zeroes to a kernel worker thread or, for the discards of a block
    /// device, has none, so they are made by plain calls.
    Erases,
    /// io_uring hands every I/O on this target to a kernel worker thread, so they are made by plain calls.
    Punts,
    /// io_uring does not work here; `fallback_reason` has the system's words.
    Fallback,
}

impl Chosen {
    /// The reason in words.
    pub fn say(self) -> Say {
        match self {
            Chosen::Named => say!("named in the suite", "указан в наборе"),
            Chosen::Works => say!("chosen by probing", "выбран по результату пробы"),
            Chosen::Syncs => say!(
                "chosen because io_uring hands every sync to a kernel worker thread",
                "выбран, потому что io_uring передаёт каждую синхронизацию рабочему потоку ядра"
            ),
            Chosen::Erases => say!(
                "chosen because discards and zeroes are inline only as plain calls",
                "выбран, потому что освобождения и запись нулей выполняются на месте только обычными вызовами"
            ),
            Chosen::Punts => say!(
                "chosen because io_uring hands every I/O on this target to a kernel worker thread",
                "выбран, потому что на этом объекте io_uring передаёт каждую операцию рабочему потоку ядра"
            ),
            Chosen::Fallback => say!("io_uring does not work here", "io_uring здесь не работает"),
        }
    }
}

/// How the engine submitted I/O.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EngineFacts {
    /// `io_uring`, `libaio`, `psync` or `none`.
    pub backend: String,
    /// Why this one.
    pub chosen: Chosen,
    /// Why not the first choice; empty if it was.
    pub fallback_reason: String,
    /// Kernel worker threads (`iou-wrk`) seen: above 0 means the kernel did not submit inline; `None` if nobody looked.
    pub kernel_workers: Option<u32>,
    /// CPUs that load threads were seen on at the edges of intervals, ascending. Another program gets them from the suite;
    /// none: the scheduler placed its threads.
    pub cpus: Vec<u32>,
    /// Files and buffers were registered with the ring.
    pub registered: bool,
    /// The backend is `libaio` on a kernel (before Linux 4.18) that cannot queue syncs: those of the trial
    /// were plain calls, during which the thread did nothing else.
    pub plain_syncs: bool,
    /// The target was open for direct I/O.
    pub direct: bool,
    /// What the buffers lay in when the load began; `None` if the kernel does not tell, or another program made the I/O.
    pub buffers: Option<BufferPages>,
    /// What one reading of the clock costs, ns: the mean of many just before the load; 0 if not measured.
    pub clock_read_ns: u32,
    /// The jobs as they were set up, by stream and job.
    pub jobs: Vec<JobFacts>,
    /// The other program that made the I/O; `None`: our own engine.
    pub external: Option<External>,
}

impl EngineFacts {
    /// Load threads: one per job, or one per place where each I/O is a call that returns when it is complete.
    pub fn threads(&self) -> u64 {
        let of = |job: &JobFacts| if self.backend == "psync" { u64::from(job.in_flight) } else { 1 };
        self.jobs.iter().map(of).sum()
    }
}

/// The memory that data were written from and read into, over all load threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BufferPages {
    /// All of it.
    pub size: Bytes,
    /// What of it lay in huge pages.
    pub huge: Bytes,
}

/// Another program that made the I/O of a trial. What it said besides its summary is in the event of its command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct External {
    /// What it calls itself, e.g. `fio-3.33`.
    pub version: String,
    /// Its job file, as it was given.
    pub job_file: String,
    /// How much earlier the window may have begun than the outcome says, ns: other programs do not tell it.
    pub start_uncertainty_ns: u64,
}

/// One job as the engine set it up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobFacts {
    /// Index of the stream in the trial.
    pub stream: u16,
    /// Index of the job in the stream.
    pub job: u32,
    /// Places for I/O in flight, over all its threads.
    pub in_flight: u32,
    /// Bytes per I/O; of a mixture the largest.
    pub block_size: Bytes,
    /// The range of the target that it works on.
    pub area: Region,
    /// The target is open so that every write of it ends when it is durable (`O_DSYNC`), as the kernel says.
    pub dsync: bool,
    /// NUMA node that the kernel says the buffers of all its threads lie on; `None` if it does not tell, or they differ.
    pub memory_node: Option<u32>,
}
