//! Words of this machine: of its list, if it has one, else of the texts that came with its programs.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Where lists of words are.
const LISTS: [&str; 2] = ["/usr/share/dict/words", "/usr/share/dict/american-english"];
/// Where texts are, if there is no list.
const TEXTS: [&str; 4] =
    ["/usr/share/doc", "/usr/share/common-licenses", "/usr/share/perl", "/usr/include"];
/// So many are enough, and so few are none.
const MOST: usize = 50_000;
const LEAST: usize = 5_000;
/// Files that are looked at, and bytes of each.
const FILES: usize = 2_000;
const BYTES: usize = 1 << 18;

/// A word a line, and where they come from; nothing where there are few.
pub(super) fn of_this_machine() -> Option<(String, String)> {
    for list in LISTS {
        let Ok(text) = fs::read(list) else { continue };
        let text = String::from_utf8_lossy(&text);
        let words: BTreeSet<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        if words.len() >= LEAST {
            return Some((joined(every(&words)), format!("words of {list}")));
        }
    }
    let (mut words, mut files) = (BTreeSet::new(), FILES);
    let used: Vec<&str> = TEXTS
        .into_iter()
        .filter(|place| {
            let before = words.len();
            gather(Path::new(place), 4, &mut words, &mut files);
            words.len() > before
        })
        .collect();
    let all: BTreeSet<&str> = words.iter().map(String::as_str).collect();
    (all.len() >= LEAST)
        .then(|| (joined(every(&all)), format!("words of the files in {}", used.join(", "))))
}

/// As many as are wanted, from the whole list.
fn every<'w>(words: &BTreeSet<&'w str>) -> Vec<&'w str> {
    words.iter().copied().step_by(words.len().div_ceil(MOST).max(1)).collect()
}

fn joined(words: Vec<&str>) -> String {
    words.join("\n") + "\n"
}

/// The words of the texts below `place`, `depth` folders deep, until there are enough.
fn gather(place: &Path, depth: u32, words: &mut BTreeSet<String>, files: &mut usize) {
    let Ok(entries) = fs::read_dir(place) else { return };
    for entry in entries.flatten() {
        if *files == 0 || words.len() >= 2 * MOST {
            return;
        }
        // A link may lead anywhere.
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth > 0 {
            gather(&entry.path(), depth - 1, words, files);
        } else if kind.is_file()
            && let Ok(bytes) = fs::read(entry.path())
            && let Some(text) = text(&bytes[..bytes.len().min(BYTES)])
        {
            *files -= 1;
            let parts = text.split(|c: char| !c.is_alphabetic());
            words.extend(parts.filter(|word| word.chars().count() > 2).map(str::to_owned));
        }
    }
}

/// The bytes as text, if they are; the last character may be cut.
fn text(bytes: &[u8]) -> Option<&str> {
    let valid = bytes.utf8_chunks().next()?.valid();
    (bytes.len() - valid.len() < 4).then_some(valid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_texts_and_not_in_what_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("a/b");
        fs::create_dir_all(&below).unwrap();
        fs::write(below.join("text"), "To be, or not to be: that\nis the question").unwrap();
        fs::write(folder.path().join("bytes"), b"\xffabcdef").unwrap();
        let (mut words, mut files) = (BTreeSet::new(), FILES);
        gather(folder.path(), 4, &mut words, &mut files);
        assert_eq!(words.iter().collect::<Vec<_>>(), ["not", "question", "that", "the"]);
        assert_eq!(files, FILES - 1);
        words.clear();
        gather(folder.path(), 1, &mut words, &mut files);
        assert!(words.is_empty(), "too deep");
    }

    #[test]
    fn of_too_many_words_some_of_all_are_taken() {
        let all: Vec<String> = (0..3 * MOST + 1).map(|n| format!("{n:06}")).collect();
        let words = every(&all.iter().map(String::as_str).collect());
        assert!(words.len() <= MOST && words.len() > MOST / 2, "{}", words.len());
        assert_eq!((words[0], *words.last().unwrap() > "149000"), ("000000", true));
    }
}
