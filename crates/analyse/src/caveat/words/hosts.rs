//! Sentences of caveats about load hosts.

use super::Words;
use crate::findings::Caveat;
use stend_base::text::{plural_en, plural_ru};
use stend_base::{Lang, Say, format, say, say_in};

/// A caveat about lost load hosts in words.
pub(super) fn load_host_lost(caveat: &Caveat) -> Words {
    let advice = say!(
        "A case counts only trials of the same hosts. Find out why the host was lost; for numbers of all hosts run it again.",
        "В случае учтены испытания одних и тех же машин. Выясните, почему машина потеряна; чтобы получить числа всех машин, повторите прогон."
    );
    Words { text: Say::both(|lang| lost(caveat, lang)), advice }
}

/// Most hosts whose names a sentence has.
const NAMES_MAX: usize = 6;

/// What holds on load hosts other than the first, in words.
pub(super) fn on_load_hosts(hosts: &[String], of_hosts: u32, caveat: &Caveat) -> Words {
    let (count, Words { text, advice }) = (hosts.len(), caveat.words());
    let mut names = hosts.iter().take(NAMES_MAX).cloned().collect::<Vec<_>>().join(", ");
    if count > NAMES_MAX {
        names.push_str(", …");
    }
    let stend_base::Say { en, ru } = text;
    Words {
        text: say!(
            "On {count} of {of_hosts} load hosts ({names}): {en}",
            "На {count} из {of_hosts} нагружающих машин ({names}): {ru}"
        ),
        advice,
    }
}

fn lost(caveat: &Caveat, lang: Lang) -> String {
    let Caveat::LoadHostLost { hosts, of_hosts, host, after, why, trials, of_trials, cases, of_others } = caveat else {
        return String::new();
    };
    let (after, cases) = (format::duration(*after, lang), u64::from(*cases));
    let what = match hosts {
        1 => say_in!(
            lang,
            "Load host `{host}` was lost {after} after the run began ({why}); the others went on.",
            "Нагружающая машина `{host}` потеряна через {after} после начала прогона ({why}); остальные продолжили."
        ),
        _ => say_in!(
            lang,
            "{hosts} of {of_hosts} load hosts were lost, the first (`{host}`) {after} after the run began ({why}); the others went on.",
            "Потеряно нагружающих машин: {hosts} из {of_hosts}, первая (`{host}`) — через {after} после начала прогона ({why}); остальные продолжили."
        ),
    };
    let lack = plural_en(u64::from(*trials), "lacks", "lack");
    let without = say_in!(
        lang,
        " {trials} of {of_trials} trials {lack} a host that was asked.",
        " Не на всех нужных машинах проведено испытаний: {trials} из {of_trials}."
    );
    let others = match of_others {
        0 => String::new(),
        _ => say_in!(
            lang,
            " {of_others} do not count, because they are of other hosts than the rest of their case.",
            " Не засчитано, так как проведено на других машинах, чем остальные в том же случае: {of_others}."
        ),
    };
    let of_cases = lang.pick(plural_en(cases, "case", "cases"), plural_ru(cases, "случая", "случаев", "случаев"));
    let numbers = match cases {
        0 => String::new(),
        _ => say_in!(
            lang,
            " The numbers of {cases} {of_cases} are those of fewer hosts.",
            " Числа {cases} {of_cases} получены на меньшем числе машин."
        ),
    };
    what + &without + &others + &numbers
}
