//! Any bytes as a file of keys: each format reads or refuses them with an offset inside, what is
//! read can be written and read again, and a format that was detected reads. So with a trace. The first
//! byte chooses; the rest is the file.
#![no_main]

use fathom_keys::trace::{self, Kind};
use fathom_keys::{Error, Format, Keys, Portrait, Target, detect, read, write};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [choice, input @ ..] = data else { return };
    let names = [
        "words", "lines", "integers", "u32", "u64", "csv:1", "csv:a:;", "csv:2:\\t", "jsonl:a",
        "jsonl:a.b", "bin-text", "bin-text1", "bin-text-kv", "bin-slice-kv",
    ];
    let format: Format = names[usize::from(*choice) % names.len()].parse().unwrap();
    match read(input, &format) {
        Err(Error::Bad { offset, .. }) => assert!(offset <= input.len() as u64),
        Err(other) => panic!("{other}"),
        Ok(keys) => {
            let _ = Portrait::of(&keys).to_string();
            // Pairs of any bytes hold whatever another format held.
            let wide = choice & 0x80 != 0;
            let target = Target { wide, ..Target::new(Format::BinSliceKv) };
            let mut file = Vec::new();
            write(&mut file, &keys, &target).unwrap();
            let back = read(&file, &Format::BinSliceKv).unwrap();
            assert_eq!(back.len(), keys.len());
            for at in 0..keys.len() {
                assert_eq!((back.key(at), back.value(at)), (keys.key(at), keys.value(at)));
            }
        }
    }
    if let Ok(format) = detect(input) {
        assert!(read(input, &format).is_ok(), "{format}");
    }
    if let Ok(whole) = trace::read(input, None) {
        let kind = match whole.keys.keys {
            Keys::Integers(_) => Kind::Integers,
            Keys::Bytes(_) => Kind::Bytes,
        };
        let mut file = Vec::new();
        trace::write(&mut file, &whole, 0..whole.acts.len()).unwrap();
        let back = trace::read(&file, Some(kind)).unwrap();
        assert_eq!(back.acts, whole.acts);
        for at in 0..whole.acts.len() {
            assert_eq!(back.keys.key(at), whole.keys.key(at));
        }
    }
});
