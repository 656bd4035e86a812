//! Compressed input decoded by the thread that reads it, from the first byte to the last.
//!
//! This is what input means: decoding by several threads calls it piece by piece, is compared with it, and
//! falls back to it.

#[cfg(not(feature = "zstd"))]
use std::error::Error;
use std::io::{self, BufRead, Read};

use flate2::bufread::{GzDecoder, MultiGzDecoder};
#[cfg(not(feature = "zstd"))]
use ruzstd::decoding::{
    BlockDecodingStrategy, FrameDecoder,
    errors::{FrameDecoderError, ReadFrameHeaderError},
};

use crate::Compression;

/// What comes out of all members or frames of a source, one after the other.
pub(crate) fn decoder<'s>(
    compression: Compression,
    source: impl BufRead + Send + 's,
) -> io::Result<Box<dyn Read + Send + 's>> {
    match compression {
        Compression::Gzip => Ok(Box::new(Members::new(source))),
        Compression::Zstandard => zstandard(source),
    }
}

/// The same of a part of a source, behind which nothing but members or frames may stand.
pub(crate) fn decoder_of_part<'s>(
    compression: Compression,
    source: impl BufRead + Send + 's,
) -> io::Result<Box<dyn Read + Send + 's>> {
    match compression {
        Compression::Gzip => Ok(Box::new(MultiGzDecoder::new(source))),
        Compression::Zstandard => zstandard(source),
    }
}

/// The error of a decoder of gzip, which calls damaged data invalid input; others have other kinds.
fn damaged(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::InvalidInput => io::Error::new(io::ErrorKind::InvalidData, error),
        _ => error,
    }
}

/// Members of gzip, behind the last of which zeros may stand, as `gzip` has it: what writes blocks fills them so. It may
/// begin behind some of them.
enum Members<R> {
    Within(Box<GzDecoder<R>>),
    Between {
        source: R,
        in_zeros: bool,
    },
    /// Only while the next one begins.
    Nowhere,
}

impl<R: BufRead> Members<R> {
    fn new(source: R) -> Members<R> {
        Members::Between { source, in_zeros: false }
    }

    /// Goes on to the next member; false if there is none.
    fn begin(&mut self) -> io::Result<bool> {
        let Members::Between { source, in_zeros } = self else { return Ok(true) };
        loop {
            let behind = source.fill_buf()?;
            let zeros = behind.iter().take_while(|&&byte| byte == 0).count();
            if behind.is_empty() {
                return Ok(false);
            } else if zeros > 0 {
                *in_zeros = true;
                source.consume(zeros);
            // Less than a header of what is no member would be taken for one that is cut off.
            } else if *in_zeros || behind[0] != 0x1f {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "invalid gzip header"));
            } else {
                break;
            }
        }
        if let Members::Between { source, .. } = std::mem::replace(self, Members::Nowhere) {
            *self = Members::Within(Box::new(GzDecoder::new(source)));
        }
        Ok(true)
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.begin()? {
            let Members::Within(member) = self else { break };
            let read = member.read(into).map_err(damaged)?;
            if read > 0 || into.is_empty() {
                return Ok(read);
            }
            if let Members::Within(member) = std::mem::replace(self, Members::Nowhere) {
                *self = Members::new(member.into_inner());
            }
        }
        Ok(0)
    }
}

#[cfg(feature = "zstd")]
fn zstandard<'s>(source: impl BufRead + Send + 's) -> io::Result<Box<dyn Read + Send + 's>> {
    Ok(Box::new(Named(zstd::Decoder::with_buffer(source)?)))
}

/// A decoder whose own errors, which are of no kind, are told from those of its source: they are called by a name that the library
/// has for one of its codes, `(size_t)-1` and below.
#[cfg(feature = "zstd")]
struct Named<D>(D);

#[cfg(feature = "zstd")]
impl<D: Read> Read for Named<D> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        const MOST_CODES: usize = 128;
        self.0.read(into).map_err(|error| {
            let name = error.to_string();
            let is_own = |code: usize| zstd::zstd_safe::get_error_name(code.wrapping_neg()) == name;
            match error.kind() {
                io::ErrorKind::Other if (1..MOST_CODES).any(is_own) => {
                    io::Error::new(io::ErrorKind::InvalidData, error)
                }
                _ => error,
            }
        })
    }
}

#[cfg(not(feature = "zstd"))]
fn zstandard<'s>(source: impl BufRead + Send + 's) -> io::Result<Box<dyn Read + Send + 's>> {
    Ok(Box::new(Frames::new(source)))
}

#[cfg(not(feature = "zstd"))]
struct Frames<R> {
    source: R,
    decoder: FrameDecoder,
    inside: bool,
    /// What the header of the frame says that it decodes to, if it does, and what it has.
    declared_bytes: Option<u64>,
    given_bytes: u64,
}

#[cfg(not(feature = "zstd"))]
impl<R: BufRead> Frames<R> {
    fn new(source: R) -> Frames<R> {
        let decoder = FrameDecoder::new();
        Frames { source, decoder, inside: false, declared_bytes: None, given_bytes: 0 }
    }

    /// Starts the next frame; false at the end of the stream.
    fn next_frame(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            // The decoder has zero for a size that is not there: the byte behind the magic number tells (RFC 8878,
            // section 3.1.1.1.1).
            let mut head = Vec::new();
            self.source.by_ref().take(5).read_to_end(&mut head)?;
            match self.decoder.reset(head.as_slice().chain(&mut self.source)) {
                Ok(()) => {
                    let is_declared = head.get(4).is_some_and(|flags| flags & 0b1110_0000 != 0);
                    self.declared_bytes = is_declared.then(|| self.decoder.content_size());
                    self.given_bytes = 0;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    let skipped =
                        io::copy(&mut self.source.by_ref().take(length), &mut io::sink())?;
                    if skipped < length {
                        return Err(io::Error::new(
                            io::ErrorKind::UnexpectedEof,
                            "incomplete frame",
                        ));
                    }
                }
                Err(error) => return Err(broken(&error)),
            }
        }
        Ok(false)
    }

    fn end_frame(&mut self) -> io::Result<()> {
        self.inside = false;
        let given = self.given_bytes;
        if let Some(declared) = self.declared_bytes.filter(|&declared| declared != given) {
            let said = format!("damaged Zstandard: a frame of {declared} bytes has {given}");
            return Err(invalid(said));
        }
        match (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum()) {
            (Some(stored), Some(found)) if stored != found => {
                Err(invalid("the Zstandard checksum does not match".to_owned()))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(not(feature = "zstd"))]
fn invalid(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// What ended a frame, in words for users: those of the decoder print what it holds.
#[cfg(not(feature = "zstd"))]
fn broken(error: &FrameDecoderError) -> io::Error {
    match error {
        FrameDecoderError::WindowSizeTooBig { requested, max } => {
            let [window, most] = [requested, max].map(|bytes| bytes.div_ceil(1 << 20));
            return invalid(format!(
                "its window of {window} MiB is more than {most}: zstd -dc --long=31 FILE | fathom … - reads it"
            ));
        }
        FrameDecoderError::DictNotProvided { dict_id } => {
            return invalid(format!(
                "it needs dictionary {dict_id}: zstd -dc -D DICTIONARY FILE | fathom … - reads it"
            ));
        }
        _ => {}
    }
    let mut cause: &dyn Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    match cause.downcast_ref::<io::Error>() {
        Some(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            io::Error::new(error.kind(), "incomplete frame")
        }
        Some(error) => io::Error::new(error.kind(), error.to_string()),
        None => invalid(format!("damaged Zstandard: {cause}")),
    }
}

#[cfg(not(feature = "zstd"))]
impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.inside {
                if !self.next_frame()? {
                    return Ok(0);
                }
                self.inside = true;
            }
            if self.decoder.can_collect() == 0 {
                if self.decoder.is_finished() {
                    self.end_frame()?;
                    continue;
                }
                let some = BlockDecodingStrategy::UptoBytes(into.len().max(1 << 17));
                let decoded = self.decoder.decode_blocks(&mut self.source, some);
                decoded.map_err(|error| broken(&error))?;
                continue;
            }
            let read = self.decoder.read(into)?;
            self.given_bytes += read as u64;
            if read > 0 || into.is_empty() {
                return Ok(read);
            }
        }
    }
}
