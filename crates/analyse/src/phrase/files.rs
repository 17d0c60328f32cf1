//! Test files in words, in both languages.

use stend_base::text::counted;
use stend_base::{Lang, Say, format, say_in};
use stend_spec::files::Files;
use stend_spec::workload::BlockShare;

/// `one file`, `64 files of 16 MiB each`, `1000 files: 80 % of 4 KiB, 20 % of 64 KiB`.
pub fn files(asked: Option<&Files>) -> Say {
    let one = Files { count: 1, sizes: Vec::new() };
    let Files { count, sizes } = asked.unwrap_or(&one);
    let n = u64::from(*count);
    let many = counted(n, ["file", "files"], ["файл", "файла", "файлов"]);
    let share = |share: &BlockShare, lang: Lang| {
        let size = format::bytes(share.size, lang);
        say_in!(lang, "{percent} % of {size}", "{percent} % по {size}", percent = share.percent)
    };
    Say::both(|lang| {
        let many = many.get(lang);
        match sizes.as_slice() {
            [] if *count == 1 => many.to_string(),
            [] => say_in!(lang, "{many} of equal size", "{many} равного размера"),
            [only] => {
                say_in!(lang, "{many} of {size} each", "{many} по {size}", size = format::bytes(only.size, lang))
            }
            mix => {
                let shares: Vec<String> = mix.iter().map(|one| share(one, lang)).collect();
                format!("{many}: {}", shares.join(", "))
            }
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
