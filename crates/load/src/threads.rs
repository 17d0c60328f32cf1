//! The load threads of one trial: starting them, telling them apart, letting them go. Must not measure.

use crate::arrivals::{Arrivals, Progress};
use crate::backend::{Lane, refused};
use crate::io_log::{self, Chunk, Log};
use crate::layout::Job;
use crate::message::{Finished, Message};
use crate::part::Part;
use crate::queue_lane::QueueLane;
use crate::recorder::{MESSAGES_PER_THREAD, Recorder};
use crate::shared::{InFlight, InFlightIo, Shared, Times};
use crate::sync_lane::SyncLane;
use crate::task::Task;
use crate::{Control, placement};
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;
use stend_base::{Bytes, Error, Result, say};
use stend_record::BufferPages;
use stend_spec::workload;
use stend_sys::affinity::{self, CpusSeen};
use stend_sys::aio::{self, Context};
use stend_sys::buffer::{self, Pages};
use stend_sys::null::Null;
use stend_sys::passthrough::Passthrough;
use stend_sys::queue::{Queue, Slots};
use stend_sys::uring::Ring;
use stend_sys::{IoFile, clock, numa};

/// How often the start looks whether somebody asked to stop, or a thread died.
const POLL: Duration = Duration::from_millis(100);
/// Stack of a load thread; its own data are on the heap, the deepest call chain needs a few KiB.
const STACK: usize = 256 << 10;

/// All load threads of a trial. Dropping it ends the load at once.
pub(crate) struct LoadThreads {
    /// What the threads share.
    pub shared: Arc<Shared>,
    /// Parts and farewells.
    pub inbox: Receiver<Message>,
    /// How far each job has come.
    pub progress: Vec<Arc<Progress>>,
    /// The threads, in the order of their numbers.
    pub members: Vec<Member>,
    /// Every thread has its file and buffers registered.
    pub registered: bool,
    /// What the buffers of all threads lie in, once they are set up; `None` if the kernel does not tell.
    pub buffers: Option<BufferPages>,
}

/// Where the buffers of a thread lie.
struct Buffers {
    addresses: Range<usize>,
    /// NUMA node of the first page, if the kernel tells.
    node: Option<u32>,
}

/// One load thread, seen from outside.
pub(crate) struct Member {
    /// Index of its job.
    pub job: usize,
    /// Index of its stream.
    pub stream: u16,
    /// I/Os that it can have in flight.
    pub slots: u32,
    /// How it ended, once it has.
    pub finished: Option<Finished>,
    handle: JoinHandle<()>,
    in_flight: Arc<InFlight>,
    give_back: SyncSender<Box<Part>>,
    /// Where emptied chunks of its log go.
    chunks: Option<SyncSender<Box<Chunk>>>,
    buffers: Arc<OnceLock<Buffers>>,
}

impl Member {
    /// NUMA node that the kernel says its buffers lie on.
    pub fn node(&self) -> Option<u32> {
        self.buffers.get()?.node
    }

    /// What it has in flight now.
    pub fn in_flight(&self) -> Vec<InFlightIo> {
        self.in_flight.list()
    }

    /// Returns an emptied part to the thread it came from.
    pub fn give_back(&self, mut part: Box<Part>) {
        part.clear();
        // A thread that is gone needs none.
        let _ = self.give_back.try_send(part);
    }

    /// Returns an emptied chunk of a log likewise.
    pub fn give_back_chunk(&self, mut chunk: Box<Chunk>) {
        chunk.clear();
        let _ = self.chunks.as_ref().map(|chunks| chunks.try_send(chunk));
    }

    /// Whether the thread is gone, be it by a panic.
    pub fn is_gone(&self) -> bool {
        self.handle.is_finished()
    }
}

/// Where a thread finds its work.
struct Post {
    lane: Lane,
    job: Job,
    thread_of_job: u32,
    cpu: Option<u32>,
    file: Arc<IoFile>,
    progress: Arc<Progress>,
    pages: Pages,
    buffers: Arc<OnceLock<Buffers>>,
}

/// The pages that a trial asks for.
pub(crate) fn pages_of(trial: &workload::Trial) -> Pages {
    match trial.pages {
        workload::Pages::Ordinary => Pages::Ordinary,
        workload::Pages::Huge => Pages::Huge,
    }
}

/// Threads that make a job's I/O.
pub(crate) fn threads_of(job: &Job, lane: Lane) -> usize {
    if lane == Lane::Psync { job.spec.queue_depth as usize } else { 1 }
}

/// The CPU that every load thread is kept on, in the order of jobs; `None` where the scheduler decides.
pub(crate) fn places(jobs: &[Job], threads_of: impl Fn(&Job) -> usize) -> Vec<Option<u32>> {
    let threads: Vec<_> = jobs.iter().map(|job| (threads_of(job), job.spec.place.cpus.as_slice())).collect();
    placement::place(&threads)
}

impl LoadThreads {
    /// Starts the threads for the jobs of `task` and waits until every one is set up.
    pub fn muster(task: &Task, control: &Control) -> Result<LoadThreads> {
        let Task { jobs, lane, target, fault_limit, .. } = *task;
        let count: usize = jobs.iter().map(|job| threads_of(job, lane)).sum();
        let places = places(jobs, |job| threads_of(job, lane));
        let logged = task.trial.io_log.map(|_| count);
        let messages = MESSAGES_PER_THREAD + logged.map_or(0, io_log::chunks_per_thread);
        let (out, inbox) = sync_channel(count * messages);
        let shared = Arc::new(Shared::new(fault_limit));
        let progress = jobs.iter().map(|job| Arc::new(Progress::new(Arrivals::new(job).as_ref()))).collect();
        let members = Vec::with_capacity(count);
        let mut threads = LoadThreads { shared, inbox, progress, members, registered: count > 0, buffers: None };
        for (index, job) in jobs.iter().enumerate() {
            let progress = threads.progress[index].clone();
            for thread_of_job in 0..threads_of(job, lane) as u32 {
                let cpu = places[threads.members.len()];
                let (job, file, progress) = (job.clone(), target.of(job).clone(), progress.clone());
                let (pages, buffers) = (pages_of(task.trial), Arc::default());
                let post = Post { lane, job, thread_of_job, cpu, file, progress, pages, buffers };
                threads.start_thread(index, post, logged, out.clone())?;
            }
        }
        threads.wait_until_ready(control)?;
        threads.buffers = threads.look_at_buffers();
        Ok(threads)
    }

    /// Starts a thread; `logged`: one of so many that keep a log.
    fn start_thread(&mut self, job: usize, post: Post, logged: Option<usize>, out: SyncSender<Message>) -> Result<()> {
        let number = self.members.len();
        let slots = if post.lane == Lane::Psync { 1 } else { post.job.spec.queue_depth as usize };
        let (stream, open) = (post.job.stream, post.job.spec.is_open());
        let in_flight = Arc::new(InFlight::new(slots, open));
        let log = logged.map(|count| Log::new((number, count), &post.job.spec, self.shared.clone(), out.clone()));
        let (mut recorder, give_back) =
            Recorder::new(number, (stream, open), self.shared.clone(), in_flight.clone(), out);
        let chunks = log.map(|(log, chunks)| {
            recorder.keep_log(log);
            chunks
        });
        let builder = std::thread::Builder::new().name(format!("load-{number}")).stack_size(STACK);
        let buffers = post.buffers.clone();
        let handle = builder.spawn(move || work(post, recorder)).map_err(|e| {
            Error::preflight(say!(
                "cannot start load thread number {number}: {e}",
                "не удаётся запустить поток нагрузки номер {number}: {e}"
            ))
        })?;
        self.members.push(Member {
            job,
            stream,
            slots: slots as u32,
            finished: None,
            handle,
            in_flight,
            give_back,
            chunks,
            buffers,
        });
        Ok(())
    }

    /// CPUs on which the threads that have ended were seen at edges of intervals, ascending.
    pub fn cpus(&self) -> Vec<u32> {
        let mut seen = CpusSeen::default();
        self.members.iter().filter_map(|member| member.finished.as_ref()).for_each(|end| seen.add(&end.cpus));
        seen.list()
    }

    /// What the buffers of all threads lie in.
    fn look_at_buffers(&self) -> Option<BufferPages> {
        let areas: Vec<_> = self.members.iter().filter_map(|m| Some(m.buffers.get()?.addresses.clone())).collect();
        let huge = Bytes(buffer::huge_bytes(&areas).ok()? as u64);
        Some(BufferPages { size: Bytes(areas.iter().map(|area| area.len() as u64).sum()), huge })
    }

    fn wait_until_ready(&mut self, control: &Control) -> Result<()> {
        let mut ready = 0;
        while ready < self.members.len() {
            match self.inbox.recv_timeout(POLL) {
                Ok(Message::Ready(registered)) => {
                    self.registered &= registered?;
                    ready += 1;
                }
                Ok(_) => {}
                Err(_) if self.members.iter().any(Member::is_gone) => return Err(died()),
                Err(_) if control.stopped() => return Err(stopped_before_start()),
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Lets all threads begin at `times.load_start`; see [`Shared::publish`].
    pub fn go(&self, times: Times, end: u64, begin_until: u64, give_up: u64) {
        self.shared.publish(times, end, begin_until, give_up);
        self.members.iter().for_each(|member| member.handle.thread().unpark());
    }

    /// Waits for the threads that ended cleanly. One that left I/O behind may hang in the kernel while
    /// it exits, and one that has not said goodbye hangs already: they are left to themselves.
    pub fn dismiss(&mut self) {
        for member in self.members.drain(..) {
            if member.finished.is_some_and(|f| !f.stalled) {
                let _ = member.handle.join();
            }
        }
    }
}

impl Drop for LoadThreads {
    fn drop(&mut self) {
        self.shared.abort();
        self.members.iter().for_each(|member| member.handle.thread().unpark());
    }
}

/// A load thread from its first to its last instruction.
fn work(post: Post, mut recorder: Recorder) {
    if let Err(error) = settle(&post) {
        recorder.wait_for_start(Err(error));
        return;
    }
    if (post.job.spec.is_open() || post.job.spec.think.is_some())
        && let Err(e) = clock::sleep_precisely()
    {
        let error = say!(
            "cannot set the timer slack of a load thread: {e}",
            "не удаётся включить точный таймер для потока нагрузки: {e}"
        );
        recorder.wait_for_start(Err(Error::preflight(error)));
        return;
    }
    match post.lane {
        Lane::IoUring(polling) => {
            run_queue(&post, recorder, |memory| Ring::new(post.file.clone(), memory, polling));
        }
        Lane::NvmePassthrough => {
            run_queue(&post, recorder, |memory| Passthrough::new(post.file.clone(), memory));
        }
        Lane::Libaio(syncs) => {
            run_queue(&post, recorder, |memory| Context::new(post.file.clone(), memory, syncs));
        }
        Lane::Null => run_queue(&post, recorder, |memory| Ok(Null::new(memory))),
        Lane::Psync => match SyncLane::new(&post.job, post.thread_of_job, post.file, post.pages, post.progress) {
            Ok(lane) => {
                let memory = lane.buffers().as_ptr_range();
                note(&post.buffers, memory.start.addr()..memory.end.addr(), lane.buffers());
                let start = recorder.wait_for_start(Ok(false));
                lane.run(recorder, start);
            }
            Err(e) => drop(recorder.wait_for_start(Err(no_setup(Lane::Psync, &e)))),
        },
    }
}

/// Takes the thread to its CPU and its memory to its node.
fn settle(post: &Post) -> Result<()> {
    let refused = |text| Err(Error::preflight(text));
    if let Some(cpu) = post.cpu {
        // What counts is what the kernel says afterwards.
        let pinned = affinity::pin_current(cpu).and_then(|()| affinity::allowed());
        match pinned {
            Ok(cpus) if cpus == [cpu] => {}
            Ok(_) => {
                return refused(say!(
                    "the kernel did not keep a load thread on CPU {cpu}",
                    "ядро не закрепило поток нагрузки за CPU {cpu}"
                ));
            }
            Err(e) => {
                return refused(say!(
                    "cannot pin a load thread to CPU {cpu}: {e}",
                    "не удаётся закрепить поток нагрузки за CPU {cpu}: {e}"
                ));
            }
        }
    }
    if let Some(node) = post.job.spec.place.memory
        && let Err(e) = numa::bind_memory(node)
    {
        return refused(say!(
            "cannot bind the memory of a load thread to NUMA node {node}: {e}",
            "не удаётся привязать память потока нагрузки к узлу NUMA {node}: {e}"
        ));
    }
    Ok(())
}

/// Notes where the buffers of a thread lie, the first of which is given; a kernel without NUMA knows no node.
fn note(post: &OnceLock<Buffers>, addresses: Range<usize>, first: &[u8]) {
    // A thread notes it once.
    let _ = post.set(Buffers { addresses, node: numa::node_of(first).ok() });
}

fn run_queue<Q: Queue>(post: &Post, mut recorder: Recorder, queue: impl FnOnce(Slots) -> std::io::Result<Q>) {
    let queue = |slots, len| {
        let mut memory = Slots::new(slots, len, post.pages)?;
        note(&post.buffers, memory.addresses(), memory.slot_mut(0));
        queue(memory)
    };
    match QueueLane::new(&post.job, &post.progress, queue) {
        Ok(mut lane) => {
            lane.append_to(&post.job, &post.file);
            let start = recorder.wait_for_start(Ok(lane.registered()));
            lane.run(recorder, start);
        }
        Err(e) => drop(recorder.wait_for_start(Err(no_setup(post.lane, &e)))),
    }
}

fn no_setup(lane: Lane, e: &std::io::Error) -> Box<Error> {
    // Somebody else took the requests since they were probed for.
    if matches!(lane, Lane::Libaio(_)) && e.kind() == std::io::ErrorKind::WouldBlock {
        return refused(lane.name(), &aio::explain(e));
    }
    let name = lane.name();
    Error::preflight(say!(
        "cannot set up a load thread ({name}): {e}",
        "не удаётся подготовить поток нагрузки ({name}): {e}"
    ))
    .hint(say!(
        "lower queue depth, jobs or block size, or raise the limits of memory and open files",
        "уменьшите глубину очереди, число заданий или размер блока либо поднимите пределы памяти и открытых файлов"
    ))
}

/// Somebody was faster than the load.
pub(crate) fn stopped_before_start() -> Box<Error> {
    Error::interrupted(say!("stopped before the load began", "остановлено до начала нагрузки"))
}

/// A load thread panicked.
pub(crate) fn died() -> Box<Error> {
    Error::bug(say!("a load thread died", "поток нагрузки аварийно завершился"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::tests::{stream, trial};
    use crate::target::Target;
    use stend_base::Bytes;
    use stend_base::Kind;
    use stend_sys::aio::Syncs;
    use stend_sys::uring::Polling;

    #[test]
    fn a_load_thread_that_dies_while_it_is_set_up_is_our_defect_not_a_hang() {
        let trial = trial(Bytes::mib(1), vec![stream()]);
        let mut jobs = crate::layout::jobs(&trial, u64::MAX).unwrap();
        jobs[0].area.blocks = 0;
        let file = IoFile::create_scratch(std::path::Path::new("/var/tmp"), 1 << 20, true).unwrap();
        let target = Target::new(&file, &trial, &jobs).unwrap();
        for lane in [Lane::Psync, Lane::IoUring(Polling::Off), Lane::Libaio(Syncs::Queued)] {
            let task = Task { trial: &trial, jobs: &jobs, lane, target: &target, fault_limit: 1 };
            let error = LoadThreads::muster(&task, &Control::new()).err().unwrap();
            assert_eq!(error.kind, Kind::Bug, "{error}");
        }
    }
}
