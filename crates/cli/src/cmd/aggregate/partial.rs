//! States instead of results: what is known of some bytes of the input, for `fathom merge`.

use std::collections::HashSet;
use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use anyhow::Context;
use fathom_aggregate::state::{Merger, Object, Question, State, Watch};
use fathom_aggregate::{Error, Progress, Query, Reject, SHOWN, Source, Summary, Syntax};

use super::{
    Digest, EngineOptions, Kept, Options, beside, execute, explained, open, report_rejects,
    statistics, tell, usage, verdict,
};
use crate::exit::Exit;
use crate::input::{self, Lines};
use crate::output;

pub(super) const RANGE_OF_ONE: &str = "--range is of one FILE";

/// What is wrong with how states or ranges were asked for.
pub(super) fn mistake(options: &Options) -> Option<&'static str> {
    if options.range.is_some() && options.files.len() != 1 {
        return Some(RANGE_OF_ONE);
    }
    if options.number.is_some() && !options.partial {
        return Some("--number needs --partial");
    }
    let is_shown = options.output == Path::new("-") && std::io::stdout().is_terminal();
    if options.partial && is_shown {
        return Some("a state is not for a terminal: -o FILE, or a pipe");
    }
    None
}

/// Bytes of a file: `START..END`, `START..`, in the words of sizes.
pub(super) fn range(text: &str) -> Result<(u64, Option<u64>), String> {
    let error = || format!("{text:?} is no range of bytes (such as 0..64M or 67108864..)");
    let (start, end) = text.split_once("..").ok_or_else(error)?;
    if start.is_empty() {
        return Err(error());
    }
    let start = crate::value::bytes(start)?;
    let end = (!end.is_empty()).then(|| crate::value::bytes(end)).transpose()?;
    if end.is_some_and(|end| end <= start) { Err(error()) } else { Ok((start, end)) }
}

/// Which object of how many: `K`, `K/N`.
pub(super) fn number(text: &str) -> Result<(u64, Option<u64>), String> {
    let error = |_| format!("{text:?} is no number of an object (such as 0/12, 7)");
    let (number, of) = match text.split_once('/') {
        Some((number, of)) => (number, Some(of.parse::<u64>().map_err(error)?)),
        None => (text, None),
    };
    let number = number.parse::<u64>().map_err(error)?;
    match of {
        Some(0) => Err(format!("{text}: of no objects none has a number")),
        Some(of) if number >= of => {
            Err(format!("{text}: objects are numbered from 0, so the last of {of} is {}", of - 1))
        }
        _ => Ok((number, of)),
    }
}

/// The same source, or the part of it that was asked for.
///
/// # Errors
/// What cannot be cut, and a range that ends behind the file.
pub(super) fn part(options: &Options, source: Source) -> anyhow::Result<Source> {
    let Some((start, end)) = options.range else { return Ok(source) };
    let Source::File { path, file, size } = source else {
        let name = source.path().display().to_string();
        let what = match &*name {
            "-" => "standard input",
            _ => "what is empty, compressed, UTF-16, a table or no regular file",
        };
        anyhow::bail!("{name}: {what} has no ranges: read it whole");
    };
    let last = end.unwrap_or(size);
    anyhow::ensure!(
        start < last && last <= size,
        "{}: the range {start}..{} is not in its {size} bytes, or is empty",
        path.display(),
        end.map_or_else(String::new, |end| end.to_string())
    );
    Ok(Source::Part { path, file, size, range: start..last })
}

/// Writes the state of all files.
pub(super) fn run(
    options: &Options,
    mut query: Option<Query>,
    (files, engine): (&[PathBuf], &EngineOptions),
    start: Instant,
) -> anyhow::Result<Exit> {
    let files = &input::files_of(files)?;
    input::prepare(files)?;
    let names = files.iter().map(|path| name(path)).collect::<Result<Vec<_>, _>>()?;
    let mut before = HashSet::new();
    for (path, name) in files.iter().zip(&names) {
        if !before.insert(name) && path != Path::new("-") {
            return usage(&format!("{} is named twice", path.display()));
        }
    }
    // Before any is opened: what is read of each are the bytes that there are then.
    let identities = files.iter().map(|path| Identity::of(path)).collect::<Result<Vec<_>, _>>()?;
    let inputs = open(options, (query.as_mut(), &mut true), files)?;
    let guessed = inputs.guessed;
    let sources = inputs.into_texts(engine.threads);
    if options.range.is_none() {
        sources.iter().for_each(Source::announce);
    }
    let mut rejects = Kept::create(options)?;
    let question = Question::new(query.as_ref(), &statistics(options), engine);
    let (first, of) = options.number.unwrap_or((0, None));
    let end = first.checked_add(files.len() as u64).filter(|&end| of.is_none_or(|of| end <= of));
    if end.is_none() {
        let input = of.map_or_else(String::new, |of| format!("an input of {of} has "));
        let files = match files.len() {
            1 => "1 file".to_owned(),
            many => format!("{many} files"),
        };
        return usage(&format!("--number: {input}no numbers for {files} from {first} on"));
    }
    let progress = Arc::new(Progress::default());
    let (mut merger, mut all) = (Merger::default(), Summary::default());
    let objects = files.iter().zip(names).zip(identities).zip(sources);
    // Its numbers last: behind the last there may be none.
    for ((((path, name), identity), source), number) in objects.zip(first..) {
        let before = progress.bytes.load(Ordering::Relaxed);
        let source = part(options, identity.watched(source))?;
        let range = match &source {
            Source::Part { range, .. } => Some([range.start, range.end]),
            Source::File { .. } | Source::Stream { .. } => None,
        };
        let sources = vec![source];
        let summary =
            execute(options, query.as_ref(), sources, engine, rejects.as_mut(), &progress);
        let mut summary = explained(summary, guessed)?;
        summary.bytes -= before;
        if options.verbose {
            tell(&summary.ways);
        }
        all.rejected += summary.rejected;
        all.shown_rejects.append(&mut summary.shown_rejects);
        let (size, identity) = identity.now(path)?;
        let object = Object { name, number, of, identity, size, ranges: Vec::new() };
        let range = range.unwrap_or([0, size]);
        merger.push(State::new(summary, question.clone(), object, range))?;
    }
    all.shown_rejects.truncate(SHOWN);
    beside(rejects, || {
        options.write_state(merger.finish()?, ("aggregate", start))?;
        Ok(report_rejects(&all, options.verbose))
    })
}

impl Options {
    /// Writes a state, to a file that appears whole or not at all; whether all records of it were taken.
    pub(crate) fn write_state(
        &self,
        state: State,
        (command, start): (&str, Instant),
    ) -> anyhow::Result<Summary> {
        let bytes = state.to_bytes();
        output::write(&bytes, &self.output)?;
        let summary = state.into_summary();
        if self.verbose {
            let keys = summary.columns[0].groups.len();
            verdict(&Digest::of(&bytes), keys, &summary, (command, start.elapsed()));
        }
        Ok(summary)
    }
}

/// What says which object it is that is read.
enum Identity {
    File(u64, String),
    Stream(Watch),
}

impl Identity {
    fn of(path: &Path) -> anyhow::Result<Identity> {
        let is_file = path != Path::new("-") && fs::metadata(path).is_ok_and(|m| m.is_file());
        if is_file || input::is_remote(path) {
            let (size, identity) = identity(path)?;
            return Ok(Identity::File(size, identity));
        }
        Ok(Identity::Stream(Watch::default()))
    }

    /// The same source; what only its bytes tell is taken down while they are read.
    fn watched(&self, source: Source) -> Source {
        match (self, source) {
            (Identity::Stream(watch), Source::Stream { path, reader }) => {
                Source::Stream { path, reader: watch.read(reader) }
            }
            (_, source) => source,
        }
    }

    /// Bytes there are and the identity, after all was read; a file that changed meanwhile is an error.
    fn now(self, path: &Path) -> anyhow::Result<(u64, String)> {
        match self {
            Identity::Stream(watch) => Ok(watch.told()),
            Identity::File(size, before) => {
                let (_, after) = identity(path)?;
                let name = path.display();
                if before != after {
                    let why = format!("{name} changed while it was read");
                    return Err(std::io::Error::other(why).into());
                }
                Ok((size, before))
            }
        }
    }
}

fn identity(path: &Path) -> anyhow::Result<(u64, String)> {
    input::identity(path).with_context(|| format!("cannot read {}", path.display()))
}

/// The same for a file or an object however it is named here; `-` is itself.
pub(crate) fn name(path: &Path) -> anyhow::Result<String> {
    if input::is_remote(path) {
        return Ok(input::told_apart(Path::new(&input::canonical(path)?)));
    }
    let is_stream = path == Path::new("-");
    Ok(input::told_apart(&if is_stream { path.to_owned() } else { std::path::absolute(path)? }))
}

/// The same error with the line in the whole file; what may be wrong with a range is said.
pub(super) fn located(mut error: Error, options: &Options, query: Option<&Query>) -> Error {
    let Some((start, _)) = options.range.filter(|&(start, _)| start > 0) else { return error };
    if let Error::Record(reject) = &mut error {
        count_lines(reject);
        let is_quoted = |query: &Query| query.syntax == Syntax::Delimited && query.quotes;
        if query.is_some_and(is_quoted) {
            say!(
                "fathom: if byte {start} lies in a record with line breaks in quotes, the range began inside \
                 it: fathom plan --records cuts between records"
            );
        }
    }
    error
}

/// Gives a reject of a range the number its line has in the whole file.
pub(super) fn count_lines(reject: &mut Reject) {
    let at = &mut reject.position;
    let place = Lines::of_file(&at.path, at.byte).ok().and_then(|lines| lines.place(at.byte));
    if let Some((line, _)) = place {
        at.line = line;
    }
}
