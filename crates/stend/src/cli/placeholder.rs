//! What stands for a value in usage lines and help, in the language of the help. Must not touch what a shell or a script reads.

use stend_base::Lang;

/// Words for values, English and Russian; what is not here is written alike in both.
const WORDS: [(&str, &str); 36] = [
    ("ACTION", "ДЕЙСТВИЕ"),
    ("ADDRESS", "АДРЕС"),
    ("COMMAND", "КОМАНДА"),
    ("CONDITION", "УСЛОВИЕ"),
    ("DIR", "КАТАЛОГ"),
    ("DRIVE", "НАКОПИТЕЛЬ"),
    ("ENGINE", "ГЕНЕРАТОР"),
    ("FAULT", "СБОЙ"),
    ("FILE", "ФАЙЛ"),
    ("FORMAT", "ФОРМАТ"),
    ("HOST", "МАШИНА"),
    ("HOW", "ВИД"),
    ("KIND", "ВИД"),
    ("LABEL", "МЕТКА"),
    ("LANG", "ЯЗЫК"),
    ("LIMIT", "ПРЕДЕЛ"),
    ("MACHINE", "МАШИНА"),
    ("NAME", "ИМЯ"),
    ("OFFSET", "СМЕЩЕНИЕ"),
    ("PATH", "ПУТЬ"),
    ("PERCENT", "ПРОЦЕНТ"),
    ("RECORDING", "ЗАПИСЬ"),
    ("RUN", "ПРОГОН"),
    ("SHARE", "ДОЛЯ"),
    ("SHELL", "ОБОЛОЧКА"),
    ("SIZE", "РАЗМЕР"),
    ("STAND", "СТЕНД"),
    ("STEPS", "ШАГИ"),
    ("SUITE", "НАБОР"),
    ("TABLE", "ТАБЛИЦА"),
    ("TEXT", "ТЕКСТ"),
    ("TIME", "ВРЕМЯ"),
    ("WHEN", "КОГДА"),
    ("WORD", "СЛОВО"),
    ("FILE|NAME", "ФАЙЛ|ИМЯ"),
    ("NAME=HOST", "ИМЯ=МАШИНА"),
];

/// What stands for a value of this name.
pub(super) fn placeholder(name: &'static str, lang: Lang) -> &'static str {
    match lang {
        Lang::En => name,
        Lang::Ru => WORDS.iter().find(|(en, _)| *en == name).map_or(name, |(_, ru)| ru),
    }
}

/// A usage line, such as `RUN [-o FILE]`, with the words of the language.
pub(super) fn usage(line: &str, lang: Lang) -> String {
    let mut out = String::new();
    let mut word = String::new();
    // The end of the line ends the last word, too.
    for letter in line.chars().map(Some).chain([None]) {
        match letter {
            Some(letter) if letter.is_ascii_uppercase() => word.push(letter),
            _ => {
                let known = WORDS.iter().find(|(en, _)| *en == word).filter(|_| lang == Lang::Ru);
                out.push_str(known.map_or(word.as_str(), |(_, ru)| ru));
                word.clear();
                out.extend(letter);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usage_line_has_the_words_of_its_language_and_keeps_the_rest() {
        let line = "stend run [SUITE] --on PATH -o FILE… [-- COMMAND…] N";
        assert_eq!(usage(line, Lang::En), line);
        assert_eq!(usage(line, Lang::Ru), "stend run [НАБОР] --on ПУТЬ -o ФАЙЛ… [-- КОМАНДА…] N");
        assert_eq!((placeholder("PATH", Lang::En), placeholder("PATH", Lang::Ru)), ("PATH", "ПУТЬ"));
        assert_eq!(placeholder("SHA256", Lang::Ru), "SHA256");
    }

    #[test]
    fn no_value_of_the_russian_help_has_an_english_name_that_has_a_russian_one() {
        let whole = super::super::command(Lang::Ru);
        let mut all: Vec<&clap::Command> = vec![&whole];
        while let Some(verb) = all.pop() {
            all.extend(verb.get_subcommands());
            for argument in verb.get_arguments() {
                for name in argument.get_value_names().unwrap_or_default() {
                    assert!(!WORDS.iter().any(|(en, _)| en == &name.as_str()), "{} {name}", verb.get_name());
                }
            }
        }
    }
}
