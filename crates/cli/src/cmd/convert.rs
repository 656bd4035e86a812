//! `fathom convert`: files of keys from one format to another, kvbench's own command line included.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::bail;
use fathom_keys::{Format, Target, WriteError, write};

use crate::exit::Exit;
use crate::key_file::{self, BadKeys};
use crate::output::{self, Output};

/// Convert a file of keys to another format
///
/// Formats: words, lines, csv:COLUMN[:DELIMITER] (read only; a column number means that there is no
/// header), jsonl:FIELD (read only), integers, u32, u64, bin-text, bin-text1, bin-text-kv,
/// bin-slice-kv. The last four are kvbench's; above 4 GiB all but bin-text1 become a 64-bit variant with
/// a checksum.
///
/// kvbench's generator is understood: -m convert-text -i words.txt -o words.bin [-t] [-v].
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The file to read; - is stdin, and so is none
    #[arg(value_name = "FILE", conflicts_with = "input")]
    file: Option<PathBuf>,

    /// Its format; told from its bytes where they tell
    #[arg(short = 'F', long, value_name = "FORMAT")]
    from: Option<Format>,

    /// The format to write
    #[arg(short = 'T', long, value_name = "FORMAT", default_value = "bin-text")]
    to: Format,

    /// Where to write; - is stdout. A file appears when it is complete
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,

    /// Append a zero byte to each key, counted in its length (bin-text, bin-slice-kv)
    #[arg(short = 't', long)]
    terminate: bool,

    /// Write the 64-bit variant with its checksum even where 32 bits are enough (bin-text, bin-text-kv, bin-slice-kv)
    #[arg(long)]
    wide: bool,

    /// Print each key, and on stderr what was written
    #[arg(short, long)]
    verbose: bool,

    /// kvbench's modes: words to bin-text, or to bin-text1. The output must not exist then
    #[arg(short, long, value_enum, conflicts_with_all = ["from", "to"], requires = "output")]
    mode: Option<Mode>,

    /// kvbench's name for the file to read
    #[arg(short, long, value_name = "FILE", requires = "mode")]
    input: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Mode {
    /// Words to bin-text
    ConvertText,
    /// Words to bin-text1, the Cuckoo-Trie project's format
    ConvertText1,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    let path = options.file.as_deref().or(options.input.as_deref());
    let path = path.unwrap_or_else(|| Path::new("-"));
    output::ensure_files_apart(&[("--output", Some(&*options.output))], &[path])?;
    // Only kvbench's own words ask for it in vain.
    if options.terminate && options.mode.is_none() && options.to == Format::BinText1 {
        return Err(WriteError::NoTerminator.into());
    }
    let (from, to) = match options.mode {
        None => (options.from.clone(), options.to.clone()),
        Some(mode) => (Some(Format::Words), mode.target()),
    };
    if options.mode.is_some() {
        refuse_existing(&options.output)?;
        say!("reading '{}'", path.display());
    }
    let bytes = key_file::load(path)?;
    let (from, keys) = key_file::keys(path, &bytes, from.as_ref())?;
    if options.mode.is_some() {
        if keys.is_empty() {
            return Err(BadKeys(format!("{}: no word in it", path.display())).into());
        }
        say!("000000000 bytes left\nwriting '{}'", options.output.display());
    }
    if keys.values.is_some() && !to.has_values() {
        say!("fathom: {to} has no values; those of {} are left out", path.display());
    }
    let mut output = Output::create(&options.output)?;
    let name = output.name.clone();
    let target = Target { format: to, terminate: options.terminate, wide: options.wide };
    let written = write(&mut output, &keys, &target).map_err(|error| match error {
        WriteError::Io(error) => anyhow::Error::from(error),
        WriteError::Key { number, what } => {
            key_file::refused(path, &bytes, &from, &keys, number, &what).into()
        }
        other => anyhow::Error::from(other).context(path.display().to_string()),
    })?;
    output.finish()?;
    if options.verbose {
        print_keys(&keys, &options.output)?;
    }
    if options.mode.is_some() {
        say!("wrote {:09} words", written.keys);
    } else if options.verbose {
        let wide = if written.wide { " (64-bit variant)" } else { "" };
        say!(
            "{} keys from {} as {from} to {name} as {}{wide}, {} bytes",
            written.keys,
            path.display(),
            target.format,
            written.bytes
        );
    }
    Ok(Exit::Done)
}

impl Mode {
    fn target(self) -> Format {
        match self {
            Mode::ConvertText => Format::BinText,
            Mode::ConvertText1 => Format::BinText1,
        }
    }
}

/// kvbench never writes over a file.
fn refuse_existing(output: &Path) -> anyhow::Result<()> {
    if output != Path::new("-") && output.exists() {
        bail!("{} exists; with --mode nothing is replaced", output.display());
    }
    Ok(())
}

/// One key a line: on stdout, unless the result goes there.
fn print_keys(keys: &fathom_keys::KeySet<'_>, output: &Path) -> anyhow::Result<()> {
    let print = |out: &mut dyn Write| -> io::Result<()> {
        for at in 0..keys.len() {
            out.write_all(&keys.key(at))?;
            out.write_all(b"\n")?;
        }
        out.flush()
    };
    if output == Path::new("-") {
        return Ok(print(&mut BufWriter::new(io::stderr().lock()))?);
    }
    let mut stdout = Output::create(Path::new("-"))?;
    print(&mut stdout)?;
    stdout.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closing_zero_byte_of_bin_text1_was_asked_for_in_vain() {
        let options = Options {
            file: Some("no-such-file".into()),
            from: None,
            to: Format::BinText1,
            output: "-".into(),
            terminate: true,
            wide: false,
            verbose: false,
            mode: None,
            input: None,
        };
        let said = run(&options).unwrap_err().to_string();
        assert_eq!(said, "a closing zero byte goes with bin-text and bin-slice-kv only");
    }
}
