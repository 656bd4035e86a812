//! `fathom plan`: how to cut an input for many processes, as arguments of `fathom aggregate --partial`.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::bail;
use fathom_aggregate::Source;
use fathom_aggregate::delimited::record_starts;
use fathom_aggregate::guess::{self, Dialect};
use fathom_aggregate::state::{Piece, plan};

use crate::cmd::aggregate;
use crate::exit::Exit;
use crate::input::{self, Input};
use crate::output::{self, Output, Place};
use crate::value;

/// Cut an input for many processes: prints arguments of `fathom aggregate --partial`, a line a task
///
/// Files are cut into ranges of bytes, small ones packed; what is compressed stays whole. A cut may fall inside a
/// record, which belongs to the range it starts in. What cannot be cut blindly is delimited text with line
/// breaks inside quotes: --records reads it once, as fast as it can be read, and cuts between records. Without
/// it such a cut is found when states are merged, and is an error there.
///
/// Names stand in quotes where a shell and xargs want that; only those with line breaks are refused, and keys of
/// objects with `*` or `?`, which would be patterns. A line has 64 KiB of names at most.
#[derive(Debug, Default, clap::Args)]
#[command(after_long_help = "Examples:\n  \
    fathom plan --states out measurements.txt |\n    \
    xargs -r -P 16 -L 1 fathom aggregate --partial --threads 1\n  \
    fathom merge out/*.fathom\n  \
    fathom plan --tasks 8 --records --states out export.csv |\n    \
    xargs -r -P 8 -L 1 fathom aggregate --partial --by host --value ms \\\n    \
    --threads 1")]
pub(crate) struct Options {
    /// Files to cut, folders and patterns of names as `fathom aggregate` takes them; all of the input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Bytes of a task, at most, unless a file cannot be cut; with --records up to a record more
    #[arg(long, value_name = "SIZE", value_parser = value::some_bytes, default_value = "256M")]
    bytes: u64,

    /// About so many tasks instead
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "bytes")]
    tasks: Option<u64>,

    /// Read all files and cut between records, whatever quotes enclose
    #[arg(long)]
    records: bool,

    /// With --records, what separates fields [default: the first of tab ; | and comma that cuts all records at
    /// the beginning of a file into as many fields, or a comma]
    #[arg(long, value_name = "BYTE", value_parser = aggregate::delimiter, requires = "records")]
    delimiter: Option<u8>,

    /// Name a state in this folder for each task, too (`-o FOLDER/00000.fathom`); a folder that is not there is made
    #[arg(long, value_name = "FOLDER")]
    states: Option<PathBuf>,

    /// Write to this file, which appears whole or not at all
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    let files = &input::files_of(&options.files)?;
    input::prepare(files)?;
    let inputs: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    output::ensure_files_apart(&[("--output", Some(&*options.output))], &inputs)?;
    output::ensure_writable(&options.output)?;
    let (mut objects, mut tables) = (Vec::new(), 0);
    for path in files {
        ensure_file(path)?;
        objects.push(match input::open(path, 1)? {
            // A table is text only as a whole, and so is what is decoded.
            Input::File(file, size) => (
                size,
                match input::table(path, file, size)? {
                    Ok(_) => {
                        tables += 1;
                        false
                    }
                    Err(file) => {
                        let mut first = [0; 4];
                        let first = &mut first[..usize::try_from(size.min(4)).unwrap_or(4)];
                        file.read_exact_at(first, 0)?;
                        input::utf_16(first).is_none()
                    }
                },
            ),
            Input::Stream(_) => (input::identity(path)?.0, false),
        });
    }
    anyhow::ensure!(tables == 0 || tables == files.len(), aggregate::TABLES_APART);
    let places = ensure_different(files)?;
    let all: u64 = objects.iter().map(|(size, _)| size).sum();
    let bytes = options.tasks.map_or(options.bytes, |tasks| all.div_ceil(tasks).max(1));
    let mut tasks = plan(&objects, bytes);
    if options.records {
        tasks = between_records(options, (files, &objects), bytes)?;
    }
    let tasks = in_lines(tasks, files)?;
    if let Some(folder) = &options.states {
        // A task replaces what has the name of its state.
        for state in (0..tasks.len()).map(|number| state_of(folder, number)) {
            if let Some(input) = Place::of(&state).and_then(|place| places.get(&place)) {
                bail!("--states would replace the input {}", input.display());
            }
            output::ensure_files_apart(&[("--states", Some(&state))], &[&options.output])?;
        }
    }
    let mut text = Vec::new();
    for (number, task) in tasks.iter().enumerate() {
        line(options, number, task, (files, &objects), &mut text)?;
    }
    if let Some(folder) = &options.states {
        output::made(folder)?;
    }
    let mut output = Output::create(&options.output)?;
    output.write_all(&text)?;
    output.finish()?;
    Ok(Exit::Done)
}

/// Refuses what can be read only once, without opening it: whoever writes into a pipe would lose it.
fn ensure_file(path: &Path) -> anyhow::Result<()> {
    anyhow::ensure!(path != Path::new("-"), "standard input cannot be cut: name a file");
    let is_other = std::fs::metadata(path).is_ok_and(|about| !about.is_file());
    anyhow::ensure!(!is_other, "{} is no regular file and cannot be cut: name one", path.display());
    let is_pattern = input::may_be_pattern(path) && path.to_string_lossy().contains(['*', '?']);
    anyhow::ensure!(
        !is_pattern,
        "{} would be a pattern in a task, because of its * or ?: rename it",
        path.display()
    );
    Ok(())
}

/// Where the files are; refuses one that is there twice, under whatever names.
fn ensure_different(files: &[PathBuf]) -> anyhow::Result<HashMap<Place, &PathBuf>> {
    let mut places = HashMap::new();
    for path in files {
        let place = Place::of(path).unwrap_or_else(|| Place::New(path.clone()));
        match places.insert(place, path) {
            Some(before) if before == path => bail!("{} is named twice", path.display()),
            Some(before) => {
                bail!("{} and {} are the same file", before.display(), path.display())
            }
            None => {}
        }
    }
    Ok(places)
}

/// A plan whose cuts are where records start.
fn between_records(
    options: &Options,
    (files, objects): (&[PathBuf], &[(u64, bool)]),
    bytes: u64,
) -> anyhow::Result<Vec<Vec<Piece>>> {
    let mut tasks = Vec::new();
    for task in plan(&objects.iter().map(|&(size, _)| (size, false)).collect::<Vec<_>>(), bytes) {
        let [Piece { object, range: [_, size] }] = task[..] else {
            tasks.push(task);
            continue;
        };
        let path = &files[object];
        let (_, can_be_cut) = objects[object];
        let input = input::open(path, 1)?;
        let (Input::File(file, _), true) = (input, can_be_cut) else {
            tasks.push(task);
            continue;
        };
        let mut source = Source::File { path: path.clone(), file, size };
        let usual = Dialect { delimiter: options.delimiter.unwrap_or(b','), quotes: true };
        let dialect = guess::of_source(&mut source, options.delimiter).unwrap_or(usual);
        let Source::File { file, .. } = source else { unreachable!("made above") };
        // Quotes that are bytes like any other enclose nothing: any cut will do.
        let mut ends = match dialect.quotes {
            true => record_starts(path, (file, size), dialect.delimiter, bytes)?,
            false => (1..size.div_ceil(bytes)).map(|number| number * bytes).collect(),
        };
        ends.push(size);
        let mut start = 0;
        for end in ends {
            tasks.push(vec![Piece { object, range: [start, end] }]);
            start = end;
        }
    }
    Ok(tasks)
}

/// Bytes of names in a line: xargs takes lines of 128 KiB, the command among them.
const MOST_NAMES_BYTES: usize = 64 << 10;

/// The tasks, of which none has more names than a line may have.
fn in_lines(tasks: Vec<Vec<Piece>>, files: &[PathBuf]) -> anyhow::Result<Vec<Vec<Piece>>> {
    let mut short = Vec::new();
    for task in tasks {
        let (mut pack, mut names) = (Vec::new(), Vec::new());
        for piece in task {
            let before = names.len();
            names.push(b' ');
            quote(&files[piece.object], &mut names)?;
            if names.len() > MOST_NAMES_BYTES && !pack.is_empty() {
                short.push(std::mem::take(&mut pack));
                names.drain(..before);
            }
            pack.push(piece);
        }
        short.push(pack);
    }
    Ok(short)
}

/// Where the state of a task goes.
fn state_of(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("{number:05}.fathom"))
}

/// The arguments of a task, quoted for a shell and for xargs.
fn line(
    options: &Options,
    number: usize,
    task: &[Piece],
    (files, objects): (&[PathBuf], &[(u64, bool)]),
    text: &mut Vec<u8>,
) -> anyhow::Result<()> {
    let first = task[0];
    write!(text, "--number {}/{}", first.object, objects.len())?;
    if first.range != [0, objects[first.object].0] {
        write!(text, " --range {}..{}", first.range[0], first.range[1])?;
    }
    if let Some(folder) = &options.states {
        write!(text, " -o ")?;
        let state = state_of(folder, number);
        // A name that begins like an option is taken for one.
        let is_option = state.as_os_str().as_encoded_bytes().starts_with(b"-");
        quote(&Path::new(if is_option { "." } else { "" }).join(state), text)?;
    }
    text.extend(b" --");
    for piece in task {
        text.push(b' ');
        quote(&files[piece.object], text)?;
    }
    text.push(b'\n');
    Ok(())
}

/// A name of any bytes, in quotes where a shell or xargs would take some of them for more than themselves.
fn quote(path: &Path, text: &mut Vec<u8>) -> anyhow::Result<()> {
    let name = path.as_os_str().as_encoded_bytes();
    if name.contains(&b'\n') {
        bail!("{path:?} has a line break, which no line of a plan can have: rename it");
    }
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+=,:@%".contains(c);
    if path.to_str().is_some_and(|name| !name.is_empty() && name.chars().all(is_plain)) {
        text.extend(name);
        return Ok(());
    }
    // Inside quotes of either kind xargs knows no backslash, and a shell knows none in these.
    text.push(b'\'');
    for &byte in name {
        match byte {
            b'\'' => text.extend(b"'\"'\"'"),
            byte => text.push(byte),
        }
    }
    text.push(b'\'');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `xargs` refused the line of many small files, or cut it in two, of which one had no number.
    #[test]
    fn a_line_has_no_more_names_than_xargs_takes() {
        let files: Vec<PathBuf> = (0..3000).map(|n| format!("{:080}", n).into()).collect();
        let pieces = |objects: std::ops::Range<usize>| -> Vec<Piece> {
            objects.map(|object| Piece { object, range: [0, 6] }).collect()
        };
        let tasks = in_lines(vec![pieces(0..1), pieces(1..2999), pieces(2999..3000)], &files);
        let tasks = tasks.unwrap();
        let lengths: Vec<usize> = tasks.iter().map(Vec::len).collect();
        let most = MOST_NAMES_BYTES / 81;
        assert_eq!(lengths, [1, most, most, most, 2998 - 3 * most, 1]);
        assert_eq!(tasks.concat(), pieces(0..3000));
    }

    #[test]
    fn a_key_that_would_be_a_pattern_is_refused() {
        let said = |path: &str| ensure_file(Path::new(path)).map_err(|error| error.to_string());
        assert!(said("s3://bucket/logs/a*.csv").unwrap_err().contains("a*.csv would be a pattern"));
        assert_eq!(said("s3://bucket/logs/ab.csv"), Ok(()));
    }

    #[test]
    fn a_folder_of_states_was_taken_for_an_option() {
        for (folder, named) in [("-x", "./-x"), ("x", "x"), ("/x", "/x"), ("a b", "'a b")] {
            let options = Options {
                bytes: 1,
                states: Some(folder.into()),
                output: "-".into(),
                ..Options::default()
            };
            let task = [Piece { object: 0, range: [0, 5] }];
            let (files, objects, mut text) = ([PathBuf::from("f")], [(5, true)], Vec::new());
            line(&options, 3, &task, (&files, &objects), &mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            let start = format!("--number 0/1 -o {named}/00003.fathom");
            assert!(text.starts_with(&start) && text.ends_with(" -- f\n"), "{text}");
        }
    }
}
