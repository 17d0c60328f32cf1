//! Texts for people, always in both languages: a text that lacks one does not compile.

use serde::{Deserialize, Serialize};

/// Language of everything a person reads. Machine output (`--json`) is not translated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Russian.
    Ru,
}

impl Lang {
    /// The language meant by a POSIX locale such as `ru_RU.UTF-8`; anything but Russian is English.
    pub fn from_locale(locale: &str) -> Lang {
        if locale.to_ascii_lowercase().starts_with("ru") { Lang::Ru } else { Lang::En }
    }

    /// One of two words.
    pub fn pick<'a>(self, en: &'a str, ru: &'a str) -> &'a str {
        match self {
            Lang::En => en,
            Lang::Ru => ru,
        }
    }

    /// The language tag used in HTML and on the command line.
    pub fn tag(self) -> &'static str {
        match self {
            Lang::En => "en",
            Lang::Ru => "ru",
        }
    }
}

/// One statement in every language. Made by [`say!`](crate::say).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Say {
    /// English text.
    pub en: String,
    /// Russian text.
    pub ru: String,
}

impl Say {
    /// The text in `lang`.
    pub fn get(&self, lang: Lang) -> &str {
        match lang {
            Lang::En => &self.en,
            Lang::Ru => &self.ru,
        }
    }

    /// The same words in every language: names, numbers, commands.
    pub fn same(text: impl Into<String>) -> Say {
        let en = text.into();
        Say { ru: en.clone(), en }
    }

    /// A text made for each language.
    pub fn both(text: impl Fn(Lang) -> String) -> Say {
        Say { en: text(Lang::En), ru: text(Lang::Ru) }
    }
}

/// Builds a [`Say`] from an English and a Russian format string; both capture variables by name. With `|lang|` before them, they also take
/// values as `name = value` that are worded by the language: `say!(|l| "{rate} left", "осталось {rate}", rate = iops(value, l))`.
#[macro_export]
macro_rules! say {
    ($en:literal, $ru:literal $(,)?) => {
        $crate::text::Say { en: format!($en), ru: format!($ru) }
    };
    (|$lang:ident| $en:literal, $ru:literal $(, $name:ident = $value:expr)* $(,)?) => {
        $crate::text::Say::both(|$lang| $crate::say_in!($lang, $en, $ru $(, $name = $value)*))
    };
}

/// A text in one language from an English and a Russian format string, where what it names differs between the languages. Both capture
/// variables by name or take them as `name = value`; a name that either of them lacks, or has too much, does not compile.
#[macro_export]
macro_rules! say_in {
    ($lang:expr, $en:literal, $ru:literal $(, $name:ident = $value:expr)* $(,)?) => {
        match $lang {
            $crate::text::Lang::En => format!($en $(, $name = $value)*),
            $crate::text::Lang::Ru => format!($ru $(, $name = $value)*),
        }
    };
}

/// The Russian plural form for `n`: one (1, 21), few (2–4, 22), many (0, 5–20).
pub fn plural_ru<'a>(n: u64, one: &'a str, few: &'a str, many: &'a str) -> &'a str {
    match (n % 10, n % 100) {
        (_, 11..=14) => many,
        (1, _) => one,
        (2..=4, _) => few,
        _ => many,
    }
}

/// The English plural form for `n`.
pub fn plural_en<'a>(n: u64, one: &'a str, many: &'a str) -> &'a str {
    if n == 1 { one } else { many }
}

/// A number with its noun: `1 warning`, `2 предупреждения`; nouns for one and for many, in Russian for 1, for 2 to 4 and for 5.
pub fn counted(count: u64, en: [&str; 2], ru: [&str; 3]) -> Say {
    let (noun, noun_ru) = (plural_en(count, en[0], en[1]), plural_ru(count, ru[0], ru[1], ru[2]));
    say!("{count} {noun}", "{count} {noun_ru}")
}

/// The first names of a list, and how many more there are: `a; b; c and 4 more`. Names may have commas.
pub fn listed(names: &[String]) -> Say {
    const MOST: usize = 3;
    let shown = names.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join("; ");
    match names.len().saturating_sub(MOST) {
        0 => Say::same(shown),
        more => say!("{shown} and {more} more", "{shown} и ещё {more}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_in_one_language_takes_captured_and_named_values() {
        let depth = 4;
        let told =
            |lang: Lang| say_in!(lang, "{depth} of {all} in flight", "в очереди {depth} из {all}", all = lang.tag());
        assert_eq!((told(Lang::En), told(Lang::Ru)), ("4 of en in flight".into(), "в очереди 4 из ru".into()));
    }

    #[test]
    fn a_long_list_is_cut_and_counted() {
        let names: Vec<String> = ["a", "b, x 1", "c", "d", "e"].map(String::from).to_vec();
        assert_eq!(listed(&names), say!("a; b, x 1; c and 2 more", "a; b, x 1; c и ещё 2"));
        assert_eq!(listed(&names[..3]), Say::same("a; b, x 1; c"));
    }

    #[test]
    fn russian_plurals_follow_the_last_two_digits() {
        let word = |n| plural_ru(n, "шаг", "шага", "шагов");
        let words: Vec<_> = [0, 1, 2, 4, 5, 11, 12, 14, 21, 22, 25, 111, 121].map(word).to_vec();
        assert_eq!(
            words,
            [
                "шагов",
                "шаг",
                "шага",
                "шага",
                "шагов",
                "шагов",
                "шагов",
                "шагов",
                "шаг",
                "шага",
                "шагов",
                "шагов",
                "шаг"
            ]
        );
    }

    #[test]
    fn a_say_captures_variables_in_both_languages() {
        let path = "/x";
        let say = say!("cannot open `{path}`", "не удаётся открыть `{path}`");
        assert_eq!((say.get(Lang::En), say.get(Lang::Ru)), ("cannot open `/x`", "не удаётся открыть `/x`"));
    }

    #[test]
    fn a_say_takes_values_that_are_worded_by_the_language() {
        let depth = 4;
        let say = say!(|l| "{depth} of {all} in flight", "в очереди {depth} из {all}", all = l.pick("all", "всех"));
        assert_eq!((say.en.as_str(), say.ru.as_str()), ("4 of all in flight", "в очереди 4 из всех"));
    }

    #[test]
    fn locales_map_to_languages() {
        assert_eq!(Lang::from_locale("ru_RU.UTF-8"), Lang::Ru);
        assert_eq!(Lang::from_locale("C.UTF-8"), Lang::En);
    }
}
