//! Where data comes from: files, standard input, and what is compressed in either.
//!
//! gzip and Zstandard are recognised by their first bytes, never by name; archives of several
//! members or frames are read to their end, and checksums are verified. Zstandard is decoded in pure
//! Rust, or by the C library under the feature `zstd`. [`Lines`] turns a byte of an input into its
//! line and column, [`decoded`] UTF-16 into UTF-8, and [`foreign`] knows what is no text. Under the
//! feature `remote` an address such as `s3://bucket/key` is opened like the path of a file; under the feature
//! `tables` Parquet and Arrow files become text.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::str::Utf8Chunk;

use fathom_machine::os::read_at::{AsOpened, ReadAt};

#[cfg(not(feature = "remote"))]
mod absent;
mod foreign;
#[cfg(not(feature = "tables"))]
mod no_table;
mod pieces;
mod place;
mod plain;
#[cfg(feature = "remote")]
pub mod remote;
#[cfg(feature = "tables")]
pub mod table;
mod wide;

use pieces::Pieces;

pub use fathom_machine::os::read_at::Forward;
pub use foreign::{TABLE, foreign, no_json};
pub use place::Lines;
pub use wide::{decoded, utf_16};

/// What decodes Zstandard in this build.
pub const ZSTANDARD: &str = if cfg!(feature = "zstd") {
    "the C library"
} else {
    "ruzstd in pure Rust (the C library is faster: cargo build --features zstd)"
};

/// Objects of stores: not in this build.
#[cfg(not(feature = "remote"))]
pub mod remote {
    pub use crate::absent::{canonical, folder, mistake, prepare};
    pub(crate) use crate::absent::{identity, open};
}

/// Parquet and Arrow files: not in this build.
#[cfg(not(feature = "tables"))]
pub mod table {
    pub use crate::no_table::{Columns, Table, kept, of};
}

/// Whether this build reads objects of stores, which is the feature `remote`.
pub const REMOTE: bool = cfg!(feature = "remote");

/// What to do where it does not.
pub const WITHOUT_REMOTE: &str = "this fathom was built without the feature `remote`, which reads objects of stores and \
                                  web servers: cargo build --features remote";

/// Whether a path is the address of an object: `s3://…`, `gs://…`, `az://…`, `https://…` and their other names.
pub fn is_remote(path: &Path) -> bool {
    const SCHEMES: &str = "s3 s3a gs az adl azure abfs abfss https http";
    let scheme = path.to_str().and_then(|text| text.split_once("://"));
    scheme.is_some_and(|(scheme, _)| {
        SCHEMES.split(' ').any(|known| known.eq_ignore_ascii_case(scheme))
    })
}

/// An input that was opened.
pub enum Input {
    /// A regular, uncompressed file (or an object of a store) of so many bytes: readable at any offset.
    File(Box<dyn ReadAt>, u64),
    /// Anything else: readable forward, decompressed.
    Stream(Box<dyn Read + Send>),
}

/// Whether this build reads Parquet and Arrow files, which is the feature `tables`.
pub const TABLES: bool = cfg!(feature = "tables");

/// Opens a file, standard input for `-`, or an object of a store by its address.
///
/// What is compressed is decoded by up to `threads` threads where it has several members or frames (never more than
/// so many for all inputs of the process together), else by one that runs ahead, or by the one that reads where there is
/// little or no other can be had. Only the thread that reads touches the source; the others end when the input does or is
/// dropped. A file is read as it was when it was opened: what is appended later is not there, and what
/// was cut off is an error.
///
/// # Errors
/// When it cannot be opened or its first bytes cannot be read.
pub fn open(path: &Path, threads: usize) -> io::Result<Input> {
    if path == Path::new("-") {
        return stream(Box::new(io::stdin()), threads);
    }
    if is_remote(path) {
        let (object, size) = remote::open(path)?;
        let mut first = [0; MAGIC_BYTES];
        let first = &mut first[..MAGIC_BYTES.min(size as usize)];
        object.read_exact_at(first, 0)?;
        return match Compression::of(first) {
            Some(_) => stream(Box::new(Forward::new(object)), threads),
            None => Ok(Input::File(object, size)),
        };
    }
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    // Files of the kernel's pseudo file systems have no size, or one that is not theirs (4096 in
    // /sys), and no blocks: they are streams. A large file without blocks is one hole.
    let pseudo = metadata.blocks() == 0 && metadata.len() <= MOST_PSEUDO_BYTES;
    if !metadata.is_file() || pseudo {
        return stream(Box::new(file), threads);
    }
    let mut first = [0; MAGIC_BYTES];
    let read = file.read_at(&mut first, 0)?;
    let size = metadata.len();
    let file = Box::new(AsOpened::new(file, size));
    match Compression::of(&first[..read]) {
        Some(_) => stream(Box::new(Forward::new(file)), threads),
        None => Ok(Input::File(file, size)),
    }
}

/// How many bytes a file has, and a text that is another one when it was written to since, or is
/// another file: its size, the time of the last change, and its number in the file system. Of an object of
/// a store: its size and ETag when it was opened first.
///
/// # Errors
/// When the system does not tell.
pub fn identity(path: &Path) -> io::Result<(u64, String)> {
    if is_remote(path) {
        return remote::identity(path);
    }
    let metadata = std::fs::metadata(path)?;
    let (size, inode) = (metadata.len(), metadata.ino());
    let changed = i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec());
    Ok((size, format!("file:{size}:{changed}:{inode}")))
}

/// A path as text, another one for each: of bytes that are no UTF-8 their hexadecimal digits (`\xff`), and for a
/// backslash two.
pub fn told_apart(path: &Path) -> String {
    let told = |chunk: Utf8Chunk<'_>| {
        let other = chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}"));
        chunk.valid().replace('\\', "\\\\") + &other.collect::<String>()
    };
    path.as_os_str().as_encoded_bytes().utf8_chunks().map(told).collect()
}

const MAGIC_BYTES: usize = 4;

/// Compressed bytes that are read at once.
const READ_BYTES: usize = 256 << 10;

/// Beyond any size that a pseudo file system states for a file whose bytes it makes when read.
const MOST_PSEUDO_BYTES: u64 = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    Gzip,
    Zstandard,
}

impl Compression {
    /// RFC 1952 section 2.3.1; RFC 8878 section 3.1.
    fn of(first: &[u8]) -> Option<Compression> {
        match first {
            [0x1f, 0x8b, ..] => Some(Compression::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd] => Some(Compression::Zstandard),
            // A skippable frame; nothing else starts with these four bytes and is text.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Some(Compression::Zstandard),
            _ => None,
        }
    }
}

/// What comes out of a reader once it is decompressed, if it is compressed, by so many threads (see [`open`]).
///
/// # Errors
/// When its first bytes cannot be read.
pub fn stream(mut reader: Box<dyn Read + Send>, threads: usize) -> io::Result<Input> {
    let mut first = Vec::with_capacity(MAGIC_BYTES);
    reader.by_ref().take(MAGIC_BYTES as u64).read_to_end(&mut first)?;
    let compression = Compression::of(&first);
    let whole = Cursor::new(first).chain(reader);
    Ok(Input::Stream(match compression {
        None => Box::new(whole),
        Some(compression) if threads < 2 => {
            plain::decoder(compression, BufReader::with_capacity(READ_BYTES, whole))?
        }
        Some(compression) => Box::new(Pieces::new(compression, Box::new(whole), threads)),
    }))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::FileExt;

    use flate2::Compression as Effort;
    use flate2::write::GzEncoder;

    use super::*;

    pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Effort::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
    }

    #[test]
    #[cfg_attr(not(target_os = "linux"), ignore = "there is no /sys")]
    fn files_of_sys_are_streams_because_their_size_is_not_theirs() {
        let path = Path::new("/sys/devices/system/cpu/possible");
        let Input::Stream(mut reader) = open(path, 1).unwrap() else { panic!("taken for a file") };
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert!(text.ends_with('\n') && text.len() < 4096, "{text:?}");
    }

    fn read(bytes: Vec<u8>, threads: usize) -> io::Result<Vec<u8>> {
        let Input::Stream(mut reader) = stream(Box::new(Cursor::new(bytes)), threads)? else {
            unreachable!("a stream stays a stream")
        };
        let mut read = Vec::new();
        reader.read_to_end(&mut read)?;
        Ok(read)
    }

    #[test]
    fn a_file_is_read_as_it_was_opened_whatever_becomes_of_it() {
        let text = b"Oslo;1.5\n".repeat(50_000);
        for (bytes, threads) in [(text.clone(), 1), (gzip(&text), 1), (gzip(&text), 2)] {
            let changed = |change: &dyn Fn(&File)| {
                let file = tempfile::NamedTempFile::new().unwrap();
                std::fs::write(file.path(), &bytes).unwrap();
                let input = open(file.path(), threads).unwrap();
                change(file.as_file());
                let mut all = Vec::new();
                let read = match input {
                    Input::File(file, _) => Forward::new(file).read_to_end(&mut all),
                    Input::Stream(mut stream) => stream.read_to_end(&mut all),
                };
                read.map(|_| all)
            };
            let size = bytes.len() as u64;
            let append = |file: &File| file.write_all_at(&bytes, size).unwrap();
            assert_eq!(changed(&append).unwrap(), text);
            let cut = changed(&|file| file.set_len(size - 1).unwrap()).unwrap_err();
            let expected = format!("the file shrank while it was read: it had {size} bytes");
            assert!(cut.to_string().contains(&expected), "{cut}");
        }
    }

    #[test]
    fn compression_is_recognised_and_all_members_are_read() {
        let text = b"Oslo;1.5\n".repeat(50_000);
        let twice = [&text[..], b"Rome;2.0\n"].concat();
        let members = [gzip(&text), gzip(b"Rome;2.0\n")].concat();
        let skippable = [0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3].to_vec();
        let frames = [skippable.clone(), zstd(&text), skippable, zstd(b"Rome;2.0\n")].concat();
        for threads in [1, 2] {
            assert_eq!(read(text.clone(), threads).unwrap(), text);
            assert_eq!(read(b"x".to_vec(), threads).unwrap(), b"x");
            assert_eq!(read(Vec::new(), threads).unwrap(), b"");
            assert_eq!(read(members.clone(), threads).unwrap(), twice);
            assert_eq!(read(frames.clone(), threads).unwrap(), twice);
        }
    }

    #[test]
    fn zeros_behind_the_last_member_are_left_out_and_nothing_else_is() {
        let text = b"Oslo;1.5\n".repeat(50_000);
        for threads in [1, 2] {
            for zeros in [1, 9, 511, 1 << 20] {
                let padded = [gzip(&text), gzip(&text), vec![0; zeros]].concat();
                assert_eq!(read(padded.clone(), threads).unwrap(), text.repeat(2), "{zeros}");
                for behind in [&b"x"[..], &gzip(&text)] {
                    assert!(read([&padded[..], behind].concat(), threads).is_err(), "{zeros}");
                }
            }
        }
    }

    #[test]
    fn a_few_bytes_that_are_no_member_were_told_as_one_that_is_cut_off() {
        for threads in [1, 2] {
            for (behind, expected) in [
                (&b"junk"[..], io::ErrorKind::InvalidData),
                (b"junk of more than a header", io::ErrorKind::InvalidData),
                (b"\x1f\x8b", io::ErrorKind::UnexpectedEof),
            ] {
                let packed = [&gzip(b"Oslo;1.5\n")[..], behind].concat();
                assert_eq!(read(packed, threads).unwrap_err().kind(), expected, "{behind:x?}");
            }
        }
    }

    #[test]
    fn what_is_cut_off_or_damaged_is_an_error() {
        let text = b"Oslo;1.5\nRome;3.5\n".repeat(1000);
        for mut packed in [gzip(&text), zstd(&text)] {
            let bytes = packed.len();
            assert!(read(packed[..bytes - 5].to_vec(), 1).is_err());
            packed[bytes - 2] ^= 0x55;
            assert_eq!(read(packed, 1).unwrap_err().kind(), io::ErrorKind::InvalidData);
        }
    }

    /// One whose first block was marked as its last gave only that, without a word.
    #[test]
    fn a_frame_that_has_another_size_than_it_says_is_an_error() {
        let text = &b"Oslo;1.5\n"[..];
        for (header, is_right) in [
            (&[0x00, 0x50][..], true),
            (&[0x80, 0x50, 9, 0, 0, 0], true),
            (&[0x80, 0x50, 10, 0, 0, 0], false),
            (&[0x80, 0x50, 0, 0, 0, 0], false),
            (&[0x20, 9], true),
            (&[0x20, 64], false),
        ] {
            let block = [text.len() as u8 * 8 + 1, 0, 0];
            let frame = [&b"\x28\xb5\x2f\xfd"[..], header, &block, text].concat();
            for threads in [1, 2] {
                let found = read([&frame[..], &frame].concat(), threads).ok();
                assert_eq!(found, is_right.then(|| text.repeat(2)), "{header:x?}");
            }
        }
    }

    #[test]
    #[cfg_attr(feature = "zstd", ignore = "the C library decodes, in its own words")]
    fn what_is_wrong_with_a_frame_is_said_in_words() {
        let packed = zstd(&b"Oslo;1.5\nRome;3.5\n".repeat(1000));
        for end in 1..packed.len() {
            let said = read(packed[..end].to_vec(), 1).map_err(|error| error.to_string());
            // Of less than its first four bytes nobody knows what it was to be.
            let expected = if end < 4 {
                Ok(packed[..end].to_vec())
            } else {
                Err("incomplete frame".to_owned())
            };
            assert_eq!(said, expected, "{end} bytes");
        }
        for at in 4..packed.len() {
            let mut damaged = packed.clone();
            damaged[at] ^= 0xff;
            if let Err(error) = read(damaged, 1) {
                let said = error.to_string();
                assert!(!said.contains('{') && !said.contains("Error"), "byte {at}: {said}");
            }
        }
        // Neither is damaged.
        for (header, wanted) in [
            (&[0x00, 0x90][..], "its window of 256 MiB is more than 128: zstd -dc --long=31 FILE"),
            (&[0x01, 0x50, 5], "it needs dictionary 5: zstd -dc -D DICTIONARY FILE"),
        ] {
            let frame = [&b"\x28\xb5\x2f\xfd"[..], header, &[1, 0, 0]].concat();
            let said = read(frame, 1).unwrap_err().to_string();
            assert!(said.starts_with(wanted), "{said}");
        }
    }

    #[test]
    fn a_folder_and_a_missing_file_are_told_apart() {
        for (path, kind) in
            [("/", io::ErrorKind::IsADirectory), ("/no/such/file", io::ErrorKind::NotFound)]
        {
            let Err(error) = open(Path::new(path), 1) else { panic!("{path} was opened") };
            assert_eq!(error.kind(), kind);
        }
    }
}
