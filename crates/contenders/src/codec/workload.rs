//! The workload of the family: texts of growing length, and mORMot's header around what a codec makes
//! of them.

use std::cell::RefCell;
use std::fs::File;
use std::hint::black_box;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use fathom_measure::contender::{Metric, Preparation, Prepared, Unsupported};
use fathom_measure::digest::Digest;
use fathom_measure::facts::{Common, Facts, Form, Timed};
use fathom_measure::meter::Meter;
use fathom_measure::workload::{Offer, Spec, SpecError, Work, Workload};

use crate::checksum::{crc32c, fast_sum};
use crate::own;
use crate::system::Blocks;
use crate::tasks::{parameter, tasks};

/// Texts and what is done with them.
pub struct Texts {
    /// Compress or decompress.
    pub operation: Operation,
    corpus: Vec<u8>,
    /// Where in the corpus each text lies.
    places: Vec<Range<usize>>,
    /// Whether a text that does not shrink is stored, as mORMot's table has it: of a file of the user's each
    /// codec does what it takes.
    stores: bool,
}

tasks! {
    /// What is timed.
    Operation {
        Compress "compress" "plain text to container, both CRCs computed",
            form: Form::Compresses { ratio: RATIO }, own: true;
        Decompress "decompress" "container to plain text, no CRC of it checked, but the sums that zlib, xz and bzip2 have",
            form: Form::Decompresses { ratio: RATIO }, own: true;
    }
}

/// The metric of bytes compressed per byte of plain text.
const RATIO: &str = "compressed_per_plain";

/// What a contender brings.
pub(super) trait Codec {
    /// Appends the compressed text.
    fn compress(&mut self, plain: &[u8], payload: &mut Vec<u8>);
    /// Writes the plain text, which is as long as its place, over an earlier one; `false` when the payload makes no
    /// sense.
    fn decompress(&mut self, payload: &[u8], plain: &mut [u8]) -> bool;
}

/// mORMot's corpus has 101 prefixes, each 800 bytes longer than the one before.
const LONGEST: usize = 80_000;

/// Who answers questions about a format.
const LZ4: &[&str] = &["lz4", "lz4-flex"];
const DEFLATE: &[&str] = &["zlib+6", "zlib-rs+6", "libdeflate+6", "miniz-oxide+6"];

/// What is special about the family.
pub(super) const FACTS: Facts = Facts {
    part: Some("codec"),
    reference: Timed::AsOracle,
    quick: &[("prefixes", "6")],
    tasks: Operation::TASKS,
    common: &[
        Common::of("LZ4 compress", "compress", &["lz4"]).among(LZ4),
        Common::of("LZ4 decompress", "decompress", &["lz4"]).among(LZ4),
        Common::of("Zstd decompress", "decompress", &["zstd+3"]).among(&["zstd+3", "ruzstd"]),
        Common::of("deflate compress", "compress", &["zlib+6"]).among(DEFLATE),
        Common::of("deflate decompress", "decompress", &["zlib+6"]).among(DEFLATE),
    ],
    ..Facts::NONE
};

impl Workload for Texts {
    const OPERATIONS: &'static [Offer] = Operation::OFFERS;
    const PARAMETERS: &'static [Offer] = &[
        parameter("prefixes", "101", "texts, evenly long up to 80,000 bytes"),
        parameter(
            "data",
            "code",
            "`code`: this program's, differs by build; `people`: JSON, the same everywhere",
        ),
    ];
    const MADE: &'static [&'static str] = &["prefixes", "data"];

    fn load(spec: &Spec) -> Result<Texts, SpecError> {
        let operation = Operation::of(spec);
        if let Some(path) = &spec.file {
            let length = own::regular(path)?;
            let pieces = pieces(path, length).map_err(|error| own::unreadable(path, error))?;
            if pieces.iter().all(Vec::is_empty) {
                return Err(SpecError::empty(path));
            }
            let mut corpus = Vec::new();
            let places = pieces.iter().map(|piece| {
                corpus.extend_from_slice(piece);
                corpus.len() - piece.len()..corpus.len()
            });
            let places = places.collect();
            return Ok(Texts { operation, corpus, places, stores: false });
        }
        let prefixes = usize::try_from(spec.number("prefixes")?).unwrap_or(usize::MAX);
        if !(2..=100_000).contains(&prefixes) {
            return Err(spec.bad("prefixes", "from 2 to 100,000"));
        }
        let corpus = match spec.text("data") {
            "code" => program_code()?,
            "people" => crate::people::json(700),
            _ => return Err(spec.bad("data", "`code` or `people`; files are named for themselves")),
        };
        let longest = LONGEST.min(corpus.len());
        let places = (0..prefixes).map(|at| 0..longest * at / (prefixes - 1)).collect();
        Ok(Texts { operation, corpus, places, stores: true })
    }

    fn work(&self) -> Work {
        Work { bytes: self.bytes() as u64, items: self.places.len() as u64 }
    }

    fn cases() -> Vec<Spec> {
        Operation::OFFERS.iter().map(|offer| Spec::new(offer.name, &[])).collect()
    }

    fn small_cases() -> Vec<Spec> {
        let case = |data| {
            Operation::OFFERS
                .iter()
                .map(move |offer| Spec::new(offer.name, &[("prefixes", "4"), ("data", data)]))
        };
        ["code", "people"].into_iter().flat_map(case).collect()
    }
}

/// Machine code of this program, from its entry point on: the head of an executable is tables.
fn program_code() -> Result<Vec<u8>, SpecError> {
    let path = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("/proc/self/exe"));
    let header = head(&path, 0)?;
    // e_entry of ELF64: an address that, in a position-independent executable, is near its offset.
    let entry = header.get(24..32).map(|bytes| bytes.try_into().unwrap_or_default());
    head(&path, u64::from_le_bytes(entry.unwrap_or_default()) % (1 << 30))
}

fn head(path: &Path, from: u64) -> Result<Vec<u8>, SpecError> {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let longest = file.metadata()?.len().saturating_sub(LONGEST as u64);
        part(&mut file, from.min(longest), LONGEST as u64)
    };
    read().map_err(|error| own::unreadable(path, error))
}

/// At most `length` bytes of a file.
fn part(file: &mut File, from: u64, length: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A file of the user's is taken whole up to this many bytes; of a larger one as many, in so many pieces,
/// each a text of its own, the first at its start, the last at its end.
const WHOLE: u64 = 1 << 20;
const PIECES: u64 = 8;

/// The texts of a file.
fn pieces(path: &Path, length: u64) -> io::Result<Vec<Vec<u8>>> {
    let mut file = File::open(path)?;
    if length <= WHOLE {
        return Ok(vec![part(&mut file, 0, WHOLE)?]);
    }
    let each = WHOLE / PIECES;
    let gap = |at: u64| u128::from(length - each) * u128::from(at) / u128::from(PIECES - 1);
    (0..PIECES).map(|at| part(&mut file, gap(at) as u64, each)).collect()
}

/// Below this many bytes, or when fewer than [`GAIN`] are saved, a text is stored.
const SHORT: usize = 100;
const GAIN: usize = 64;

/// A container: the header with a mark for stored texts, and the payload.
struct Container {
    plain_crc: u32,
    stored: bool,
    payload_crc: u32,
    payload: Vec<u8>,
}

impl Texts {
    fn plain(&self) -> impl Iterator<Item = &[u8]> {
        self.places.iter().map(|place| &self.corpus[place.clone()])
    }

    fn longest(&self) -> usize {
        self.places.iter().map(Range::len).max().unwrap_or(0)
    }

    fn bytes(&self) -> usize {
        self.places.iter().map(Range::len).sum()
    }

    /// A contender that brings `codec`.
    pub(super) fn coded<'w>(&'w self, codec: impl Codec + 'w) -> Preparation<'w> {
        let plain = RefCell::new(vec![0; self.longest()]);
        let codec = Box::new(codec);
        let mut pass = Pass { texts: self, codec, containers: Vec::new(), plain };
        if self.operation == Operation::Decompress {
            pass.containers = pass.compressed();
        }
        Ok(Box::new(pass))
    }

    /// A contender that works on whole buffers.
    pub(super) fn blocks<'w>(&'w self, blocks: impl Blocks + 'w) -> Preparation<'w> {
        self.coded(Whole { blocks, scratch: Vec::new() })
    }

    /// The same, if it has this level.
    pub(super) fn perhaps<'w>(
        &'w self,
        blocks: Option<impl Blocks + 'w>,
        level: i32,
    ) -> Preparation<'w> {
        let blocks = blocks.ok_or_else(|| Unsupported(format!("has no level {level}")))?;
        self.blocks(blocks)
    }
}

/// A codec of whole buffers, and what it writes to: that grows and is never cleared, for clearing takes time.
struct Whole<B> {
    blocks: B,
    scratch: Vec<u8>,
}

impl<B: Blocks> Codec for Whole<B> {
    fn compress(&mut self, plain: &[u8], payload: &mut Vec<u8>) {
        let bound = self.blocks.bound(plain.len());
        self.scratch.resize(bound.max(self.scratch.len()), 0);
        let length = self.blocks.compress(plain, &mut self.scratch[..bound]).unwrap_or(0);
        payload.extend_from_slice(&self.scratch[..length]);
    }

    fn decompress(&mut self, payload: &[u8], plain: &mut [u8]) -> bool {
        self.blocks.decompress(payload, plain) == Some(plain.len())
    }
}

/// Compiled once, for all codecs: what calls by a pointer cost is nothing beside a text.
struct Pass<'w> {
    texts: &'w Texts,
    codec: Box<dyn Codec + 'w>,
    containers: Vec<Container>,
    /// Where texts are unpacked to: as long as the longest.
    plain: RefCell<Vec<u8>>,
}

impl Pass<'_> {
    fn compressed(&mut self) -> Vec<Container> {
        let codec = &mut *self.codec;
        let stores = self.texts.stores;
        self.texts.plain().map(|plain| container(codec, black_box(plain), stores)).collect()
    }

    /// The plain text of all containers, summed; what cannot be read is left out, so that the sum
    /// is wrong.
    fn decompressed(&mut self) -> u64 {
        let mut sum = 0_u64;
        let mut buffer = self.plain.borrow_mut();
        for (container, place) in self.containers.iter().zip(&self.texts.places) {
            let plain = &mut buffer[..place.len()];
            // A text begins as the one before it: nothing of that may pass for an answer.
            plain.fill(!0);
            let is_read = unpack(&mut *self.codec, container, plain);
            let read = if is_read { plain } else { &mut [] };
            sum = sum.rotate_left(1) ^ u64::from(fast_sum(read)) ^ read.len() as u64;
        }
        sum
    }
}

fn container(codec: &mut dyn Codec, plain: &[u8], stores: bool) -> Container {
    let plain_crc = crc32c(plain);
    let mut payload = Vec::new();
    let is_short = stores && plain.len() < SHORT;
    if !is_short {
        codec.compress(plain, &mut payload);
    }
    if is_short || (stores && payload.len() + GAIN >= plain.len()) {
        payload.clear();
        payload.extend_from_slice(plain);
        return Container { plain_crc, stored: true, payload_crc: plain_crc, payload };
    }
    Container { plain_crc, stored: false, payload_crc: crc32c(&payload), payload }
}

fn unpack(codec: &mut dyn Codec, container: &Container, plain: &mut [u8]) -> bool {
    let payload = black_box(&container.payload[..]);
    if container.stored {
        plain.copy_from_slice(payload);
        return true;
    }
    codec.decompress(payload, plain)
}

impl Prepared for Pass<'_> {
    fn sample(&mut self, iterations: u64, meter: &mut dyn Meter) -> Digest {
        match self.texts.operation {
            Operation::Compress => {
                meter.start();
                for _ in 0..iterations.max(1) {
                    self.containers = black_box(self.compressed());
                }
                meter.stop();
            }
            Operation::Decompress => {
                let mut buffer = self.plain.borrow_mut();
                meter.start();
                for _ in 0..iterations.max(1) {
                    for (container, place) in self.containers.iter().zip(&self.texts.places) {
                        let plain = &mut buffer[..place.len()];
                        black_box(unpack(&mut *self.codec, container, plain));
                        black_box(plain);
                    }
                }
                meter.stop();
            }
        }
        // Whatever was timed, what counts is that the texts come back, and their CRCs.
        let sum = self.decompressed();
        let crcs = self.containers.iter().map(|container| {
            let is_right = crc32c(&container.payload) == container.payload_crc;
            if is_right { container.plain_crc } else { 0 }
        });
        crcs.fold(Digest::of_u64(sum), |digest, crc| digest.with_u64(crc.into()))
    }

    fn metrics(&mut self) -> Vec<Metric> {
        let compressed: usize = self.compressed().iter().map(|c| c.payload.len()).sum();
        let value = compressed as f64 / self.texts.bytes().max(1) as f64;
        vec![Metric { name: RATIO.into(), value, less_is_better: Some(true) }]
    }
}

#[cfg(test)]
mod tests {
    use fathom_measure::meter::Untimed;

    use super::super::reference::Stored;
    use super::*;

    /// Says that it has written a text, and has not.
    struct Idle;

    impl Codec for Idle {
        fn compress(&mut self, plain: &[u8], payload: &mut Vec<u8>) {
            Stored.compress(plain, payload);
        }

        fn decompress(&mut self, _: &[u8], _: &mut [u8]) -> bool {
            true
        }
    }

    /// Makes sevens, but eights where they are not the first.
    impl Blocks for Idle {
        fn bound(&self, plain: usize) -> usize {
            plain + 10
        }

        fn compress(&mut self, plain: &[u8], into: &mut [u8]) -> Option<usize> {
            into.fill(if into[0] == 0 { 7 } else { 8 });
            Some(plain.len())
        }

        fn decompress(&mut self, _: &[u8], into: &mut [u8]) -> Option<usize> {
            Some(into.len())
        }
    }

    /// Between texts of growing length, and for each text that was packed.
    #[test]
    fn buffers_are_not_filled_inside_the_time() {
        let mut whole = Whole { blocks: Idle, scratch: Vec::new() };
        let mut plain = vec![7; 200];
        for (length, made) in [(200, 7), (0, 8), (100, 8), (200, 8)] {
            let container = container(&mut whole, &vec![7; length], false);
            assert_eq!(container.payload, vec![made; length]);
            assert!(unpack(&mut whole, &container, &mut plain[..length]));
        }
        assert_eq!(plain, [7; 200]);
    }

    #[test]
    fn a_text_that_lay_in_the_buffer_is_no_answer() {
        let (corpus, places) = (vec![7; 200], vec![0..200, 0..200]);
        let texts = Texts { operation: Operation::Decompress, corpus, places, stores: false };
        let digest = |codec: Box<dyn Codec>| {
            let plain = RefCell::new(texts.corpus.clone());
            let mut pass = Pass { texts: &texts, codec, containers: Vec::new(), plain };
            pass.containers = pass.compressed();
            pass.sample(1, &mut Untimed)
        };
        assert_ne!(digest(Box::new(Idle)), digest(Box::new(Stored)));
    }

    /// Of a file that does not shrink all codecs had the speed of a copy.
    #[test]
    fn of_a_file_every_codec_does_what_it_takes() {
        for length in [1, SHORT - 1, 5 * SHORT] {
            let plain = vec![7; length];
            assert!(container(&mut Stored, &plain, true).stored, "{length}");
            assert!(!container(&mut Stored, &plain, false).stored, "{length}");
        }
    }
}
