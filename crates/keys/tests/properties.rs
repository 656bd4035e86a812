//! What holds for every key set: formats give back what was written into them, damage is found or
//! harmless, generated sets are what was asked for.

use std::collections::HashSet;

use fathom_keys::generate::{Order, Recipe, RecipeError, Shape, generate};
use fathom_keys::{Error, Format, KeySet, Keys, Portrait, Target, detect, read, write};
use proptest::collection::vec;
use proptest::prelude::*;

const RECORDS: [Format; 4] =
    [Format::BinText, Format::BinText1, Format::BinTextKv, Format::BinSliceKv];

fn file(keys: &KeySet<'_>, target: &Target) -> Vec<u8> {
    let mut file = Vec::new();
    write(&mut file, keys, target).unwrap();
    file
}

fn all(keys: &KeySet<'_>) -> Vec<Vec<u8>> {
    (0..keys.len()).map(|at| keys.key(at).into_owned()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn words_survive_every_format(words in vec("[!-~]{1,20}", 1..40), wide: bool) {
        let text = words.join("\n");
        let keys = read(text.as_bytes(), &Format::Words).unwrap();
        for format in RECORDS.into_iter().chain([Format::Words, Format::Lines]) {
            let wide = wide && !matches!(format, Format::BinText1 | Format::Words | Format::Lines);
            let file = file(&keys, &Target { wide, ..Target::new(format.clone()) });
            let back = read(&file, &format).unwrap();
            prop_assert_eq!(all(&back), all(&keys), "{}", format);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..200)) {
        let texts = ["words", "lines", "integers", "u32", "u64", "csv:1", "csv:a:;", "jsonl:a"];
        let formats = texts.map(|text| text.parse().unwrap());
        for format in RECORDS.into_iter().chain(formats) {
            match read(&bytes, &format) {
                Ok(keys) => {
                    prop_assert_eq!(all(&keys).len(), keys.len());
                    let _ = Portrait::of(&keys).to_string();
                }
                Err(Error::Bad { offset, .. }) => prop_assert!(offset <= bytes.len() as u64),
                Err(other) => prop_assert!(false, "{}", other),
            }
        }
        if let Ok(format) = detect(&bytes) {
            prop_assert!(read(&bytes, &format).is_ok(), "{}", format);
        }
    }

    #[test]
    fn a_changed_byte_of_a_wide_file_is_always_found(
        words in vec("[a-z]{1,9}", 1..9),
        place: prop::sample::Index,
        change in 1_u8..,
    ) {
        let text = words.join(" ");
        let keys = read(text.as_bytes(), &Format::Words).unwrap();
        let mut file = file(&keys, &Target { wide: true, ..Target::new(Format::BinText) });
        let at = place.index(file.len());
        file[at] ^= change;
        // A lost marker leaves a count that no file of this size has.
        prop_assert!(read(&file, &Format::BinText).is_err());
    }

    #[test]
    fn a_shortened_file_is_always_refused(words in vec("[a-z]{1,9}", 1..9), cut in 1_usize..40) {
        let text = words.join(" ");
        let keys = read(text.as_bytes(), &Format::Words).unwrap();
        for format in RECORDS {
            let mut file = file(&keys, &Target::new(format.clone()));
            file.truncate(file.len().saturating_sub(cut));
            prop_assert!(read(&file, &format).is_err(), "{}", format);
        }
    }

    #[test]
    fn csv_gives_back_what_was_quoted(fields in vec("[ -~\n]{1,12}", 1..12)) {
        let quoted = |field: &String| format!("1,\"{}\"\r\n", field.replace('"', "\"\""));
        let text: String = fields.iter().map(quoted).collect();
        let keys = read(text.as_bytes(), &"csv:2".parse().unwrap()).unwrap();
        let expected: Vec<Vec<u8>> = fields.into_iter().map(String::into_bytes).collect();
        prop_assert_eq!(all(&keys), expected);
    }

    #[test]
    fn recipes_are_followed(
        count in 0_u64..300,
        seed: u64,
        shape in prop::sample::select(Shape::ALL.to_vec()),
        share in 0.0..0.9,
    ) {
        let recipe = Recipe { count, seed, shape: shape.1, duplicates: share, ..plain() };
        let keys = generate(&recipe).unwrap();
        prop_assert_eq!(keys.len() as u64, count);
        let distinct: HashSet<Vec<u8>> = all(&keys).into_iter().collect();
        let repeated = (count as f64 * share).round() as usize;
        prop_assert_eq!(distinct.len(), (count as usize - repeated).max(count.min(1) as usize));
        prop_assert_eq!(generate(&recipe).unwrap(), keys.clone());
        let mut sorted = all(&keys);
        sorted.sort();
        let again = generate(&Recipe { order: Order::Sorted, ..recipe.clone() }).unwrap();
        prop_assert_eq!(all(&again), sorted.clone());
        sorted.reverse();
        let again = generate(&Recipe { order: Order::Reversed, ..recipe }).unwrap();
        prop_assert_eq!(all(&again), sorted);
    }
}

fn plain() -> Recipe {
    Recipe { count: 1000, seed: 1, ..Recipe::default() }
}

/// The first keys of seed 1: files with a published command line must stay what they are.
#[test]
fn the_first_keys_of_a_seed_stay_for_ever() {
    let first = |shape| {
        let keys = generate(&Recipe { count: 100, shape, ..plain() }).unwrap();
        String::from_utf8(keys.key(0).into_owned()).unwrap()
    };
    let firsts: Vec<String> = Shape::ALL.iter().map(|&(_, shape)| first(shape)).collect();
    let expected: [&str; 11] = FIRSTS;
    assert_eq!(firsts, expected);
}

const FIRSTS: [&str; 11] = [
    "fZYzkMIVo9Gzc2US",
    "017",
    "Aida1aYr5XdJh9bhstVqkfic8V8kvZx",
    "https://www.wosalugajoro.fr/socosumethu/perare/cukjzolar/tac",
    "gokin@evkvuvu.com",
    "18e149f6-94d3-4e8b-8944-f4ed8f072cc6",
    "tatemigezetj",
    "58.77.248.249",
    "/anuhefuwo/izusedolab/dewuluheln/asug.json",
    "8226edd48952cb57b26594a2f14aa5352d1247b1",
    "AGCAATCACAGCGCGAGGATTGAAATGGCCA",
];

#[test]
fn shapes_look_like_their_names() {
    let keys = |shape, sizes: Option<&str>| {
        let sizes = sizes.map(|text| text.parse().unwrap());
        let keys = generate(&Recipe { shape, sizes, ..plain() }).unwrap();
        all(&keys).into_iter().map(|key| String::from_utf8(key).unwrap()).collect::<Vec<_>>()
    };
    assert!(keys(Shape::Random, Some("9")).iter().all(|key| key.len() == 9));
    assert!(keys(Shape::Words, Some("3..9")).iter().all(|key| (3..=9).contains(&key.len())));
    let sequential = keys(Shape::Sequential, None);
    assert!(sequential.contains(&"0001".to_owned()) && sequential.contains(&"1000".to_owned()));
    for uuid in keys(Shape::Uuids, None) {
        assert_eq!(uuid.len(), 36);
        assert!(uuid.as_bytes()[14] == b'4' && b"89ab".contains(&uuid.as_bytes()[19]), "{uuid}");
    }
    for mail in keys(Shape::Emails, None) {
        let (name, host) = mail.split_once('@').unwrap();
        assert!(!name.is_empty() && !name.starts_with('.') && host.contains('.'), "{mail}");
    }
    for url in keys(Shape::Urls, Some("60")) {
        assert!(url.starts_with("https://www.") && url.len() == 60 && !url.contains("//www.//"));
        assert!(!url[8..].contains("//") && !url.ends_with('/'), "{url}");
    }
    for address in keys(Shape::Ipv4, None) {
        let parts: Vec<u8> = address.split('.').map(|part| part.parse().unwrap()).collect();
        assert!(parts.len() == 4 && parts[0] > 0 && parts[0] < 224, "{address}");
    }
    for path in keys(Shape::Paths, Some("70")) {
        assert!(path.starts_with('/') && path.len() >= 70 && !path.contains("//"), "{path}");
    }
    for digest in keys(Shape::Hex, None) {
        let digits = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        assert!(digest.len() == 40 && digest.bytes().all(digits), "{digest}");
    }
    let pieces = keys(Shape::Dna, Some("24"));
    assert!(pieces.iter().all(|piece| piece.len() == 24));
    // A thousand of five thousand places: many overlap the next one, as random text never would.
    let heads: HashSet<&str> = pieces.iter().map(|piece| &piece[..16]).collect();
    let follows = |piece: &&String| (1..=8).any(|shift| heads.contains(&piece[shift..shift + 16]));
    assert!(pieces.iter().filter(follows).count() > 500);
    let clustered = keys(Shape::Clustered, None);
    let prefixes: HashSet<&str> = clustered.iter().map(|key| &key[..8]).collect();
    assert!(prefixes.len() < 40, "{}", prefixes.len());
}

#[test]
fn integers_are_distinct_and_fit() {
    for shape in [Shape::Random, Shape::Sequential, Shape::Clustered] {
        let recipe = Recipe { integer_bits: Some(32), shape, ..plain() };
        let Keys::Integers(numbers) = generate(&recipe).unwrap().keys else { panic!() };
        assert_eq!(numbers.iter().collect::<HashSet<_>>().len(), 1000);
        assert!(numbers.iter().all(|&number| u32::try_from(number).is_ok()));
    }
}

/// In clusters the last one never came.
#[test]
fn few_integers_are_all_made() {
    for shape in [Shape::Random, Shape::Clustered] {
        for bits in [1, 3, 8] {
            let recipe = Recipe { integer_bits: Some(bits), shape, count: 1 << bits, ..plain() };
            assert_eq!(generate(&recipe).map(|keys| keys.len()), Ok(1 << bits), "{shape:?} {bits}");
        }
    }
}

#[test]
fn values_have_their_sizes_and_leave_the_keys_alone() {
    let values = Some("0..9".parse().unwrap());
    let pairs = generate(&Recipe { values, printable_values: true, ..plain() }).unwrap();
    assert_eq!(all(&pairs), all(&generate(&plain()).unwrap()));
    let file = file(&pairs, &Target::new(Format::BinTextKv));
    assert_eq!(all(&read(&file, &Format::BinTextKv).unwrap()), all(&pairs));
    let lengths: HashSet<usize> = (0..pairs.len()).map(|at| pairs.value(at).len()).collect();
    assert_eq!(lengths, (0..=9).collect());
}

#[test]
fn what_cannot_be_made_is_said() {
    let one_byte = Recipe { sizes: Some("1".parse().unwrap()), ..plain() };
    assert_eq!(generate(&one_byte), Err(RecipeError::Exhausted { made: 62, wanted: 1000 }));
    // Two of these were not found.
    let two_bytes = Recipe { count: 62 * 62, sizes: Some("2".parse().unwrap()), ..plain() };
    assert_eq!(generate(&two_bytes).map(|keys| keys.len()), Ok(62 * 62));
    // Nor was that told before memory was full.
    let many = Recipe { integer_bits: Some(32), count: (1 << 32) + 1, ..plain() };
    assert_eq!(generate(&many), Err(RecipeError::Exhausted { made: 1 << 32, wanted: many.count }));
    let few_bits = Recipe { integer_bits: Some(8), ..plain() };
    assert_eq!(generate(&few_bits), Err(RecipeError::Exhausted { made: 256, wanted: 1000 }));
    let all_double = Recipe { duplicates: 1.0, ..plain() };
    assert!(matches!(generate(&all_double), Err(RecipeError::Duplicates(_))));
    let words = Recipe { integer_bits: Some(64), shape: Shape::Words, ..plain() };
    assert_eq!(generate(&words), Err(RecipeError::Integers));
    let sized = |shape, sizes: &str| {
        generate(&Recipe { shape, sizes: Some(sizes.parse().unwrap()), ..plain() })
    };
    assert_eq!(sized(Shape::Uuids, "16"), Err(RecipeError::Uuid));
    assert_eq!(sized(Shape::Ipv4, "16"), Err(RecipeError::Ipv4));
    for sizes in ["0", "0..8", "zipf:0..8,1"] {
        assert_eq!(sized(Shape::Words, sizes), Err(RecipeError::Empty), "{sizes}");
    }
}
