//! The checks: one list of their numbers and names, and what one of them finds. How they are asked is in [`crate::check`] and
//! [`crate::compare`], and of published tables in the crate `audit`.

use serde::{Deserialize, Serialize};
use std::fmt;
use stend_base::Say;

/// Numbers with the names of what is asked of a run or comparison, and of a published table.
macro_rules! checks {
    ($($id:ident: $($en:literal, $ru:literal)? $(, table $table_en:literal, $table_ru:literal)?
        $(table $only_en:literal, $only_ru:literal)?;)+) => {
        /// Number of a check in the catalogue of `docs/method/checks.md`, those of tables alone in `docs/formats/published.md`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum CheckId {
            $(
                #[doc = concat!("In the catalogue: ", stringify!($id), ".")]
                $id,
            )+
        }

        impl CheckId {
            /// Every check, by number.
            pub const ALL: &[CheckId] = &[$(CheckId::$id,)+];

            /// The number, e.g. `H02`.
            pub fn code(self) -> &'static str {
                match self {
                    $(CheckId::$id => stringify!($id),)+
                }
            }

            /// English and Russian names, of what is asked of runs and of tables.
            fn names(self) -> [Option<(&'static str, &'static str)>; 2] {
                let mut names = [None; 2];
                match self {
                    $(CheckId::$id => {
                        $(names[0] = Some(($en, $ru));)?
                        $(names[1] = Some(($table_en, $table_ru));)?
                        $(names[1] = Some(($only_en, $only_ru));)?
                    })+
                }
                names
            }
        }
    };
}

checks! {
    H01: "I/Os × block size = bytes", "операции × блок = байты", table "IOPS × block size = throughput", "IOPS × размер блока = пропускная способность";
    H02: "Little's law", "закон Литтла", table "rate × latency = I/Os in flight", "IOPS × задержка = операций в очереди";
    H03: "mix as declared", "смесь как заявлено";
    H04: "executed as declared", "выполнено как заявлено", table "as the suite declares", "как заявлено в наборе";
    H05: "no copied values", "нет повторённых значений", table "no two cells have the same digits", "нет двух ячеек с одинаковыми цифрами";
    H06: table "percentages follow from the numbers", "проценты следуют из чисел";
    H07: "below the ceiling", "ниже потолка", table "no faster than the drives", "не быстрее дисков";
    H08: "sums agree", "суммы сходятся";
    H09: "shape of a sweep", "вид зависимости", table "a sweep over block sizes has its shape", "зависимость от размера блока имеет должный вид";
    H10: "working set beyond caches", "рабочая область больше кэшей";
    H11: "bytes at the drives", "байты на накопителях";
    H12: "past the page cache", "мимо страничного кэша";
    H13: "beyond the cache of ZFS", "мимо кэша ZFS";
    H14: "no cache that fills or warms", "нет кэша, который наполняется или прогревается";
    H15: "no burst in what was measured", "всплеск не попал в измерение";
    H16: "streams do not overlap", "потоки не перекрываются";
    H17: "data that cannot be reduced", "данные не сжимаются и не повторяются";
    H18: "the range was written", "область записана";
    H19: "random places differ", "случайные места различны";
    H20: "preconditioned", "накопитель подготовлен";
    H21: "steady state", "установившийся режим";
    H22: "warm-up was long enough", "разгона хватило";
    H23: "measured long enough", "измерялось достаточно долго";
    H24: "precise enough", "достаточно точно";
    H25: "no work in the background", "без фоновой работы";
    H26: "no foreign I/O", "нет чужого ввода-вывода";
    H27: "equal fill", "равное заполнение";
    H30: "syncs reach the medium", "синхронизация доходит до носителя";
    H31: "volatile caches and unsafe modes", "энергозависимые кэши и небезопасные режимы";
    H32: "equal durability", "равные гарантии сохранности";
    H40: "the engine kept up", "генератор успевал";
    H41: "queue depth at the device", "глубина очереди на устройстве";
    H42: "engine headroom", "запас генератора";
    H43: "offered load was served", "предложенная нагрузка обслужена";
    H44: "clock", "часы";
    H45: "NUMA placement", "размещение по NUMA";
    H46: "interrupts spread", "прерывания распределены";
    H47: "even CPU frequency", "ровная частота процессоров";
    H48: "no heat", "без перегрева";
    H49: "no stolen CPU time", "процессор не отбирали";
    H50: "memory was enough", "памяти хватало";
    H60: "PCIe link", "канал PCIe";
    H61: "network", "сеть";
    H62: "alignment", "выравнивание";
    H63: "write amplification", "усиление записи";
    H64: "redundancy and paths", "избыточность и пути";
    H65: "no rate limiter", "нет ограничителя скорости";
    H66: "effective I/O size", "действительный размер операций";
    H70: "one variable", "одна переменная";
    H71: "no drift", "нет дрейфа";
    H72: "A/A floor", "шум A/A";
    H73: "nothing left out", "ничего не пропущено", table "nothing of the suite left out", "из набора ничего не пропущено";
    H74: "arithmetic of ratios", "арифметика отношений";
    H75: "latency by its distribution", "задержка распределением", table "what is printed twice agrees", "напечатанное дважды совпадает";
    H76: "no errors", "без ошибок";
    H77: "cost of watching", "цена наблюдения";
    H78: "no rest before trials", "без простоя перед испытаниями";
    H79: "data as written", "данные как записаны";
    H80: "trace replayed in time", "трасса воспроизведена вовремя";
    H81: "durable after a crash", "сохранность при сбое";
    H82: table "text, table and command agree", "текст, таблица и команда согласны";
    H83: table "ratios in the text fit the numbers", "отношения в тексте следуют из чисел";
    H84: table "counts multiply as the text says", "количества перемножаются, как сказано";
    H85: table "no faster than the links", "не быстрее каналов связи";
    H86: table "the third number of Little's law", "третье число закона Литтла";
    H87: table "slips of units stay alone", "ошибки единиц не тянутся по таблице";
    H88: table "no cell is another one rounded", "нет ячеек, округлённых с других";
}

impl CheckId {
    /// What it asks of a run; `None`: it is for published tables alone.
    pub fn name(self) -> Option<Say> {
        said(self.names()[0])
    }

    /// What it asks of a published table; `None`: a table does not hold what it needs.
    pub fn name_of_table(self) -> Option<Say> {
        said(self.names()[1])
    }

    /// The numbers of several.
    pub fn codes(ids: &[CheckId]) -> Vec<&'static str> {
        ids.iter().map(|id| id.code()).collect()
    }
}

fn said(name: Option<(&str, &str)>) -> Option<Say> {
    name.map(|(en, ru)| Say { en: en.to_string(), ru: ru.to_string() })
}

impl fmt::Display for CheckId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// Result of one check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckResult {
    /// Which one.
    pub id: CheckId,
    /// Short name.
    pub name: Say,
    /// Result.
    pub status: CheckStatus,
    /// What was measured, with unit.
    pub measured: Say,
    /// The limit it is held against.
    pub limit: Say,
    /// What it means here, and what to do; empty when it passed.
    pub meaning: Say,
}

impl CheckResult {
    /// The result of a check of a run or comparison, with its name.
    pub fn new(id: CheckId, status: CheckStatus, measured: Say, limit: Say, meaning: Say) -> CheckResult {
        CheckResult { id, name: id.name().unwrap_or_else(|| Say::same("")), status, measured, limit, meaning }
    }
}

/// Result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    /// Holds.
    Pass,
    /// The number may be published only with this label.
    Warn,
    /// The number may not be published as a comparison.
    Fail,
    /// The data to decide are not there; counts as a warning.
    NotMeasurable,
    /// Enough for screening, and not for a published number.
    ScreeningOnly,
    /// Does not concern this case.
    NotApplicable,
}
