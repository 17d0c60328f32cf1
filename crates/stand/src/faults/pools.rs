//! Pools of ZFS and btrfs: members that go and come as new ones, scrubs, and what mends copies that were left behind. Reads the machine;
//! must not change it.

use super::clusters;
use super::lower_devices::{LowerDevices, too_few};
use super::missing_redundancy::MissingRedundancy;
use super::volumes::RedundantGroup;
use crate::change::{Action, Change, run};
use crate::command::words;
use crate::devices::Device;
use crate::node::Node;
use crate::pools::{self, Health};
use crate::roots::Roots;
use stend_base::{Say, say};
use stend_spec::fault::Which;

type Found<T> = std::result::Result<T, Say>;

/// A member of a pool goes, and comes back as a new drive: without labels and table, so that all of it is written again.
pub(super) fn fail(lower: &LowerDevices, which: Which, block: u32) -> Found<Change> {
    let Some(pool) = lower.pools().into_iter().next() else { return Err(no_pool(lower)) };
    must_be_whole(lower, &pool)?;
    let members = lower.pool_members(&pool);
    let (node, device) = *members.get(which.index(block, members.len())).ok_or_else(|| too_few(members.len()))?;
    if !device.is_redundant() {
        return Err(say!(
            "{pool} is a stripe: without a member all of its data would be lost",
            "{pool} — полоса без избыточности: без одного накопителя были бы потеряны все данные"
        ));
    }
    let path = &device.path;
    let mut apply = vec![
        run("zpool offline", &[&pool, path]),
        // Its last I/O is let through first.
        Action::LetGo(words("zpool labelclear -f", &[path])),
    ];
    let whole = disk(lower, node, device);
    if let Some(disk) = &whole {
        apply.push(Action::LetGo(words("wipefs --all --quiet", &[disk])));
    }
    let new = whole.as_ref().unwrap_or(path);
    let undo = vec![Action::LetGo(words("zpool replace -f", &[&pool, path, new]))];
    Ok(Change::unseen(Say::same(&node.name), apply, undo))
}

/// A spare of a pool gets a copy of a member. It is let go afterwards, and the member, which kept its place beside it, has that alone
/// again: the pool is what it was, without a second copy.
//= OpenZFS, zpoolconcepts(7), "Hot Spares": "an in-progress spare replacement can be cancelled by detaching the hot spare"
pub(super) fn replace(lower: &LowerDevices, which: Which, block: u32) -> Found<Change> {
    let Some(pool) = lower.pools().into_iter().next() else { return Err(no_pool(lower)) };
    must_be_whole(lower, &pool)?;
    let members = lower.pool_members(&pool);
    let (node, device) = *members.get(which.index(block, members.len())).ok_or_else(|| too_few(members.len()))?;
    if !device.is_redundant() {
        return Err(say!(
            "{pool} is a stripe, which has no spares",
            "{pool} — полоса без избыточности, запасных накопителей у неё не бывает"
        ));
    }
    let spare = lower.pool_spare(&pool).ok_or_else(|| {
        say!(
            "{pool} has no spare: give the layer `zfs: {{spares: 1}}` and one drive more",
            "в {pool} нет запасного накопителя: добавьте слою `zfs: {{spares: 1}}` и ещё один накопитель"
        )
    })?;
    let detach = Action::LetGo(words("zpool detach", &[&pool, spare]));
    Ok(Change::unseen(Say::same(&node.name), vec![run("zpool replace", &[&pool, &device.path, spare])], [detach]))
}

/// The drive whose first partition ZFS has made for itself; `None` where it was given a partition, or uses all of the device.
fn disk(lower: &LowerDevices, node: &Node, device: &Device) -> Option<String> {
    let slot = node.partition.as_ref().filter(|_| !lower.is_made(node))?;
    match device.path.strip_prefix("/dev/disk/").and_then(|_| device.path.strip_suffix("-part1")) {
        Some(path) => Some(path.to_string()),
        None => Some(format!("/dev/{}", slot.disk)),
    }
}

pub(super) fn must_be_whole(lower: &LowerDevices, pool: &str) -> Found<()> {
    match lower.health(pool) {
        Some(Health { missing: 0, resilver: None, .. }) => Ok(()),
        Some(Health { missing: 0, .. }) => Err(say!("{pool} is resilvering", "{pool} восстанавливается")),
        Some(Health { missing, .. }) => {
            Err(say!("{pool} lacks {missing} members already", "в {pool} уже не хватает накопителей: {missing}"))
        }
        None => Err(say!(
            "`zpool status {pool}` does not answer, so nothing tells whether the pool is whole",
            "`zpool status {pool}` не отвечает, поэтому неизвестно, цел ли пул"
        )),
    }
}

fn no_pool(lower: &LowerDevices) -> Say {
    match lower.btrfs().is_empty() {
        true => say!(
            "there is no array of md below the target, and no pool of ZFS that the stand of this run made",
            "под объектом нет ни массива md, ни пула ZFS, созданного стендом этого прогона"
        ),
        false => say!(
            "btrfs lets no drive go while it is mounted: take `drive.error`, with a layer `dm: {{linear: whole}}` on the drives of the stand",
            "btrfs не отдаёт накопитель, пока смонтирован: возьмите `drive.error` и положите на накопители стенда слой `dm: {{linear: whole}}`"
        ),
    }
}

/// All that a pool or a btrfs keeps is compared with its checksums. `None` where there is neither.
pub(super) fn scrub(lower: &LowerDevices) -> Option<Change> {
    let mut change = Change::unseen(Say::same(""), Vec::new(), []);
    for pool in lower.pools() {
        change.apply.push(run("zpool scrub", &[&pool]));
        change.undo_by(cancel_pool_scrub(&pool));
    }
    for at in lower.btrfs() {
        change.apply.push(start_scrub(&at));
        change.undo_by(cancel_scrub(&at));
    }
    (!change.apply.is_empty()).then_some(change)
}

fn start_scrub(at: &str) -> Action {
    run("btrfs --quiet scrub start", &[at])
}

fn cancel_scrub(at: &str) -> Action {
    Action::Cancel {
        words: words("btrfs --quiet scrub cancel", &[at]),
        state: words("btrfs scrub status", &[at]),
        while_it_shows: "running".into(),
    }
}

/// What brings a drive that failed its I/Os for a while up to date again.
pub(super) fn mend(lower: &LowerDevices) -> Vec<Action> {
    let pools = lower.pools().into_iter().map(|pool| run("zpool clear", &[&pool]));
    // Reads correct what they come upon; a scrub comes upon all that is part of the last commit, so that one is made first. A scrub
    // that goes on has passed blocks by.
    let btrfs = lower
        .btrfs()
        .into_iter()
        .flat_map(|at| [run("btrfs --quiet filesystem sync", &[&at]), cancel_scrub(&at), start_scrub(&at)]);
    pools.chain(btrfs).collect()
}

/// Whatever of a pool is not as it was written is written anew from the others: all of it is read, which is waited for.
//= OpenZFS, zpool-scrub(8): "-w: Wait until scrub has completed before returning."
pub(super) fn heal(pool: &str) -> Vec<Action> {
    let mut actions = vec![cancel_pool_scrub(pool)];
    // What was found stands in the run file.
    actions.extend(["zpool scrub -w", "zpool status", "zpool clear"].map(|line| run(line, &[pool])));
    actions
}

/// The same of a btrfs.
//= btrfs-progs, btrfs-scrub(8): "-B: do not background and print scrub statistics when finished"
pub(super) fn heal_btrfs(at: &str) -> Vec<Action> {
    let sync = run("btrfs --quiet filesystem sync", &[at]);
    vec![sync, cancel_scrub(at), run("btrfs scrub start -B", &[at])]
}

fn cancel_pool_scrub(pool: &str) -> Action {
    Action::Cancel {
        words: words("zpool scrub -s", &[pool]),
        state: words("zpool status", &[pool]),
        while_it_shows: "scrub in progress".into(),
    }
}

/// Pools, btrfs, groups of LVM and clusters of a trial whose redundancy is waited for.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub pools: Vec<String>,
    pub btrfs: Vec<String>,
    pub groups: Vec<RedundantGroup>,
    /// Settings of clusters of Ceph.
    pub clusters: Vec<String>,
}

impl Kept {
    pub(super) fn of(lower: &LowerDevices) -> Kept {
        let clusters = lower.clusters().iter().map(|cluster| cluster.settings.clone()).collect();
        Kept { pools: lower.pools(), btrfs: lower.btrfs(), groups: RedundantGroup::of(lower), clusters }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pools.is_empty() && self.btrfs.is_empty() && self.groups.is_empty() && self.clusters.is_empty()
    }

    /// The first that lacks redundancy. The kernel reports it for a pool; `asked` asks tools, too, which knows of copies that are
    /// being brought up to date, and costs a process.
    pub(super) fn missing(&self, asked: bool) -> Option<MissingRedundancy> {
        let roots = Roots::host();
        let of_pool = |pool: &String| {
            let state = pools::state(&roots, pool).unwrap_or_default();
            lacking(pool, &state, asked.then(|| pools::health(&roots, pool)))
        };
        let of_btrfs = |at: &String| scrubbed(at, &pools::ask(&["btrfs", "scrub", "status", at]));
        let btrfs = || self.btrfs.iter().filter(|_| asked).find_map(of_btrfs);
        let clusters = || self.clusters.iter().filter(|_| asked).find_map(|settings| clusters::missing(settings));
        let groups = || self.groups.iter().filter(|_| asked).find_map(RedundantGroup::missing);
        self.pools.iter().find_map(of_pool).or_else(btrfs).or_else(groups).or_else(clusters)
    }
}

/// What a pool lacks, by its state in the kernel and by its tool, if that was asked.
fn lacking(pool: &str, state: &str, asked: Option<Option<Health>>) -> Option<MissingRedundancy> {
    let (text, is_mended) = match &asked {
        Some(Some(Health { resilver: Some(done), .. })) => (format!("resilver of {pool}: {done} %"), true),
        // Unless a tool was asked it is not known that nothing is done about it.
        _ if state != "ONLINE" => (format!("{pool} is {state}"), asked.is_none()),
        Some(None) => (format!("zpool status of {pool} does not answer"), false),
        Some(Some(_)) | None => return None,
    };
    Some(MissingRedundancy { text, is_mended })
}

/// What a btrfs lacks, by what `btrfs scrub status` prints of it: a scrub goes on, or left blocks of which no copy was right.
fn scrubbed(at: &str, status: &str) -> Option<MissingRedundancy> {
    if status.lines().any(|line| line.starts_with("Status:") && line.contains("running")) {
        return Some(MissingRedundancy { text: format!("scrub of {at}"), is_mended: true });
    }
    let left = status.lines().find_map(|line| line.trim().strip_prefix("Uncorrectable:"))?.trim();
    (left != "0")
        .then(|| MissingRedundancy { text: format!("{at}: {left} errors that no copy mends"), is_mended: false })
}

#[cfg(test)]
mod tests;
