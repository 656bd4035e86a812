//! `fathom generate measurements`: files for `fathom aggregate` and its rivals.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use anyhow::{Context, bail};
use fathom_aggregate::generate::{GenerateError, Measurements, Pascal, Stations};

use crate::exit::Exit;
use crate::key_file;
use crate::output::{self, Output};
use crate::value;

/// Invented names lie in memory: this many cost some gigabytes.
const MOST_STATIONS: u64 = 100_000_000;

/// Write a file of `station;temperature` rows
///
/// The same options give the same bytes on any machine with any number of threads, and a shorter
/// file is the beginning of a longer one.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// How many rows: 1000, 250k, 1.5M, 1G (decimal)
    #[arg(short, long, value_parser = value::count)]
    rows: u64,

    /// What kind of file
    #[arg(short, long, value_enum, default_value = "1brc")]
    preset: Preset,

    /// How many stations, or a file that lists them; give it twice for so many of a list
    ///
    /// A list holds `name` or `name;mean` per line; lines that begin with `#` are comments. Without a mean, one is
    /// drawn from the seed. A number means: so many of the list or of the built-in cities, chosen
    /// by the seed; beyond the built-in ones, names are invented. For a file whose name is a
    /// number, write ./400.
    #[arg(long, value_name = "K|FILE", value_parser = parse_stations)]
    stations: Vec<StationsOption>,

    /// Which of the many possible files [default: 1]
    #[arg(short, long)]
    seed: Option<u64>,

    /// Where to write; - is stdout. A file appears when it is complete
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,

    /// How many threads [default: one per processor]; the bytes do not depend on it
    #[arg(short, long)]
    threads: Option<NonZeroUsize>,

    /// Say on stderr what was written and how fast
    #[arg(short, long)]
    verbose: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Preset {
    /// The original One Billion Row Challenge: 413 cities, gaussian around each city's mean with
    /// a deviation of 10 degrees
    #[value(name = "1brc")]
    Original,
    /// The same with 10,000 names of 1 to 100 bytes of random UTF-8
    #[value(name = "10k")]
    TenThousand,
    /// The same with 41,343 town names: of a list, or invented with the same lengths
    #[value(name = "41k")]
    FortyOneThousand,
    /// The Object Pascal challenge, bit for bit; needs its weather_stations.csv as --stations FILE
    /// (with --stations 400 also, its variant of 400); takes no seed
    #[value(name = "pascal")]
    Pascal,
}

#[derive(Clone, Debug)]
enum StationsOption {
    Count(usize),
    List(PathBuf),
}

fn parse_stations(text: &str) -> Result<StationsOption, String> {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(StationsOption::List(text.into()));
    }
    match value::count(text) {
        Ok(count) if count > MOST_STATIONS => Err(format!("more than {MOST_STATIONS} stations")),
        Ok(count) => Ok(StationsOption::Count(count as usize)),
        // A name like 2024-list.csv.
        Err(_) if Path::new(text).exists() => Ok(StationsOption::List(text.into())),
        Err(error) => Err(format!("{error}, and no file of that name exists")),
    }
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    let start = Instant::now();
    let list = options.stations.iter().filter_map(|stations| match stations {
        StationsOption::List(path) => Some(path.as_path()),
        StationsOption::Count(_) => None,
    });
    output::ensure_apart(&[("--output", &options.output)], &list.collect::<Vec<_>>())?;
    let generator = generator(options)?;
    let threads = match options.threads {
        Some(threads) => threads.get(),
        None => thread::available_parallelism().map_or(1, NonZeroUsize::get),
    };
    let mut output = Output::create(&options.output)?;
    let name = output.name.clone();
    let bytes = match &generator {
        Generator::Gaussian(generator) => generator.write(options.rows, threads, &mut output),
        Generator::Pascal(generator) => generator.write(options.rows, &mut output),
    }?;
    output.finish()?;
    if options.verbose {
        let seconds = start.elapsed().as_secs_f64();
        let speed = bytes as f64 / seconds / 1e9;
        say!(
            "wrote {} rows, {bytes} bytes to {name} in {seconds:.3} s, {speed:.2} GB/s",
            options.rows
        );
    }
    Ok(Exit::Done)
}

enum Generator {
    Gaussian(Box<Measurements>),
    Pascal(Box<Pascal>),
}

fn generator(options: &Options) -> anyhow::Result<Generator> {
    let (count, path) = count_and_list(&options.stations)?;
    let list = path.map(key_file::load).transpose()?;
    let named = |error: GenerateError| match path {
        Some(path) => anyhow::Error::from(error).context(path.display().to_string()),
        None => error.into(),
    };
    if options.preset == Preset::Pascal {
        if options.seed.is_some() {
            bail!("preset pascal takes no --seed: its files are fixed");
        }
        let list = list.context(
            "preset pascal needs its station list: --stations weather_stations.csv, from \
             https://github.com/gcarreno/1brc-ObjectPascal",
        )?;
        return Ok(Generator::Pascal(Box::new(Pascal::new(&list, count).map_err(named)?)));
    }
    let seed = options.seed.unwrap_or(1);
    let stations = stations(options.preset, list.as_deref(), count, seed).map_err(named)?;
    if list.is_some() && options.preset == Preset::TenThousand {
        bail!("preset 10k makes up its names; a list goes with 1brc, 41k or pascal");
    }
    Ok(Generator::Gaussian(Box::new(Measurements::new(stations, seed))))
}

fn stations(
    preset: Preset,
    list: Option<&[u8]>,
    count: Option<usize>,
    seed: u64,
) -> Result<Stations, GenerateError> {
    if let Some(list) = list {
        let all = Stations::from_list(list, seed)?;
        return count.map_or(Ok(all.clone()), |count| all.chosen(count, seed));
    }
    if count == Some(0) {
        return Err(GenerateError::NoStations);
    }
    Ok(match (preset, count) {
        (Preset::TenThousand, _) => Stations::scramble(count.unwrap_or(10_000), seed),
        (Preset::FortyOneThousand, _) => Stations::towns(count.unwrap_or(41_343), seed),
        (_, None) => Stations::world(),
        (_, Some(count)) => {
            let world = Stations::world();
            match count <= world.len() {
                true => world.chosen(count, seed)?,
                false => world.filled_up(count, seed),
            }
        }
    })
}

/// At most one number and one list.
fn count_and_list(given: &[StationsOption]) -> anyhow::Result<(Option<usize>, Option<&Path>)> {
    let (mut count, mut list) = (None, None);
    for option in given {
        let again = match option {
            StationsOption::Count(number) => count.replace(*number).is_some(),
            StationsOption::List(path) => list.replace(path.as_path()).is_some(),
        };
        if again {
            bail!("--stations takes one number and one file at most");
        }
    }
    Ok((count, list))
}
