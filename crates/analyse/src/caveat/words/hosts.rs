//! Sentences of caveats about load hosts.

use super::Words;
use crate::findings::Caveat;
use crate::phrase::both;
use stend_base::text::{plural_en, plural_ru};
use stend_base::{Lang, format, say};

/// A caveat about lost load hosts in words.
pub(super) fn load_host_lost(caveat: &Caveat) -> Words {
    let advice = say!(
        "A case counts only trials of the same hosts. Find out why the host was lost; for numbers of all hosts run it again.",
        "В случае учтены испытания одних и тех же машин. Выясните, почему машина потеряна; чтобы получить числа всех машин, повторите прогон."
    );
    Words { text: both(|lang| lost(caveat, lang)), advice }
}

fn lost(caveat: &Caveat, lang: Lang) -> String {
    let Caveat::LoadHostLost { hosts, of_hosts, host, after, why, trials, of_trials, cases } = caveat else {
        return String::new();
    };
    let (after, cases) = (format::duration(*after, lang), u64::from(*cases));
    let what = match (lang, hosts) {
        (Lang::En, 1) => {
            format!("Load host `{host}` was lost {after} after the run began ({why}); the others went on.")
        }
        (Lang::Ru, 1) => {
            format!(
                "Нагружающая машина `{host}` потеряна через {after} после начала прогона ({why}); остальные продолжили."
            )
        }
        (Lang::En, _) => format!(
            "{hosts} of {of_hosts} load hosts were lost, the first (`{host}`) {after} after the run began ({why}); the others went on."
        ),
        (Lang::Ru, _) => format!(
            "Потеряно нагружающих машин: {hosts} из {of_hosts}, первая (`{host}`) — через {after} после начала прогона ({why}); остальные продолжили."
        ),
    };
    let without = match lang {
        Lang::En => {
            let are = plural_en(u64::from(*trials), "is", "are");
            format!(" {trials} of {of_trials} trials {are} not of all hosts.")
        }
        Lang::Ru => format!(" Не на всех машинах проведено испытаний: {trials} из {of_trials}."),
    };
    let numbers = match (cases, lang) {
        (0, _) => String::new(),
        (_, Lang::En) => {
            format!(" The numbers of {cases} {} are those of fewer hosts.", plural_en(cases, "case", "cases"))
        }
        (_, Lang::Ru) => {
            format!(
                " Числа {cases} {} получены на меньшем числе машин.",
                plural_ru(cases, "случая", "случаев", "случаев")
            )
        }
    };
    what + &without + &numbers
}
