//! Whole inputs: what is accepted in which layout, what is refused where, and the course's means.

use std::num::NonZeroUsize;

use fathom_haversine::generate::{self, Method, Numbers, Pairs};
use fathom_haversine::{
    EARTH_RADIUS_KM, Error, OnError, Options, Outcome, Pair, Source, Trigonometry, answers,
    distance, read,
};

fn run(text: &[u8], options: &Options) -> Result<Outcome, Error> {
    let text = text.to_vec();
    read(Source::Stream(Box::new(std::io::Cursor::new(text))), options)
}

fn file(method: Method, count: u64, numbers: Numbers) -> (Vec<u8>, Vec<u8>, f64) {
    let (mut json, mut answers) = (Vec::new(), Vec::new());
    let pairs = Pairs::new(method, 1, count);
    let mean =
        generate::write(pairs, numbers, NonZeroUsize::MIN, &mut json, Some(&mut answers)).unwrap();
    (json, answers, mean)
}

#[test]
fn the_courses_file_has_the_courses_answers() {
    for method in [Method::Uniform, Method::Cluster] {
        let (json, reference, mean) = file(method, 20_000, Numbers::Course);
        let outcome = run(&json, &Options::default()).unwrap();
        assert_eq!((outcome.bytes, outcome.pairs), (json.len() as u64, 20_000));
        let own = outcome.mean_in_order().unwrap();
        let count = answers::count(reference.len() as u64).unwrap();
        let compared =
            answers::compare(outcome.parts(), own, count, &reference[..], answers::TOLERANCE_KM)
                .unwrap();
        assert!(compared.is_within_tolerance(), "{compared:?}");
        assert_eq!(compared.reference_mean_km.to_bits(), mean.to_bits());
    }
}

/// With all digits in the file and the C library's functions, every bit is the reference's.
#[test]
fn shortest_numbers_and_the_c_library_give_the_reference_bits() {
    let (json, reference, mean) = file(Method::Uniform, 5000, Numbers::Shortest);
    let options = Options { trigonometry: Trigonometry::Libm, ..Options::default() };
    let outcome = run(&json, &options).unwrap();
    assert_eq!(outcome.mean_in_order().unwrap().to_bits(), mean.to_bits());
    let mut own = Vec::new();
    answers::write(outcome.parts(), mean, &mut own).unwrap();
    assert!(own == reference);
}

#[test]
fn every_layout_order_and_spelling_is_read() {
    let pair = Pair::new([10.0, 20.5, -30.0, 4e-1]);
    let expected = distance(pair, EARTH_RADIUS_KM);
    for text in [
        r#"{"pairs":[{"x0":10,"y0":20.5,"x1":-30,"y1":0.4}]}"#,
        r#"[{"x0":10,"y0":20.5,"x1":-30,"y1":0.4}]"#,
        r#"{"x0":10,"y0":20.5,"x1":-30,"y1":0.4}"#,
        r#" [ { "y1" : 4.0E-1 , "x1" : -3.0e+1 , "y0" : 20.50 , "x0" : 1e1 } ] "#,
        r#"{"a":[{"pairs":[]}],"pairs":[{"x0":10,"y0":20.5,"x1":-30,"y1":0.4}],"b":{"c":null}}"#,
        r#"{"\u0070airs":[{"x0":10,"\u0079\u0030":20.5,"x1":-30,"y1":0.4,"x":"}, {\"x0\":1"}]}"#,
        r#"[{"x0":10,"z":{"x0":[1,{"y0":2}]},"y0":20.5,"x1":-30,"y1":0.4}]"#,
        r#"{"x0":"text","pairs":[{"x0":10,"y0":20.5,"x1":-30,"y1":0.4}],"y0":1}"#,
        "{\"x0\":10,\"y0\":20.5,\"x1\":-30,\"y1\":0.4}\r\n{\"y0\":20.5,\"x0\":10,\"x1\":-30,\"y1\":0.4}",
        r#"[{"x0":10.0,"y0":20.500000000000000000000000000000000,"x1":-30,"y1":0.4}]"#,
    ] {
        let outcome = run(text.as_bytes(), &Options::default()).unwrap_or_else(|error| {
            panic!("{text}: {error}");
        });
        assert!((outcome.mean_exact - expected).abs() < 1e-8, "{text}");
    }
}

#[test]
fn what_is_no_pair_is_refused_with_its_number_and_offset() {
    let good = r#"{"x0":1,"y0":2,"x1":3,"y1":4}"#;
    for (text, message) in [
        ("", "the input holds no pair, so there is no mean"),
        ("[]", "the input holds no pair, so there is no mean"),
        ("{\"pairs\":[ ]}", "the input holds no pair, so there is no mean"),
        ("7", "expected an object or an array at byte 0"),
        (
            "{\"a\":1}",
            "expected a member \"pairs\" (or x0, y0, x1, y1) before the object ends at byte 6",
        ),
        ("{\"pairs\":{}}", "expected an array as \"pairs\" at byte 9"),
        (
            "{\"pairs\":[GOOD],\"pairs\":[]}",
            "expected one member \"pairs\", found a second at byte 41",
        ),
        ("{\"pairs\":[GOOD]} []", "expected the end of the input after the document at byte 42"),
        ("[GOOD] [GOOD]", "expected the end of the input after the document at byte 32"),
        ("[GOOD,7]", "pair 1: expected an object with x0, y0, x1 and y1, found 7 at byte 31"),
        (
            "[GOOD,[GOOD]]",
            "pair 1: expected an object with x0, y0, x1 and y1, found an array at byte 31",
        ),
        ("GOOD\n7", "pair 1: expected an object with x0, y0, x1 and y1, found 7 at byte 30"),
        ("[GOOD,{}]", "pair 1: expected a member x0 before the object ends at byte 32"),
        (
            r#"[{"x0":1,"y0":2,"x1":3}]"#,
            "pair 0: expected a member y1 before the object ends at byte 22",
        ),
        (r#"[{"x0":"1"}]"#, "pair 0: expected a number as x0, found \"1\" at byte 7"),
        (
            r#"[{"x0":{"a":1},"y0":2,"x1":3,"y1":4}]"#,
            "pair 0: expected a number as x0, found an object at byte 7",
        ),
        (r#"[{"x0":null}]"#, "pair 0: expected a number as x0, found null at byte 7"),
        (
            r#"[{"x0":1,"y0":2,"x0":1}]"#,
            "pair 0: expected one member x0, found a second at byte 16",
        ),
        (
            r#"[{"x0":1e999}]"#,
            "pair 0: expected x0 from -1000000 to 1000000 degrees, found 1e999 at byte 7",
        ),
        ("[GOOD,]", "expected a value at byte 31"),
        ("[GOOD GOOD]", "expected ',' or ']' at byte 31"),
        ("[GOOD", "the input ends inside the document at byte 30"),
        (r#"[{"x0":01}]"#, "expected no digit after a leading zero at byte 8"),
        (r#"[{"x0":NaN}]"#, "expected a value at byte 7"),
        ("\u{feff}[]", "expected a value at byte 0"),
    ] {
        let text = text.replace("GOOD", good);
        let error = run(text.as_bytes(), &Options::default()).unwrap_err();
        assert_eq!(error.to_string(), message, "{text}");
    }
}

#[test]
fn skipped_elements_are_counted_and_the_rest_is_computed() {
    let good = r#"{"x0":1,"y0":2,"x1":3,"y1":4}"#;
    let bad = r#"7,"a",null,[1,{"x0":2}],{},{"x0":"1"},{"x0":1,"x0":2},{"x0":1e999}"#;
    let text = format!("{{\"pairs\":[{good},{bad},{good},{bad}]}}");
    let options = Options { on_error: OnError::Skip, ..Options::default() };
    let outcome = run(text.as_bytes(), &options).unwrap();
    assert_eq!((outcome.pairs, outcome.skipped), (2, 16));
    let only_bad = format!("[{bad}]");
    assert!(matches!(run(only_bad.as_bytes(), &options), Err(Error::AllSkipped(8))));
    // What is no JSON is never skipped.
    assert!(matches!(run(b"[{]", &options), Err(Error::Json(_))));
}

#[test]
fn coordinates_out_of_range_are_taken_as_they_are() {
    let text = r#"[{"x0":-1000,"y0":95,"x1":370.5,"y1":-1e3}]"#;
    let outcome = run(text.as_bytes(), &Options::default()).unwrap();
    let expected = distance(Pair::new([-1000.0, 95.0, 370.5, -1e3]), EARTH_RADIUS_KM);
    assert_eq!(outcome.mean_exact, expected);
}

#[test]
fn the_radius_scales() {
    let (json, _, _) = file(Method::Cluster, 100, Numbers::Course);
    let mean = |options: Options| run(&json, &options).unwrap().mean_exact;
    let unit = mean(Options { radius: 1.0, ..Options::default() });
    assert!((unit * EARTH_RADIUS_KM - mean(Options::default())).abs() < 1e-9);
}
