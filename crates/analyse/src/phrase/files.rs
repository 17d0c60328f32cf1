//! Test files in words, in both languages.

use super::both;
use stend_base::text::{plural_en, plural_ru};
use stend_base::{Lang, Say, format};
use stend_spec::files::Files;
use stend_spec::workload::BlockShare;

/// `one file`, `64 files of 16 MiB each`, `1000 files: 80 % of 4 KiB, 20 % of 64 KiB`.
pub fn files(asked: Option<&Files>) -> Say {
    let one = Files { count: 1, sizes: Vec::new() };
    let Files { count, sizes } = asked.unwrap_or(&one);
    let n = u64::from(*count);
    let many = |lang: Lang| match lang {
        Lang::En => format!("{n} {}", plural_en(n, "file", "files")),
        Lang::Ru => format!("{n} {}", plural_ru(n, "файл", "файла", "файлов")),
    };
    let share = |share: &BlockShare, lang: Lang| {
        let size = format::bytes(share.size, lang);
        match lang {
            Lang::En => format!("{} % of {size}", share.percent),
            Lang::Ru => format!("{} % по {size}", share.percent),
        }
    };
    both(|lang| match (sizes.as_slice(), lang) {
        ([], _) if *count == 1 => many(lang),
        ([], Lang::En) => format!("{} of equal size", many(lang)),
        ([], Lang::Ru) => format!("{} равного размера", many(lang)),
        ([only], Lang::En) => format!("{} of {} each", many(lang), format::bytes(only.size, lang)),
        ([only], Lang::Ru) => format!("{} по {}", many(lang), format::bytes(only.size, lang)),
        (mix, _) => {
            let shares: Vec<String> = mix.iter().map(|one| share(one, lang)).collect();
            format!("{}: {}", many(lang), shares.join(", "))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use stend_base::Bytes;

    #[test]
    fn files_are_told_with_their_sizes() {
        let share = |kib, percent| BlockShare { size: Bytes::kib(kib), percent };
        let mixtures =
            [(1, vec![]), (2, vec![]), (64, vec![share(16, 100)]), (1000, vec![share(4, 80), share(64, 20)])];
        let mut all = vec![files(None)];
        all.extend(mixtures.map(|(count, sizes)| files(Some(&Files { count, sizes }))));
        let told: Vec<String> = all.into_iter().map(|say| format!("{} | {}", say.en, say.ru)).collect();
        expect![[r#"
            1 file | 1 файл
            1 file | 1 файл
            2 files of equal size | 2 файла равного размера
            64 files of 16 KiB each | 64 файла по 16 КиБ
            1000 files: 80 % of 4 KiB, 20 % of 64 KiB | 1000 файлов: 80 % по 4 КиБ, 20 % по 64 КиБ"#]]
        .assert_eq(&told.join("\n"));
    }
}
