//! Every level against the oracle of the family, and digests that were published.

use super::*;
use crate::digest::reference;
use crate::digest::workload::Operation;

/// 448 bits: with what ends it two blocks of 64 bytes. Of NIST's examples for FIPS 180 and 202.
const TWO_BLOCKS: &str = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";

/// 896 bits: two of 128 bytes. Of the same.
const TWO_LONG_BLOCKS: &str = "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn\
                               hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu";

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

/// A message in every lane at every level has the digest that was published.
fn holds<const DIGEST: usize>(form: fn(Level) -> Together<DIGEST>, published: &[(&str, &str)]) {
    for (message, expected) in published {
        for level in Level::available() {
            for digest in form(level).digest(&[message.as_bytes(); MESSAGES]) {
                let found: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
                assert_eq!(found, *expected, "{level}, {message:?}");
            }
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
fn published_digests_of_md5_are_found() {
    // The test suite of RFC 1321, A.5.
    holds(
        md5,
        &[
            ("", "d41d8cd98f00b204e9800998ecf8427e"),
            ("a", "0cc175b9c0f1b6a831c399e269772661"),
            ("abc", "900150983cd24fb0d6963f7d28e17f72"),
            ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
            (
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
                "d174ab98d277d9f5a5611c2c9f419d9f",
            ),
            (
                "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
                "57edf4a22be3c955ac49da2e2107b67a",
            ),
        ],
    );
}

#[test]
fn published_digests_of_sha2_are_found() {
    // The examples of FIPS 180-4 that NIST publishes, and its vector for the empty message.
    holds(
        sha256,
        &[
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (TWO_BLOCKS, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
        ],
    );
    holds(
        sha512,
        &[
            (
                "",
                "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce\
             47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e",
            ),
            (
                "abc",
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
             2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
            ),
            (
                TWO_LONG_BLOCKS,
                "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018\
             501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909",
            ),
        ],
    );
}

#[test]
fn published_digests_of_sha3_are_found() {
    // Of FIPS 202 the same.
    holds(
        sha3_256,
        &[
            ("", "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a"),
            ("abc", "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"),
            (TWO_BLOCKS, "41c0dba2a9d6240849100376a8235e2c82e1b9998a999e21db32dd97496d3376"),
            (TWO_LONG_BLOCKS, "916f6061fe879741ca6469b43971dfdb28b1a32dc36cb3254e812be27aad1d18"),
        ],
    );
}

#[test]
#[should_panic(expected = "messages of one length")]
fn messages_of_several_lengths_are_refused() {
    let mut messages: [&[u8]; MESSAGES] = [b"abc"; MESSAGES];
    messages[MESSAGES - 1] = b"abcd";
    md5(Level::Scalar).digest(&messages);
}
