//! `fathom generate pairs`: files for `fathom haversine`, the course's bit for bit.

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread;

use fathom_haversine::generate::{self, PAIRS_LIMIT};

use crate::exit::Exit;
use crate::output::{self, Output};
use crate::value;

/// Write a JSON file of coordinate pairs, and the distances a correct reader must find
///
/// Method, seed and count give the bytes of the course's generator; --numbers shortest prints the
/// same pairs with fewer digits and without losing any. Says on stderr what the course's says.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// How the points are spread
    #[arg(short, long, value_enum, default_value_t = Method::Uniform)]
    method: Method,

    /// How many pairs: 1000, 250k, 10M (decimal)
    #[arg(short, long, value_parser = count)]
    count: u64,

    /// Which of the many possible files
    #[arg(short, long, default_value_t = 1)]
    seed: u64,

    /// How numbers are printed
    #[arg(long, value_enum, default_value_t = Numbers::Course)]
    numbers: Numbers,

    /// Where to write; - is stdout. A file appears when it is complete
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,

    /// Also write the distance of each pair, then their mean, as raw little-endian doubles
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,

    /// How many threads [default: one per processor]; the bytes do not depend on it
    #[arg(short, long)]
    threads: Option<NonZeroUsize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Method {
    /// All over the globe
    Uniform,
    /// In about 64 rectangles, one after another
    Cluster,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Numbers {
    /// Sixteen decimals, as the course prints them
    Course,
    /// The fewest digits that read back as the same double
    Shortest,
}

fn count(text: &str) -> Result<u64, String> {
    match value::count(text)? {
        count if count < PAIRS_LIMIT => Ok(count),
        _ => Err(format!("there must be fewer than {PAIRS_LIMIT} pairs")),
    }
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    let method = match options.method {
        Method::Uniform => generate::Method::Uniform,
        Method::Cluster => generate::Method::Cluster,
    };
    let numbers = match options.numbers {
        Numbers::Course => generate::Numbers::Course,
        Numbers::Shortest => generate::Numbers::Shortest,
    };
    let mut outputs = vec![("--output", options.output.as_path())];
    outputs.extend(options.answers.as_deref().map(|answers| ("--answers", answers)));
    output::ensure_apart(&outputs, &[])?;
    let mut output = Output::create(&options.output)?;
    let mut answers = options.answers.as_deref().map(Output::create).transpose()?;
    let pairs = generate::Pairs::new(method, options.seed, options.count);
    let also = answers.as_mut().map(|answers| answers as &mut (dyn Write + Send));
    let threads = options.threads.or_else(|| thread::available_parallelism().ok());
    let threads = threads.unwrap_or(NonZeroUsize::MIN);
    let written = generate::write(pairs, numbers, threads, &mut output, also);
    let written = written.map_err(anyhow::Error::from);
    // No pairs without their answers.
    let answered = written.and_then(|mean| match &mut answers {
        Some(answers) => answers.flush().map(|()| mean).map_err(anyhow::Error::from),
        None => Ok(mean),
    });
    let mean = match answered.and_then(|mean| output.finish().map(|()| mean)) {
        // Who closed the pipe does not want the pairs; whoever asked for answers has none.
        Err(error) if answers.is_some() && output::is_broken_pipe(&error) => {
            return Err(
                io::Error::other("stdout was closed before the answers were complete").into()
            );
        }
        mean => mean?,
    };
    if let Some(answers) = answers {
        answers.finish()?;
    }
    say!("Method: {}", method.name());
    say!("Random seed: {}", options.seed);
    say!("Pair count: {}", options.count);
    say!("Expected sum: {mean:.16}");
    Ok(Exit::Done)
}
