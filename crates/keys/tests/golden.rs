//! Files whose every byte is known: kvbench's formats as its sources and its usage text define
//! them, and one damage each.

use fathom_keys::{Error, Format, KeySet, Keys, Reason, Target, detect, read, write};

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits
        .chunks(2)
        .map(|two| u8::from_str_radix(str::from_utf8(two).unwrap(), 16).unwrap())
        .collect()
}

fn written(keys: &KeySet<'_>, target: &Target) -> Vec<u8> {
    let mut file = Vec::new();
    let written = write(&mut file, keys, target).unwrap();
    assert_eq!(written.bytes, file.len() as u64);
    assert_eq!(written.keys, keys.len() as u64);
    file
}

fn texts(keys: &KeySet<'_>) -> Vec<String> {
    (0..keys.len()).map(|at| String::from_utf8(keys.key(at).into_owned()).unwrap()).collect()
}

fn three() -> KeySet<'static> {
    read(b"alpha beta gamma", &Format::Words).unwrap()
}

const BIN_TEXT: &str = "03000000 05000000 616c706861 04000000 62657461 05000000 67616d6d61";
const PAIRS: &str = "02000000 0100000001000000 61 31 0200000000000000 6263";

#[test]
fn bin_text_is_kvbench_s_byte_for_byte() {
    let file = written(&three(), &Target::new(Format::BinText));
    assert_eq!(file, hex(BIN_TEXT));
    assert_eq!(file.len(), 30);
    let keys = read(&file, &detect(&file).unwrap()).unwrap();
    assert_eq!(texts(&keys), ["alpha", "beta", "gamma"]);
}

/// The mark was part of the first key, without a word.
#[test]
fn a_byte_order_mark_is_no_part_of_a_key() {
    let marked = |text: &str| [b"\xef\xbb\xbf", text.as_bytes()].concat();
    for (text, format, keys) in [
        ("alpha\nbeta\n", "words", ["alpha", "beta"]),
        ("al pha\nbeta\n", "lines", ["al pha", "beta"]),
        ("12\n7\n", "integers", ["12", "7"]),
        ("k,n\na,1\nb,2\n", "csv:k", ["a", "b"]),
        ("a,1\nb,2\n", "csv:1", ["a", "b"]),
        ("{\"k\":\"a\"}\n{\"k\":\"b\"}\n", "jsonl:k", ["a", "b"]),
    ] {
        let file = marked(text);
        assert_eq!(texts(&read(&file, &format.parse().unwrap()).unwrap()), keys, "{format}");
    }
    assert_eq!(detect(&marked("12\n7\n")), Ok(Format::Integers));
    let asks = detect(&marked("{\"k\":1}\n")).unwrap_err().to_string();
    assert!(asks.contains("jsonl:FIELD"), "{asks}");
    let trace = marked("get a\n");
    assert_eq!(fathom_keys::trace::read(&trace, None).unwrap().keys.key(0).as_ref(), b"a");
    let error = read(&marked("12\nx\n"), &Format::Integers).unwrap_err();
    assert!(matches!(error, Error::Bad { offset: 6, .. }), "{error}");
}

#[test]
fn a_closing_zero_counts_in_the_length() {
    let target = Target { terminate: true, ..Target::new(Format::BinText) };
    let file = written(&three(), &target);
    let expected = "03000000 06000000 616c70686100 05000000 6265746100 06000000 67616d6d6100";
    assert_eq!(file, hex(expected));
    assert_eq!(file.len(), 33);
    assert_eq!(read(&file, &Format::BinText).unwrap().key(1).as_ref(), b"beta\0");
}

#[test]
fn bin_text1_has_64_bit_count_and_sum() {
    // kvbench ignores the wish for zero bytes here.
    for terminate in [false, true] {
        let file = written(&three(), &Target { terminate, ..Target::new(Format::BinText1) });
        let head = "0300000000000000 0e00000000000000";
        assert_eq!(file, hex(&(head.to_owned() + &BIN_TEXT[8..])));
        assert_eq!(file.len(), 42);
        assert_eq!(detect(&file).unwrap(), Format::BinText1);
    }
}

#[test]
fn pairs_follow_the_usage_text() {
    let file = hex(PAIRS);
    assert_eq!(file.len(), 24);
    let pairs = read(&file, &Format::BinTextKv).unwrap();
    assert_eq!(texts(&pairs), ["a", "bc"]);
    assert_eq!((pairs.value(0), pairs.value(1)), (&b"1"[..], &b""[..]));
    assert_eq!(written(&pairs, &Target::new(Format::BinTextKv)), file);
    assert_eq!(written(&pairs, &Target::new(Format::BinSliceKv)), file);
    assert_eq!(detect(&file).unwrap(), Format::BinTextKv);
    let mut blob = file.clone();
    blob[13] = 0xff;
    assert_eq!(detect(&blob).unwrap(), Format::BinSliceKv);
    let error = read(&blob, &Format::BinTextKv).unwrap_err();
    assert_eq!(error, Error::Bad { offset: 13, reason: Reason::NotPrintable(0xff) });
}

#[test]
fn the_wide_variant_has_a_header_of_40_bytes_and_a_checksum() {
    let target = Target { wide: true, terminate: true, ..Target::new(Format::BinText) };
    let file = written(&three(), &target);
    let head = "ffffffff 464b5631 01000000 01000000 0300000000000000 1d00000000000000";
    assert_eq!(file[..32], hex(head));
    let body = written(&three(), &Target { wide: false, ..target })[4..].to_vec();
    assert_eq!(file[40..], body);
    assert_eq!(file[32..40], xxhash_rust::xxh3::xxh3_64(&body).to_le_bytes());
    assert_eq!(detect(&file).unwrap(), Format::BinText);
    assert_eq!(read(&file, &Format::BinText).unwrap().len(), 3);

    let damage = |at: usize, byte: u8| {
        let mut file = file.clone();
        file[at] = byte;
        match read(&file, &Format::BinText).unwrap_err() {
            Error::Bad { offset, reason } => (offset, reason),
            other => panic!("{other}"),
        }
    };
    assert_eq!(damage(4, b'X'), (4, Reason::BadMagic));
    assert_eq!(damage(8, 3), (8, Reason::WrongKind { found: 3, expected: 1 }));
    assert_eq!(damage(12, 2), (12, Reason::UnknownFlags(2)));
    assert_eq!(damage(24, 9), (24, Reason::WrongLength { said: 9, found: 33 - 4 }));
    assert!(matches!(damage(32, file[32] ^ 1), (32, Reason::WrongChecksum { .. })));
    assert!(matches!(damage(45, b'x'), (32, Reason::WrongChecksum { .. })));
    assert!(matches!(damage(16, 2), (_, Reason::Trailing(_))));
    let error = read(&file[..39], &Format::BinText).unwrap_err();
    assert_eq!(error.to_string(), "byte 0: the header has 40 bytes, the file has 39 from here");
}

#[test]
fn a_promise_of_zero_bytes_is_checked() {
    let target = Target { wide: true, ..Target::new(Format::BinText) };
    let mut file = written(&three(), &target);
    file[12] = 1;
    let error = read(&file, &Format::BinText).unwrap_err();
    assert_eq!(error, Error::Bad { offset: 48, reason: Reason::NotTerminated(1) });
}

#[test]
fn damaged_records_have_offsets() {
    let file = hex(BIN_TEXT);
    let error = |bytes: &[u8], format| read(bytes, &format).unwrap_err().to_string();
    let refused = |bytes: &[u8], said: &str| assert_eq!(error(bytes, Format::BinText), said);
    refused(&[], "byte 0: the header has 4 bytes, the file has 0 from here");
    refused(&file[..13], "byte 13: the file ends where record 2 of 3 should begin or go on");
    refused(&file[..29], "byte 21: a key of 5 bytes with 4 bytes left (record 3 of 3)");
    let mut long = file.clone();
    long.push(b'!');
    refused(&long, "byte 30: 1 byte after the last record");
    let mut empty = file.clone();
    empty[4] = 0;
    refused(&empty, "byte 4: an empty key (record 1)");
    // A count of four thousand million reserves nothing.
    let mut liar = file.clone();
    liar[..4].copy_from_slice(&[0xfe, 0xff, 0xff, 0xff]);
    refused(&liar, "byte 30: the file ends where record 4 of 4294967294 should begin or go on");
    let mut sum = hex("0100000000000000 0300000000000000 02000000 6162");
    assert_eq!(
        error(&sum, Format::BinText1),
        "byte 8: the header says 3 bytes of keys, the records have 2"
    );
    sum[8] = 2;
    assert_eq!(read(&sum, &Format::BinText1).unwrap().len(), 1);
    assert_eq!(
        error(&hex("01000000 01000000 05000000 61 31"), Format::BinSliceKv),
        "byte 8: a value of 5 bytes with 1 byte left (record 1 of 1)"
    );
}

#[test]
fn words_end_where_isspace_says_and_only_there() {
    let text = b"\t one\x0btwo\x0cthree\r\nna\xc3\xafve\xa0x  one\n ";
    let keys = read(text, &Format::Words).unwrap();
    let words: Vec<Vec<u8>> = (0..keys.len()).map(|at| keys.key(at).into_owned()).collect();
    assert_eq!(words, [&b"one"[..], b"two", b"three", b"na\xc3\xafve\xa0x", b"one"]);
    assert_eq!(detect(text).unwrap(), Format::Words);
    assert!(read(b" \n ", &Format::Words).unwrap().is_empty());
}

#[test]
fn lines_keep_their_spaces() {
    let keys = read(b"one key\r\nanother", &Format::Lines).unwrap();
    assert_eq!(texts(&keys), ["one key", "another"]);
    let error = read(b"one\n\ntwo", &Format::Lines).unwrap_err();
    assert_eq!(error.to_string(), "byte 4: an empty key (record 2)");
}

#[test]
fn integers_are_read_from_text_and_bytes() {
    let numbers = |bytes: &[u8], format| read(bytes, &format).map(|keys| keys.keys);
    let expected = Keys::Integers(vec![1, 70_000, u64::MAX]);
    let text = b"1 70000\n18446744073709551615\n";
    assert_eq!(numbers(text, Format::Integers), Ok(expected.clone()));
    assert_eq!(detect(text).unwrap(), Format::Integers);
    // One that is no integer makes them words.
    assert_eq!(detect(b"1 70000 007").unwrap(), Format::Words);
    let error = numbers(b"1 2 -3", Format::Integers).unwrap_err().to_string();
    assert_eq!(error, "byte 4: \"-3\" is no whole number from 0 to 18446744073709551615");

    let error = numbers(b"1 2 007", Format::Integers).unwrap_err().to_string();
    assert!(error.ends_with("18446744073709551615 without zeros before it"), "{error}");

    let keys = read(text, &Format::Integers).unwrap();
    let file = written(&keys, &Target::new(Format::U64));
    assert_eq!(file.len(), 24);
    assert_eq!(numbers(&file, Format::U64), Ok(expected));
    assert!(write(&mut Vec::new(), &keys, &Target::new(Format::U32)).is_err());
    assert_eq!(numbers(&[1, 0, 0, 0, 2, 1, 0, 0], Format::U32), Ok(Keys::Integers(vec![1, 258])));
    let error = numbers(&[0; 7], Format::U32).unwrap_err().to_string();
    assert_eq!(error, "byte 4: 3 bytes left over: integers here have 4 bytes each");
}

#[test]
fn a_csv_column_is_found_by_name_or_number() {
    let column =
        |text: &[u8], format: &str| read(text, &format.parse().unwrap()).map(|keys| texts(&keys));
    let text = b"\xef\xbb\xbfid,\"the, name\",x\r\n1,\"a \"\"b\"\"\",\r\n2,plain,\n3,\"x\ny\",z";
    assert_eq!(column(text, "csv:the, name").unwrap(), ["a \"b\"", "plain", "x\ny"]);
    assert_eq!(column(text, "csv:id").unwrap(), ["1", "2", "3"]);
    assert_eq!(column(b"a;b\nc;d\n", "csv:2:;").unwrap(), ["b", "d"]);
    assert_eq!(column(b"a\tb", "csv:1:\\t").unwrap(), ["a"]);
    assert_eq!(column(b"root:x:0\n", "csv:1::").unwrap(), ["root"]);
    assert_eq!(column(b"user:id,b\n7,8\n", "csv:user:id:,").unwrap(), ["7"]);
    assert_eq!(column(b"01,+1\n7,8\n", "csv:01").unwrap(), ["7"]);
    assert_eq!(column(b"01,+1\n7,8\n", "csv:+1").unwrap(), ["8"]);
    assert_eq!(column(b"\"a\"\r", "csv:1").unwrap(), column(b"a\r", "csv:1").unwrap());
    let error = |text: &[u8], format| column(text, format).unwrap_err().to_string();
    assert_eq!(error(text, "csv:nobody"), "byte 3: no column \"nobody\" in the header");
    assert_eq!(error(b"a,b\nc\n", "csv:2"), "byte 4: record 2 has 1 field, the key is in field 2");
    assert_eq!(error(b"a,\n", "csv:2"), "byte 2: an empty key (record 1)");
    assert_eq!(error(b"a,", "csv:2"), "byte 2: an empty key (record 1)");
    assert_eq!(
        error(b"a\"b,c", "csv:2"),
        "byte 1: a quotation mark inside an unquoted field, or text after a closing one"
    );
    assert_eq!(
        error(b"\"a\"b,c", "csv:2"),
        "byte 3: a quotation mark inside an unquoted field, or text after a closing one"
    );
    assert_eq!(error(b"a,\"b", "csv:2"), "byte 2: this quoted field is never closed");
}

#[test]
fn a_field_of_json_lines_is_found_by_its_path() {
    let field = |text: &str, path: &str| {
        let format = Format::JsonLines(path.to_owned());
        read(text.as_bytes(), &format).map(|keys| texts(&keys))
    };
    let text = "{\"id\": 17, \"user\": {\"name\": \"a\\u0062\"}, \"name\": [\"x\"]}\n \n\
                {\"user\": {\"x\": {\"name\": 1}, \"name\": \"c\"}, \"id\": 1e3}\r\n";
    assert_eq!(field(text, "user.name").unwrap(), ["ab", "c"]);
    assert_eq!(field(text, "id").unwrap(), ["17", "1e3"]);
    let error = |text: &str, path| field(text, path).unwrap_err().to_string();
    assert_eq!(error("{\"a\":1}\n{\"b\":2}", "a"), "byte 8: no field \"a\"");
    assert_eq!(error("{\"a\":1,\"a\":2}", "a"), "byte 0: the field occurs twice");
    assert_eq!(error("{\"a\":[1]}", "a"), "byte 0: the field is no string and no number");
    assert_eq!(error("[1]", "a"), "byte 0: a value that is no object");
    assert_eq!(
        error("{\"a\":1}\n{\"a\":01}", "a"),
        "byte 14: not JSON: expected no digit after a leading zero"
    );
    assert_eq!(error("{\"a\":\"\"}", "a"), "byte 0: an empty key (record 1)");
}

#[test]
fn what_fits_no_format_is_said_with_the_nearest() {
    let error = |bytes: &[u8]| detect(bytes).unwrap_err().to_string();
    assert_eq!(error(b""), "byte 0: the file is empty");
    assert!(error(b" \n").contains("nothing but white space"));
    assert!(error(b"{\"a\": 1}\n{\"a\": 2}\n").contains("jsonl:FIELD"));
    assert_eq!(detect(b"{curly words}").unwrap(), Format::Words);
    let file = hex(BIN_TEXT);
    let near = error(&file[..29]);
    assert!(near.contains("as bin-text, byte 21: a key of 5 bytes with 4 bytes left"), "{near}");
    assert!(error(&[1, 0, 0, 0, 0, 0, 0]).contains("u32 or u64"));
}

#[test]
fn what_a_format_cannot_hold_is_refused() {
    let keys = read(b"one key\nanother", &Format::Lines).unwrap();
    let refuse = |keys: &KeySet<'_>, target: &Target| {
        write(&mut Vec::new(), keys, target).unwrap_err().to_string()
    };
    assert!(refuse(&keys, &Target::new(Format::Words)).starts_with("key 1: holds white space"));
    assert!(refuse(&keys, &Target::new(Format::Integers)).starts_with("key 1: is no whole"));
    assert!(refuse(&keys, &Target::new("csv:1".parse().unwrap())).contains("not written"));
    let wide = Target { wide: true, ..Target::new(Format::Words) };
    assert!(refuse(&keys, &wide).contains("64-bit variant"));
    let zero = Target { terminate: true, ..Target::new(Format::BinTextKv) };
    assert!(refuse(&keys, &zero).contains("zero byte"));
    let text = |keys: &[&[u8]], format| {
        let file =
            keys.iter().flat_map(|key| [&(key.len() as u32).to_le_bytes()[..], key].concat());
        let count = (keys.len() as u32).to_le_bytes();
        let file: Vec<u8> = count.into_iter().chain(file).collect();
        let keys = read(&file, &Format::BinText).unwrap();
        let mut text = Vec::new();
        write(&mut text, &keys, &Target::new(format)).map(|_| text)
    };
    for format in [Format::Words, Format::Lines] {
        let refused = text(&[b"\xef\xbb\xbfab"], format.clone()).unwrap_err().to_string();
        assert!(refused.starts_with("key 1: begins with a byte order mark"), "{refused}");
        assert_eq!(text(&[b"a", b"\xef\xbb\xbf"], format).unwrap(), b"a\n\xef\xbb\xbf\n");
    }
    assert_eq!(text(&[b"a\rb"], Format::Lines).unwrap(), b"a\rb\n");
    assert!(text(&[b"a\r"], Format::Lines).unwrap_err().to_string().contains("a line end"));
    let odd = read(b"\xff", &Format::Lines).unwrap();
    assert!(refuse(&odd, &Target::new(Format::BinTextKv)).starts_with("key 1: is not printable"));
}
