//! `fathom demo`: the whole story in a minute, by running the commands a user would run.
//!
//! Each chapter is a list of command lines, shown and then run by this same program in a temporary
//! folder: what is printed is what they print, and they can be repeated on other data.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::exit::Exit;

/// Show in under a minute what fathom does, with the commands to repeat it on your data
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Only these chapters
    #[arg(value_name = "CHAPTER", value_parser = names())]
    chapters: Vec<String>,
}

/// A chapter is called what the command it ends with is called.
struct Chapter {
    about: &'static str,
    /// What is run, as a user would write it after `fathom`; split at blanks.
    commands: &'static [&'static str],
}

const CHAPTERS: &[Chapter] = &[
    Chapter {
        about: "Ten million temperatures of 413 cities: min, mean and max of each, exact.",
        commands: &[
            "generate measurements --rows 10M --output measurements.txt",
            "aggregate --verbose --format table --stats mean,min,max,count --sort mean --top 10 \
         measurements.txt",
            "aggregate --format table --stats mean,min,max,count --sort mean --reverse --top 10 \
         measurements.txt",
        ],
    },
    Chapter {
        about: "Forty thousand pairs of JSON to their mean distance, with the answers to check it; \
                where the time went, and how the same file is read slower.",
        commands: &[
            "generate pairs --count 40000 --output pairs.json --answers pairs.f64",
            "haversine pairs.json pairs.f64 --profile",
            "haversine pairs.json --stages --rounds 2",
        ],
    },
    #[cfg(feature = "kv")]
    Chapter {
        about: "Fifty thousand words: which structure, hash function and allocator suit them here?",
        commands: &[
            "generate keys --count 50k --keys words --output words.txt",
            "kv words.txt --budget 4s",
        ],
    },
    #[cfg(feature = "cpu")]
    Chapter {
        about: "Two checksums and a digest: which library is fastest on this processor?",
        commands: &["cpu --only crc32c,adler32,sha256 --budget 1s"],
    },
];

impl Chapter {
    fn name(&self) -> &'static str {
        let last = self.commands.last().and_then(|line| line.split(' ').next());
        last.expect("a chapter runs something")
    }
}

fn names() -> Vec<&'static str> {
    CHAPTERS.iter().map(Chapter::name).collect()
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    let folder = fathom_measure::scratch::folder("demo")?;
    let start = Instant::now();
    let chosen = |chapter: &&Chapter| {
        options.chapters.is_empty() || options.chapters.iter().any(|name| name == chapter.name())
    };
    for chapter in CHAPTERS.iter().filter(chosen) {
        writeln!(io::stdout(), "== {}: {}", chapter.name(), chapter.about)?;
        for line in chapter.commands {
            writeln!(io::stdout(), "\n$ fathom {line}")?;
            let status = step(line, folder.path())?;
            anyhow::ensure!(status.success(), "`fathom {line}` ended with {status}");
        }
        writeln!(io::stdout())?;
    }
    let seconds = start.elapsed().as_secs_f64();
    writeln!(
        io::stdout(),
        "Done in {seconds:.1} s; the files are gone. Repeat any line above on your own data, and \
         see `fathom help`."
    )?;
    Ok(Exit::Done)
}

/// A hundred times what the longest takes.
const STEP_LIMIT: Duration = Duration::from_secs(1200);

fn step(line: &str, folder: &Path) -> anyhow::Result<ExitStatus> {
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    let mut command = Command::new(&program);
    command.args(line.split_whitespace()).current_dir(folder);
    let cannot = || format!("cannot run {}", program.display());
    let mut child = command.spawn().with_context(cannot)?;
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().with_context(cannot)? {
            return Ok(status);
        }
        if start.elapsed() > STEP_LIMIT {
            // Its own processes end with it.
            child.kill().and_then(|()| child.wait()).with_context(cannot)?;
            anyhow::bail!("`fathom {line}` did not end within {STEP_LIMIT:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
