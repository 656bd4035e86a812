//! Decodes delimited text and does nothing with it: what `fathom aggregate --delimiter` must be
//! compared with.
//!
//! The decoder is csv-core, the state machine under the well-known crate `csv`, fed with blocks of
//! 256 KiB. It counts records and fields, and aggregates nothing.
//!
//!     cargo run --release -p fathom-aggregate --example csv_alone -- FILE [DELIMITER]

use std::error::Error;
use std::fs::File;
use std::io::Read;

use csv_core::{ReadRecordResult, ReaderBuilder};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: csv_alone FILE [DELIMITER]")?;
    let delimiter = arguments.next().and_then(|text| text.bytes().next()).unwrap_or(b',');
    let mut file = File::open(path)?;
    let mut reader = ReaderBuilder::new().delimiter(delimiter).build();
    let mut input = vec![0; 256 << 10];
    let (mut fields, mut ends) = (vec![0; 1 << 20], vec![0; 1 << 10]);
    let (mut records, mut count) = (0_u64, 0_u64);
    loop {
        let have = file.read(&mut input)?;
        let mut rest = &input[..have];
        // To the decoder, no input is the end of it.
        while !rest.is_empty() || have == 0 {
            let (result, read, _, ended) = reader.read_record(rest, &mut fields, &mut ends);
            rest = &rest[read..];
            count += ended as u64;
            match result {
                ReadRecordResult::Record => records += 1,
                ReadRecordResult::InputEmpty => break,
                ReadRecordResult::End => {
                    println!("{records} records, {count} fields");
                    return Ok(());
                }
                ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {
                    return Err("a record of more than a mebibyte or a thousand fields".into());
                }
            }
        }
    }
}
