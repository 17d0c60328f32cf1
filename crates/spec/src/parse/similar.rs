//! Which known word a mistyped one is like, for hints.

/// What of these was probably meant by a mistyped word.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let far = |known: &str| distance(word, known);
    // In a word of three letters two changed letters make another word, unless they swapped places.
    let most = if word.chars().count() <= 3 { 1 } else { 2 };
    known
        .min_by_key(|known| far(known))
        .filter(|known| far(known) <= most || far(known) == 2 && letters(word) == letters(known))
}

fn letters(word: &str) -> Vec<char> {
    let mut letters: Vec<char> = word.chars().collect();
    letters.sort_unstable();
    letters
}

/// Edit distance, for hints; long keys (hostile files) count as far away.
pub fn distance(a: &str, b: &str) -> usize {
    if a.len() > 40 {
        return usize::MAX;
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let cost = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}
