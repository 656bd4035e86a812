//! The archives of releases: tar (ustar) and ar, the same bytes whenever and wherever they are made.
//!
//! No owner but root, no time but zero; names of up to 100 bytes, files of up to 8 GiB. The formats are
//! those of POSIX `pax` and of `ar(5)`, as far as a Debian package and a release need them.

use std::io::Write;

use anyhow::{Result, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;

/// A file of an archive: its path without a first slash, its mode, its bytes.
pub(super) struct File {
    pub(super) path: String,
    pub(super) mode: u32,
    pub(super) bytes: Vec<u8>,
}

impl File {
    pub(super) fn new(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> File {
        File { path: path.into(), mode: 0o644, bytes: bytes.into() }
    }

    pub(super) fn program(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> File {
        File { mode: 0o755, ..File::new(path, bytes) }
    }
}

/// A tar archive of files, the folders above each before it; names begin with `prefix`.
pub(super) fn tar(prefix: &str, files: &[File]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut folders: Vec<&str> = Vec::new();
    for file in files {
        let ends = file.path.match_indices('/').map(|(at, _)| &file.path[..at]);
        for folder in ends.collect::<Vec<_>>() {
            if !folders.contains(&folder) {
                folders.push(folder);
                header(&mut out, &format!("{prefix}{folder}/"), 0o755, b'5', 0)?;
            }
        }
        header(&mut out, &format!("{prefix}{}", file.path), file.mode, b'0', file.bytes.len())?;
        out.extend_from_slice(&file.bytes);
        out.resize(out.len().next_multiple_of(512), 0);
    }
    out.resize(out.len() + 1024, 0);
    Ok(out)
}

fn header(out: &mut Vec<u8>, name: &str, mode: u32, kind: u8, bytes: usize) -> Result<()> {
    ensure!(name.len() <= 100, "a name of more than 100 bytes: {name}");
    let mut block = [0; 512];
    let mut put =
        |at: usize, text: &str| block[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, name);
    put(100, &format!("{mode:07o}"));
    put(108, "0000000");
    put(116, "0000000");
    put(124, &format!("{bytes:011o}"));
    put(136, "00000000000");
    // The sum is taken with blanks in its own place.
    put(148, "        ");
    put(257, "ustar\x0000root");
    put(297, "root");
    block[156] = kind;
    let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    out.extend_from_slice(&block);
    Ok(())
}

/// An ar archive of files, as Debian's packages are: names of up to 16 bytes.
pub(super) fn ar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = b"!<arch>\n".to_vec();
    for (name, bytes) in files {
        let size = bytes.len();
        out.extend_from_slice(
            format!("{name:<16}0           0     0     100644  {size:<10}`\n").as_bytes(),
        );
        out.extend_from_slice(bytes);
        if size % 2 == 1 {
            out.push(b'\n');
        }
    }
    out
}

/// Compressed as `gzip --best --no-name` would.
pub(super) fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    /// What a program says of an archive.
    fn told(program: &str, arguments: &[&str], archive: &[u8]) -> String {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(archive).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{program}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn tar_reads_what_is_written() {
        let files =
            [File::program("bin/fathom", b"program"), File::new("bin/of/text", [b'x'; 513])];
        let archive = tar("v1/", &files).unwrap();
        let list =
            told("tar", &["--list", "--verbose", "--numeric-owner", "--file", "-"], &archive);
        let lines: Vec<Vec<&str>> = list.lines().map(|line| line.split(' ').collect()).collect();
        let said: Vec<_> = lines.iter().map(|line| (line[0], line[line.len() - 1])).collect();
        let expected = [
            ("drwxr-xr-x", "v1/bin/"),
            ("-rwxr-xr-x", "v1/bin/fathom"),
            ("drwxr-xr-x", "v1/bin/of/"),
            ("-rw-r--r--", "v1/bin/of/text"),
        ];
        assert_eq!(said, expected);
        let text =
            told("tar", &["--extract", "--to-stdout", "--file", "-", "v1/bin/of/text"], &archive);
        assert_eq!(text, "x".repeat(513));
        assert!(tar("", &[File::new("n".repeat(101), b"")]).is_err());
    }

    #[test]
    fn gzip_reads_what_is_compressed_and_it_names_no_time() {
        let bytes = gzip(b"text").unwrap();
        assert_eq!(bytes[4..8], [0; 4]);
        assert_eq!(told("gzip", &["--decompress", "--stdout"], &bytes), "text");
    }

    #[test]
    fn members_of_an_ar_archive_begin_at_even_places() {
        let archive = ar(&[("odd", b"abc"), ("next", b"d")]);
        assert_eq!(archive.len(), 8 + 60 + 4 + 60 + 2);
        assert!(archive[8 + 60 + 4..].starts_with(b"next "));
    }
}
