//! Strategies: how to aggregate, as a point in a space of choices, so that each can be measured.
//!
//! ```text
//!   entry    inline: 64 bytes with the name │ compact: 12 to 24 bytes behind a 16-bit index │ fathom
//!   table    perthread │ shared             whose names
//!   check    full │ hash                    what decides that two names are the same
//!   parse    branches │ branchless          how a value becomes a number
//!   scan     row │ twostage                 find each `;` │ list newlines, then parse backwards
//!   input    pread │ whole │ whole-populate │ chunk │ chunk-populate
//!   affinity on │ off      chunk  bytes a thread takes      threads  how many
//! ```
//!
//! The presets `old` to `final-full` are the stations of the journey that Arnaud Bouchez describes
//! for the mORMot entry to the Object Pascal challenge, written anew from that description; `fathom`
//! is the [engine](fathom_aggregate::aggregate()) itself. Each choice is one small part in `kernel/`, and
//! the compiler joins them into one loop per combination.
//!
//! What a strategy cannot hold is an error, never a wrong number ([`Error::Row`], [`Refusal`]), with one exception that is the point of it: where hashes are trusted, two names with equal
//! hash become one. Files that are mapped must not change meanwhile.

use std::fmt;
use std::str::FromStr;

#[allow(unsafe_code)] // the loops of the journey: each block says why it holds
mod kernel;
mod run;

pub use kernel::Refusal;
pub use run::{Error, aggregate};

/// A point in the space of choices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Strategy {
    /// How names and statistics are stored.
    pub entry: Entry,
    /// Whether threads share the names.
    pub table: Table,
    /// What decides that two names are the same.
    pub check: Check,
    /// How a value becomes a number.
    pub parse: Parse,
    /// How rows are found.
    pub scan: Scan,
    /// How bytes get into memory.
    pub input: Input,
    /// Whether thread i is bound to a processor.
    pub affinity: bool,
    /// Bytes a thread takes at a time.
    pub chunk_bytes: usize,
    /// Threads; as many as processors when it is none.
    pub threads: Option<usize>,
}

/// Defines an axis: its values and the words for them.
macro_rules! axis {
    ($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$value_doc])* $value,)*
        }

        impl $name {
            /// Every value, in the order they are shown.
            pub const ALL: &[$name] = &[$($name::$value),*];

            /// The word users write.
            pub fn word(self) -> &'static str {
                match self {
                    $($name::$value => $word,)*
                }
            }

            fn of(axis: &str, word: &str) -> Result<$name, StrategyError> {
                $name::ALL.iter().copied().find(|value| value.word() == word).ok_or_else(|| {
                    let known: Vec<&str> = $name::ALL.iter().map(|value| value.word()).collect();
                    no_value(axis, word, &known.join(", "))
                })
            }
        }
    };
}

axis! {
    /// How names and statistics are stored.
    Entry {
        /// One cache line per name: the name itself (51 bytes at most) and its statistics.
        Inline = "inline",
        /// Statistics of 12 bytes in a dense array behind 2^18 slots of 16-bit indices.
        Compact = "compact",
        /// The engine's tables, in batches of rows that are prefetched.
        Fathom = "fathom",
    }
}

axis! {
    /// Whether threads share the names.
    Table {
        /// Each thread has its own.
        PerThread = "perthread",
        /// One list for all threads, read without a lock; statistics stay with each thread.
        Shared = "shared",
    }
}

axis! {
    /// What decides that two names are the same.
    Check {
        /// Their bytes.
        Full = "full",
        /// Their hashes: on other data than today's, two names silently become one.
        Hash = "hash",
    }
}

axis! {
    /// How a value becomes a number.
    Parse {
        /// A branch on the sign and one on the number of digits.
        Branches = "branches",
        /// Shifts, masks and one multiplication.
        Branchless = "branchless",
    }
}

axis! {
    /// How rows are found.
    Scan {
        /// Each row searches its own delimiter, and begins where the row before it ended.
        Row = "row",
        /// Newlines are listed first; values are parsed backwards from them.
        TwoStage = "twostage",
    }
}

axis! {
    /// How bytes get into memory.
    Input {
        /// Read into one buffer per thread.
        Pread = "pread",
        /// The whole file is mapped; pages come when they are touched.
        Whole = "whole",
        /// The whole file is mapped and made present before the first thread starts.
        WholePopulate = "whole-populate",
        /// Each thread maps its chunk, and unmaps it.
        Chunk = "chunk",
        /// Each thread maps its chunk with all its pages at once, and unmaps it.
        ChunkPopulate = "chunk-populate",
    }
}

/// A strategy that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StrategyError {
    /// No preset of that name.
    #[error("no strategy {given:?}; there is: {known}")]
    Preset {
        /// What was asked for.
        given: String,
        /// What exists.
        known: String,
    },
    /// No axis of that name.
    #[error("no axis {given:?}; there is: {AXES}")]
    Axis {
        /// What was asked for.
        given: String,
    },
    /// No such value on the axis.
    #[error("{axis}={given}: there is: {known}")]
    Value {
        /// The axis.
        axis: String,
        /// What was asked for.
        given: String,
        /// What exists.
        known: String,
    },
    /// Choices that do not go together.
    #[error("{0}")]
    Unbuilt(&'static str),
}

const AXES: &str = "entry, table, check, parse, scan, input, affinity, chunk, threads";

/// A strategy with a name.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// As written on the command line.
    pub name: &'static str,
    /// Its choices.
    pub strategy: Strategy,
}

const MIB: usize = 1 << 20;

/// Final of the journey, from which the others differ.
const FINAL: Strategy = Strategy {
    entry: Entry::Compact,
    table: Table::Shared,
    check: Check::Hash,
    parse: Parse::Branchless,
    scan: Scan::Row,
    input: Input::ChunkPopulate,
    affinity: true,
    chunk_bytes: 16 * MIB,
    threads: None,
};

/// The named strategies, in the order of the journey.
pub const PRESETS: &[Preset] = &[
    // 64-byte entries per thread with the name inside, the whole file mapped.
    Preset {
        name: "old",
        strategy: Strategy {
            entry: Entry::Inline,
            table: Table::PerThread,
            check: Check::Full,
            parse: Parse::Branches,
            input: Input::Whole,
            affinity: false,
            chunk_bytes: 4 * MIB,
            ..FINAL
        },
    },
    // One list of names for all threads, hashes trusted.
    Preset {
        name: "sharedht",
        strategy: Strategy {
            parse: Parse::Branches,
            input: Input::Whole,
            affinity: false,
            chunk_bytes: 8 * MIB,
            ..FINAL
        },
    },
    // Names per thread, compared in full, chunks mapped one by one.
    Preset {
        name: "fullcheck",
        strategy: Strategy {
            table: Table::PerThread,
            check: Check::Full,
            affinity: false,
            chunk_bytes: 8 * MIB,
            ..FINAL
        },
    },
    // Names per thread, hashes trusted, 16-byte entries.
    Preset { name: "perthreadht", strategy: Strategy { table: Table::PerThread, ..FINAL } },
    // One list of names for all threads, hashes trusted, 12-byte entries.
    Preset { name: "final", strategy: FINAL },
    // Final with names compared in full.
    Preset { name: "final-full", strategy: Strategy { check: Check::Full, ..FINAL } },
    Preset { name: "fathom", strategy: Strategy::FATHOM },
];

impl Strategy {
    /// The engine as a strategy.
    pub const FATHOM: Strategy = Strategy {
        entry: Entry::Fathom,
        table: Table::PerThread,
        check: Check::Full,
        parse: Parse::Branchless,
        scan: Scan::TwoStage,
        input: Input::Pread,
        affinity: false,
        chunk_bytes: fathom_aggregate::CHUNK_BYTES,
        threads: None,
    };

    /// The preset of that name.
    ///
    /// # Errors
    /// [`StrategyError::Preset`].
    pub fn named(name: &str) -> Result<Strategy, StrategyError> {
        let found = PRESETS.iter().find(|preset| preset.name == name);
        found.map(|preset| preset.strategy).ok_or_else(|| StrategyError::Preset {
            given: name.to_owned(),
            known: PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>().join(", "),
        })
    }

    /// The same strategy with another choice on one axis. Whether the choices go together is
    /// [`checked`](Strategy::checked) when they are complete.
    ///
    /// # Errors
    /// An axis or a value that does not exist.
    pub fn with(mut self, axis: &str, value: &str) -> Result<Strategy, StrategyError> {
        match axis {
            "entry" => self.entry = Entry::of(axis, value)?,
            "table" => self.table = Table::of(axis, value)?,
            "check" => self.check = Check::of(axis, value)?,
            "parse" => self.parse = Parse::of(axis, value)?,
            "scan" => self.scan = Scan::of(axis, value)?,
            "input" => self.input = Input::of(axis, value)?,
            "affinity" => self.affinity = Switch::of(axis, value)? == Switch::On,
            "chunk" => self.chunk_bytes = chunk_bytes(value)?,
            "threads" => {
                let threads = value.parse().ok().filter(|threads| (1..=65_535).contains(threads));
                self.threads = Some(threads.ok_or_else(|| no_value(axis, value, "1 to 65535"))?);
            }
            _ => return Err(StrategyError::Axis { given: axis.to_owned() }),
        }
        Ok(self)
    }

    /// The strategy, if its choices go together.
    ///
    /// # Errors
    /// [`StrategyError::Unbuilt`] says why they do not.
    pub fn checked(self) -> Result<Strategy, StrategyError> {
        let ours = self.entry == Entry::Fathom;
        let unbuilt = if ours && self.table == Table::Shared {
            "entry=fathom keeps names and statistics in one slot, per thread: table=shared would \
             share the statistics"
        } else if ours && self.scan == Scan::Row {
            "entry=fathom takes rows in batches: there is only scan=twostage"
        } else if ours && self.parse == Parse::Branches {
            "entry=fathom parses eight values at once: there is only parse=branchless"
        } else if self.entry == Entry::Inline && self.table == Table::Shared {
            "entry=inline keeps names beside the statistics of a thread: there is only \
             table=perthread"
        } else if self.entry == Entry::Inline && self.check == Check::Hash {
            "entry=inline has no room for a hash: there is only check=full"
        } else {
            return Ok(self);
        };
        Err(StrategyError::Unbuilt(unbuilt))
    }

    /// Whether this is the engine itself, as its users have it.
    pub(crate) fn is_engine(&self) -> bool {
        let own = self.input == Input::Pread && self.check == Check::Full && !self.affinity;
        self.entry == Entry::Fathom && own
    }
}

axis! {
    /// A yes or no.
    Switch {
        /// No.
        Off = "off",
        /// Yes.
        On = "on",
    }
}

/// A number of bytes with an optional K or M.
fn chunk_bytes(text: &str) -> Result<usize, StrategyError> {
    let (digits, unit) = match text.as_bytes() {
        [.., b'k' | b'K'] => (&text[..text.len() - 1], 1 << 10),
        [.., b'm' | b'M'] => (&text[..text.len() - 1], 1 << 20),
        _ => (text, 1),
    };
    let bytes = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(unit));
    let bytes = bytes.filter(|bytes| (64..=1 << 30).contains(bytes));
    bytes.ok_or_else(|| no_value("chunk", text, "64 bytes to 1024M, such as 256K or 16M"))
}

/// A value that an axis does not have.
fn no_value(axis: &str, given: &str, known: &str) -> StrategyError {
    let [axis, given, known] = [axis, given, known].map(str::to_owned);
    StrategyError::Value { axis, given, known }
}

fn show_chunk(bytes: usize) -> String {
    match bytes {
        _ if bytes.is_multiple_of(1 << 20) => format!("{}M", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{}K", bytes >> 10),
        _ => bytes.to_string(),
    }
}

/// `NAME` or `NAME,axis=value,…`, the choices after the name in place of the preset's.
impl FromStr for Strategy {
    type Err = StrategyError;

    fn from_str(text: &str) -> Result<Strategy, StrategyError> {
        let mut parts = text.split(',');
        let mut strategy = Strategy::named(parts.next().unwrap_or_default())?;
        for part in parts {
            let (axis, value) = part
                .split_once('=')
                .ok_or_else(|| StrategyError::Axis { given: part.to_owned() })?;
            strategy = strategy.with(axis, value)?;
        }
        strategy.checked()
    }
}

/// The nearest preset and the choices that differ from it, as it can be parsed again.
impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let differing = |preset: &&Preset| {
            preset.strategy.words().len() + {
                let other = preset.strategy.words();
                self.words().iter().filter(|word| !other.contains(word)).count()
            }
        };
        let nearest = PRESETS.iter().min_by_key(differing).expect("there are presets");
        f.write_str(nearest.name)?;
        let theirs = nearest.strategy.words();
        let mut others = self.words().into_iter().filter(|word| !theirs.contains(word));
        others.try_for_each(|word| write!(f, ",{word}"))
    }
}

impl Strategy {
    /// `axis=value` for every axis.
    fn words(&self) -> Vec<String> {
        let mut words = vec![
            format!("entry={}", self.entry.word()),
            format!("table={}", self.table.word()),
            format!("check={}", self.check.word()),
            format!("parse={}", self.parse.word()),
            format!("scan={}", self.scan.word()),
            format!("input={}", self.input.word()),
            format!("affinity={}", if self.affinity { "on" } else { "off" }),
            format!("chunk={}", show_chunk(self.chunk_bytes)),
        ];
        words.extend(self.threads.map(|threads| format!("threads={threads}")));
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_built_and_parses_back_from_its_name() {
        for preset in PRESETS {
            assert_eq!(preset.name.parse(), Ok(preset.strategy));
            assert_eq!(preset.strategy.to_string(), preset.name);
        }
    }

    #[test]
    fn choices_replace_the_preset_s_and_parse_back() {
        let text = "final,check=full,input=pread,chunk=256K,threads=3";
        let strategy: Strategy = text.parse().unwrap();
        assert_eq!((strategy.check, strategy.chunk_bytes), (Check::Full, 256 << 10));
        assert_eq!(strategy.to_string().parse(), Ok(strategy));
    }

    #[test]
    fn mistakes_are_answered_with_what_there_is() {
        for (text, expected) in [
            ("finale", "no strategy \"finale\"; there is: old, sharedht"),
            ("final,speed=9", "no axis \"speed\"; there is: entry, table"),
            ("final,check", "no axis \"check\""),
            ("final,check=half", "check=half: there is: full, hash"),
            ("final,chunk=1", "chunk=1: there is: 64 bytes"),
            ("final,threads=0", "threads=0: there is: 1 to"),
            ("old,check=hash", "entry=inline has no room for a hash"),
        ] {
            let error = text.parse::<Strategy>().unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}
