//! Every level against the oracle of the family, which published digests judge.

use super::*;
use crate::digest::reference;
use crate::digest::workload::Operation;

/// At every level, for every length about the ends of the first blocks and some more.
fn agrees<const DIGEST: usize>(form: fn(Level) -> Together<DIGEST>, operation: Operation) {
    let bytes = crate::mix::random(5, 1000 + 3 * MESSAGES);
    for length in (0..300).chain([400, 543, 544, 545, 1000]) {
        // All differ, and lie at places of every alignment.
        let messages: [&[u8]; MESSAGES] =
            std::array::from_fn(|lane| &bytes[3 * lane..3 * lane + length]);
        let expected = messages.map(|message| reference::digest(operation, message));
        for level in Level::available() {
            let form = form(level);
            let found = form.digest(&messages).map(|digest| digest.to_vec());
            assert_eq!(found, expected, "{level}, {length} bytes");
            assert_eq!(form.level(), level);
        }
    }
}

#[test]
fn every_length_and_lane_of_md5_agrees_with_the_reference() {
    agrees(md5, Operation::Md5);
}

#[test]
fn every_length_and_lane_of_sha256_agrees_with_the_reference() {
    agrees(sha256, Operation::Sha256);
}

#[test]
fn every_length_and_lane_of_sha512_agrees_with_the_reference() {
    agrees(sha512, Operation::Sha512);
}

#[test]
fn every_length_and_lane_of_sha3_agrees_with_the_reference() {
    agrees(sha3_256, Operation::Sha3_256);
}

#[test]
#[should_panic(expected = "messages of one length")]
fn messages_of_several_lengths_are_refused() {
    let mut messages: [&[u8]; MESSAGES] = [b"abc"; MESSAGES];
    messages[MESSAGES - 1] = b"abcd";
    md5(Level::Scalar).digest(&messages);
}
