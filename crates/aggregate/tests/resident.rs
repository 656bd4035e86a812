//! A mapped file takes little memory, and a large one that is tried both ways says which was better. One
//! test, alone in its process, whose peak it reads.

use std::io::Write;

use fathom_aggregate::{Input, OnError, Options, Progress, Source, aggregate, format};
use fathom_machine::os::usage::peak_bytes;

/// Of a file several times as large.
const MOST_BYTES: u64 = 64 << 20;

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "there is no /proc")]
fn a_mapped_file_takes_little_memory_and_is_what_was_read() {
    let mut file = tempfile::tempfile().unwrap();
    let rows: Vec<u8> = (0..5_000)
        .flat_map(|row| format!("{row}{};{}.5\n", "-".repeat(200), row % 100).into_bytes())
        .collect();
    let mut size = 0;
    while size < 200 << 20 {
        file.write_all(&rows).unwrap();
        size += rows.len() as u64;
    }
    let before = peak_bytes().unwrap();
    let mut texts = Vec::new();
    for input in [Input::Map, Input::Auto, Input::Read] {
        let options = Options { threads: 2, input, ..Options::default() };
        let (path, file) = ("rows".into(), Box::new(file.try_clone().unwrap()));
        let sources = vec![Source::File { path, file, size }];
        let summary = aggregate(sources, &options, OnError::Fail, &Progress::default()).unwrap();
        texts.push(format::brc(&summary.columns[0], &format::Layout::default()));
        let way = &summary.ways[0];
        match input {
            Input::Map => assert!(way.is_mapped),
            // A file system may keep nothing in memory.
            Input::Auto => assert!(
                way.why.contains("mapped and") || way.why == "it is not in memory",
                "{way:?}"
            ),
            Input::Read => assert!(!way.is_mapped),
        }
    }
    assert!(texts[0] == texts[2] && texts[1] == texts[2]);
    let taken = peak_bytes().unwrap() - before;
    assert!(taken < MOST_BYTES, "{taken}");
}
