//! How many load hosts hold an objective, each of them by itself, and what is used up where they do not. Must not judge a trial: the rule
//! is that of `search`.

use crate::findings::{Checked, HostSearchFinding, HostUsedUp, SearchedHosts};
use crate::search::{looks, share};
use crate::used_up::Used;
use stend_base::{Lang, Nanos, Say, Share, format, say_in};
use stend_plan::Plan;
use stend_plan::ladder::Ladder;
use stend_record::{HostId, Role, RunRecord, TrialRecord, TrialStatus};

/// What the searches for a number of hosts found, those that began.
pub(crate) fn findings(run: &RunRecord, plan: &Plan) -> Vec<HostSearchFinding> {
    plan.ladders.iter().filter_map(|ladder| finding(run, plan, ladder)).collect()
}

fn finding(run: &RunRecord, plan: &Plan, ladder: &Ladder) -> Option<HostSearchFinding> {
    let search = ladder.hosts()?;
    let mut climb = ladder.climb();
    let mut looks = looks(run, plan, ladder).peekable();
    looks.peek()?;
    for (case, look) in looks {
        climb.learn(ladder.cells.iter().position(|cell| *cell == case)?, look);
    }
    let answer = climb.answer();
    let searched = |rung: usize| {
        let (looks, missed) = climb.seen(rung);
        SearchedHosts { hosts: climb.value(rung) as u32, looks, missed }
    };
    let trial = &plan.cases.get(*ladder.cells.first()? as usize)?.trial;
    let (used_up, checked) = answer.missed.map_or_else(Default::default, |rung| used_up(run, ladder.cells[rung]));
    Some(HostSearchFinding {
        label: ladder.label.clone(),
        quantile: Share(search.quantile.as_share()),
        limit: search.limit,
        has_rate: trial.streams.iter().any(|stream| stream.rate.is_some()),
        of: run.loads().count() as u32,
        held: answer.held.map(searched),
        missed: answer.missed.map(searched),
        confirmed: answer.confirmed,
        used_up,
        checked,
    })
}

/// What was used up in the trials of a case, on the hosts that made it and on those that were watched, and what all of them tell of, as far
/// as they tell anything.
fn used_up(run: &RunRecord, case: u32) -> (Vec<HostUsedUp>, Checked) {
    let trials = || run.trials.iter().filter(|trial| trial.case == case);
    let windows = |host: HostId, role: Role| -> Vec<(Nanos, Nanos)> {
        let took = |trial: &&TrialRecord| role != Role::Load || trial.by_host().iter().any(|(id, ..)| *id == host);
        let ended = trials().filter(took).filter_map(|trial| trial.outcome.as_ref());
        let whole = ended.filter(|end| end.status != TrialStatus::Interrupted);
        whole.map(|end| (end.window_start, end.window_end)).collect()
    };
    let all = (0..).map(HostId).zip(run.hosts());
    let used = all.map(|(id, host)| {
        let windows = windows(id, host.role);
        (host.called().to_string(), Used::of(&host.samples, &windows))
    });
    let used: Vec<(String, Used)> = used.filter(|(_, used)| used.checked() != Checked::default()).collect();
    let of_host = |(host, used): &(String, Used)| {
        let host = host.clone();
        used.up().into_iter().map(move |what| HostUsedUp { host: host.clone(), what }).collect::<Vec<_>>()
    };
    let checked = used.iter().map(|(_, used)| used.checked()).reduce(Checked::and).unwrap_or_default();
    (used.iter().flat_map(of_host).collect(), checked)
}

impl HostSearchFinding {
    /// The answer as a sentence or two.
    pub fn say(&self) -> Say {
        Say::both(|l| self.sentence(l))
    }

    /// The answer for a headline.
    pub fn in_short(&self) -> Say {
        Say::both(|l| self.short(l))
    }

    fn short(&self, l: Lang) -> String {
        let (label, of) = (&self.label, self.of);
        let objective = say_in!(
            l,
            "{share} of the I/Os of each within {limit}",
            "{share} операций каждой в пределах {limit}",
            share = share(self.quantile, l),
            limit = format::latency(self.limit, l)
        );
        let number = |at: &SearchedHosts| at.hosts;
        let answer = match (self.held.as_ref().map(number), self.missed.as_ref().map(number)) {
            (Some(held), Some(missed)) => say_in!(
                l,
                "{label}: {held} of {of} load hosts hold the objective, {missed} do not ({objective}).",
                "{label}: цель выполняется на {held} из {of} нагружающих машин, на {missed} — нет ({objective})."
            ),
            (Some(held), None) if held == of => say_in!(
                l,
                "{label}: all {of} load hosts hold the objective ({objective}).",
                "{label}: цель выполняется на всех нагружающих машинах, их {of} ({objective})."
            ),
            (Some(held), None) => say_in!(
                l,
                "{label}: {held} of {of} load hosts hold the objective, more were not tried ({objective}).",
                "{label}: цель выполняется на {held} из {of} нагружающих машин, больше не испытано ({objective})."
            ),
            (None, Some(missed)) => say_in!(
                l,
                "{label}: not even {missed} of {of} load hosts hold the objective ({objective}).",
                "{label}: цель не выполняется даже на {missed} из {of} нагружающих машин ({objective})."
            ),
            (None, None) => self.nothing(l),
        };
        let why = match &self.missed {
            Some(missed) if !self.used_up.is_empty() => self.why(missed.hosts, l),
            _ => String::new(),
        };
        answer + &why + self.end(l)
    }

    fn objective(&self, l: Lang) -> String {
        let (share, limit) = (share(self.quantile, l), format::latency(self.limit, l));
        match self.has_rate {
            true => say_in!(
                l,
                "on each its rate is served and {share} of the I/Os end within {limit}",
                "на каждой выполнена вся частота и {share} операций укладываются в {limit}"
            ),
            false => say_in!(
                l,
                "on each {share} of the I/Os end within {limit}",
                "на каждой {share} операций укладываются в {limit}"
            ),
        }
    }

    fn sentence(&self, l: Lang) -> String {
        let told = |at: &SearchedHosts| {
            let (hosts, held, of) = (at.hosts, at.looks - at.missed, at.looks);
            say_in!(l, "{hosts} ({held} of {of} trials)", "{hosts} (испытаний: {held} из {of})")
        };
        let (label, of, objective) = (&self.label, self.of, self.objective(l));
        let mut text = match (&self.held, &self.missed) {
            (Some(held), Some(missed)) => say_in!(
                l,
                "{label}: {held} of {of} load hosts hold the objective, {missed} do not: {objective}.",
                "{label}: цель выполняется при числе нагружающих машин {held} из {of}, а при {missed} — нет: {objective}.",
                held = told(held),
                missed = told(missed)
            ),
            (Some(held), None) => say_in!(
                l,
                "{label}: every number of load hosts that was tried holds the objective, up to {held} of {of}: {objective}.",
                "{label}: цель выполняется при любом испытанном числе нагружающих машин, вплоть до {held} из {of}: {objective}.",
                held = told(held)
            ),
            (None, Some(missed)) => say_in!(
                l,
                "{label}: not even {missed} of {of} load hosts hold the objective: {objective}.",
                "{label}: цель не выполняется даже при числе нагружающих машин {missed} из {of}: {objective}.",
                missed = told(missed)
            ),
            (None, None) => self.nothing(l),
        };
        if let Some(missed) = &self.missed {
            text += &self.why(missed.hosts, l);
        }
        text + self.end(l)
    }

    /// Every trial lost hosts.
    fn nothing(&self, l: Lang) -> String {
        let label = &self.label;
        say_in!(
            l,
            "{label}: no trial had all the load hosts that it was asked of.",
            "{label}: ни в одном испытании не были заняты все нужные нагружающие машины."
        )
    }

    fn end(&self, l: Lang) -> &'static str {
        if self.confirmed { "" } else { l.pick(" The search did not finish.", " Поиск не завершён.") }
    }

    fn why(&self, missed: u32, l: Lang) -> String {
        if self.used_up.is_empty() {
            return self.checked.nothing_used_up(missed, l);
        }
        let one = |used: &HostUsedUp| format!("`{}`: {}", used.host, used.what.words(l));
        let words = self.used_up.iter().map(one).collect::<Vec<_>>().join("; ");
        say_in!(l, " Used up at {missed}: {words}.", " При {missed} исчерпано: {words}.")
    }
}

#[cfg(test)]
mod tests;
