//! The benches of the crate base64 (its `benches/benchmarks.rs`, written for criterion), ported: the same
//! functions and sizes. `cargo bench -p fathom-bench --bench base64 -- encode`.
//!
//! What has become less: no label and input for each function, no `black_box`, no times to warm up and to
//! measure. What has become more: a function's answer, which is compared with the first one's.

use std::io::{self, Read, Write};

use base64::Engine;
use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;
use base64::read::DecoderReader;
use base64::write::{EncoderStringWriter, EncoderWriter};
use fathom_bench::{Bench, main};
use fathom_random::Random;

const SMALL: [usize; 5] = [3, 50, 100, 500, 3 << 10];
const LARGE: [usize; 3] = [3 << 20, 10 << 20, 30 << 20];

fn encode(bench: &mut Bench<'_>) {
    bench.inputs("encode", "bytes", SMALL.into_iter().chain(LARGE), |group, &size| {
        let plain = plain(size);
        group.bytes(size);
        group.function("string", || STANDARD.encode(&plain).len());
        group.function("display", || Base64Display::new(&plain, &STANDARD).to_string().len());
        let mut text = String::new();
        group.function("reused string", || {
            text.clear();
            STANDARD.encode_string(&plain, &mut text);
            text.len()
        });
        let mut slice = vec![0; size * 2];
        group.function("slice", || STANDARD.encode_slice(&plain, &mut slice).unwrap());
        let mut bytes = Vec::with_capacity(size * 2);
        group.function("stream to bytes", || {
            bytes.clear();
            let mut stream = EncoderWriter::new(&mut bytes, &STANDARD);
            stream.write_all(&plain).unwrap();
            drop(stream);
            bytes.len()
        });
        group.function("stream to string", || {
            let mut stream = EncoderStringWriter::new(&STANDARD);
            stream.write_all(&plain).unwrap();
            stream.into_inner().len()
        });
        let mut text = String::new();
        group.function("stream to reused string", || {
            text.clear();
            let mut stream = EncoderStringWriter::from_consumer(&mut text, &STANDARD);
            stream.write_all(&plain).unwrap();
            stream.into_inner().len()
        });
    });
}

fn decode(bench: &mut Bench<'_>) {
    bench.inputs("decode", "bytes", SMALL.into_iter().chain(LARGE), |group, &size| {
        let encoded = STANDARD.encode(plain(size * 3 / 4));
        group.bytes(size);
        group.function("bytes", || STANDARD.decode(&encoded).unwrap().len());
        let mut bytes = Vec::new();
        group.function("reused bytes", || {
            bytes.clear();
            STANDARD.decode_vec(&encoded, &mut bytes).unwrap();
            bytes.len()
        });
        let mut slice = vec![0; size];
        group.function("slice", || STANDARD.decode_slice(&encoded, &mut slice).unwrap());
        let mut bytes = Vec::with_capacity(size);
        group.function("stream", || {
            bytes.clear();
            let mut encoded = io::Cursor::new(&encoded[..]);
            DecoderReader::new(&mut encoded, &STANDARD).read_to_end(&mut bytes).unwrap()
        });
    });
}

/// Bytes that branches cannot be predicted from; the same in every process.
fn plain(bytes: usize) -> Vec<u8> {
    let mut random = Random::new(1);
    (0..bytes).map(|_| random.word() as u8).collect()
}

main!(encode, decode);
