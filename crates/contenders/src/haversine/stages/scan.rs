//! Tokens searched to their end and copied in one piece, instead of a match and a copy per byte. From
//! here on, that the text is JSON is taken on trust, as in the notes.

use super::number::quick;
use super::scanner;
use super::workload::step;

step! {
    SCAN, Scan: "scan", "scan.rs";
    |source, take| scanner::each_pair::<true>(source, 4 << 10, quick, take)
}
