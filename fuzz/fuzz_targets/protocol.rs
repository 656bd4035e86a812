//! Any bytes from the other side of a worker's pipe, in both directions: a worker answers every line
//! with one line or ends with an error, a conductor's reader takes what is a message and refuses the
//! rest, and what was taken says the same after it was written again. The first byte chooses.
#![no_main]

use std::io::{BufRead, BufReader};

use fathom_measure::protocol::{Reply, Request, receive, send};
use fathom_measure::worker::serve;
use libfuzzer_sys::fuzz_target;

/// Requests that would have a real worker loop for as long as they ask, or take a descriptor that
/// belongs to this process.
fn is_harmless(line: &str) -> bool {
    match serde_json::from_str(line) {
        Ok(Request::Sample { iterations, warm }) => iterations.max(warm) < 1000,
        Ok(Request::Open { data, .. }) => data.is_none(),
        _ => true,
    }
}

fn worker(input: &[u8]) {
    let lines = String::from_utf8_lossy(input);
    let kept: Vec<&str> = lines.lines().filter(|line| is_harmless(line)).collect();
    let text: String = kept.iter().flat_map(|line| [line, "\n"]).collect();
    let mut replies = Vec::new();
    let ended = serve(&[], &mut BufReader::new(text.as_bytes()), &mut replies);
    for line in replies.lines() {
        let line = line.unwrap();
        serde_json::from_str::<Reply>(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
    }
    let answered = replies.iter().filter(|&&byte| byte == b'\n').count();
    assert!(answered <= kept.len());
    if ended.is_ok() {
        assert_eq!(answered, kept.len(), "{text}");
    }
}

fn conductor(input: &[u8]) {
    let mut input = BufReader::new(input);
    while let Ok(Some(reply)) = receive::<Reply>(&mut input) {
        let (mut line, mut again) = (Vec::new(), Vec::new());
        send(&mut line, &reply).unwrap();
        // A figure that is no number has no word in JSON, and cannot come back.
        if let Ok(Some(back)) = receive::<Reply>(&mut BufReader::new(&line[..])) {
            send(&mut again, &back).unwrap();
            assert_eq!(String::from_utf8_lossy(&again), String::from_utf8_lossy(&line));
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let [choice, input @ ..] = data else { return };
    if choice & 1 == 0 { worker(input) } else { conductor(input) }
});
