//! One thread that runs the plain decoder ahead of whoever reads.
//!
//! ```text
//!   source ──▶ reader ── chunks, some at a time ──▶ decoder
//!                ▲                                     │
//!                └──── "one taken", decoded bytes ─────┘ a few at a time
//! ```
//!
//! What a decoder remembers stays in one processor's caches that way, however many threads take turns in reading.
//! The reader feeds it each time it says that it took a chunk, so neither waits for the other with
//! nothing to do, and only the reader touches the source.

use std::io::{self, BufRead, Read};
use std::mem;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

use super::workers::{Claim, Plain};
use crate::{Compression, READ_BYTES, plain};

/// Compressed chunks that wait to be decoded.
const CHUNKS: usize = 3;

/// Messages that wait for the reader, most of them decoded bytes.
const MESSAGES: usize = 6;

/// Decoded bytes handed over at once.
const PLAIN_BYTES: usize = 256 << 10;

pub(super) struct Ahead {
    source: Box<dyn Read + Send>,
    /// Chunks to decode, an empty one at the end; None once that or an error was sent.
    chunks: Option<Sender<io::Result<Vec<u8>>>>,
    /// None once it has said the last.
    said: Option<Receiver<Said>>,
    current: Plain,
    /// Takes buffers back.
    spare: Option<Sender<Vec<u8>>>,
    thread: Option<JoinHandle<()>>,
    _claim: Claim,
}

enum Said {
    Took,
    Decoded(Plain),
    Over(io::Result<()>),
}

impl Ahead {
    /// Gives the source back if there can be no thread.
    pub(super) fn start(
        claim: Claim,
        compression: Compression,
        source: Box<dyn Read + Send>,
    ) -> Result<Ahead, Box<dyn Read + Send>> {
        let (chunks, feed) = channel();
        let (say, said) = sync_channel(MESSAGES);
        let (spare, buffers) = channel();
        let feed = Feed { chunks: feed, say: say.clone(), chunk: Vec::new(), at: 0, ended: false };
        let work = move || {
            let outcome = decode(compression, feed, &say, &buffers);
            // Who reads may have gone.
            drop(say.send(Said::Over(outcome)));
        };
        let Ok(thread) = Builder::new().name("decoder".to_owned()).spawn(work) else {
            return Err(source);
        };
        let mut ahead = Ahead {
            source,
            chunks: Some(chunks),
            said: Some(said),
            current: Plain::default(),
            spare: Some(spare),
            thread: Some(thread),
            _claim: claim,
        };
        for _ in 0..CHUNKS {
            ahead.feed();
        }
        Ok(ahead)
    }

    fn feed(&mut self) {
        let Some(chunks) = &self.chunks else { return };
        let mut chunk = Vec::with_capacity(READ_BYTES);
        let read = self.source.by_ref().take(READ_BYTES as u64).read_to_end(&mut chunk);
        let is_last = chunk.is_empty() || read.is_err();
        // A decoder that takes nothing any more has said why.
        if !chunk.is_empty() || read.is_ok() {
            drop(chunks.send(Ok(chunk)));
        }
        if let Err(error) = read {
            drop(chunks.send(Err(error)));
        }
        if is_last {
            self.chunks = None;
        }
    }
}

impl Read for Ahead {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while !into.is_empty() {
            let read = self.current.take(into);
            if read > 0 {
                return Ok(read);
            }
            let Some(said) = &self.said else { break };
            match said.recv() {
                Ok(Said::Took) => self.feed(),
                Ok(Said::Decoded(plain)) => {
                    let read = mem::replace(&mut self.current, plain);
                    drop(self.spare.as_ref().map(|spare| spare.send(read.bytes)));
                }
                Ok(Said::Over(outcome)) => {
                    self.said = None;
                    outcome?;
                }
                // It panicked, as it would have here.
                Err(_) => {
                    self.said = None;
                    let outcome = self.thread.take().map_or(Ok(()), JoinHandle::join);
                    outcome.unwrap_or_else(|panic| resume_unwind(panic));
                }
            }
        }
        Ok(0)
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        (self.chunks, self.said, self.spare) = (None, None, None);
        drop(self.thread.take().map(JoinHandle::join));
    }
}

fn decode(
    compression: Compression,
    feed: Feed,
    say: &SyncSender<Said>,
    buffers: &Receiver<Vec<u8>>,
) -> io::Result<()> {
    let mut decoder = plain::decoder(compression, feed)?;
    loop {
        let mut bytes = buffers.try_recv().unwrap_or_default();
        bytes.resize(PLAIN_BYTES, 0);
        let end = decoder.read(&mut bytes)?;
        if end == 0 || say.send(Said::Decoded(Plain { bytes, end, at: 0 })).is_err() {
            return Ok(());
        }
    }
}

/// What the decoder reads.
struct Feed {
    chunks: Receiver<io::Result<Vec<u8>>>,
    say: SyncSender<Said>,
    chunk: Vec<u8>,
    at: usize,
    ended: bool,
}

impl BufRead for Feed {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.chunk.len() && !self.ended {
            let gone = || io::Error::other("nobody reads any more");
            let chunk = self.chunks.recv().unwrap_or_else(|_| Err(gone()));
            (self.chunk, self.at) = (Vec::new(), 0);
            self.ended = chunk.as_ref().map_or(true, Vec::is_empty);
            self.chunk = chunk?;
            self.say.send(Said::Took).map_err(|_| gone())?;
        }
        Ok(&self.chunk[self.at..])
    }

    fn consume(&mut self, bytes: usize) {
        self.at += bytes;
    }
}

impl Read for Feed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}
