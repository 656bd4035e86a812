//! The text of a table, part after part, each of them made by a thread.

use std::collections::VecDeque;
use std::io::{self, Cursor, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::file::{BATCH_ROWS, File};
use super::{cells, damaged, guarded};

/// Pieces of text of a part that wait for whoever reads.
const WAITING: usize = 4;

/// A piece of text of a part; `None` behind its last, so that a thread that dies is no end.
type Piece = io::Result<Option<Vec<u8>>>;

pub(super) struct Text {
    file: File,
    places: Vec<usize>,
    threads: usize,
    /// The part that is to be begun next, and those that have begun.
    next: usize,
    begun: VecDeque<Receiver<Piece>>,
    piece: Cursor<Vec<u8>>,
}

impl Text {
    pub(super) fn new(file: File, places: Vec<usize>, header: Vec<u8>, threads: usize) -> Text {
        let (begun, piece) = (VecDeque::new(), Cursor::new(header));
        Text { file, places, threads: threads.max(1), next: 0, begun, piece }
    }

    /// Begins parts until there are as many as threads.
    fn begin(&mut self) -> io::Result<()> {
        while self.begun.len() < self.threads && self.next < self.file.parts() {
            let (sender, receiver) = sync_channel(WAITING);
            let (file, places, part) = (self.file.clone(), self.places.clone(), self.next);
            thread::Builder::new().spawn(move || make(&file, part, &places, &sender))?;
            self.begun.push_back(receiver);
            self.next += 1;
        }
        Ok(())
    }
}

impl Read for Text {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.piece.read(into)?;
            if read > 0 || into.is_empty() {
                return Ok(read);
            }
            self.begin()?;
            let Some(part) = self.begun.front() else { return Ok(0) };
            match part.recv().unwrap_or_else(|_| Err(damaged("its reader gave up")))? {
                Some(piece) => self.piece = Cursor::new(piece),
                None => drop(self.begun.pop_front()),
            }
        }
    }
}

/// Sends the text of a part, until nobody listens.
fn make(file: &File, part: usize, places: &[usize], sender: &SyncSender<Piece>) {
    let work = || -> io::Result<()> {
        for batch in file.part(part, places)? {
            let batch = batch.map_err(damaged)?;
            for start in (0..batch.num_rows()).step_by(BATCH_ROWS) {
                let rows = batch.slice(start, BATCH_ROWS.min(batch.num_rows() - start));
                let mut text = Vec::new();
                cells::write(&rows, &mut text);
                if sender.send(Ok(Some(text))).is_err() {
                    return Ok(());
                }
            }
        }
        Ok(())
    };
    let _ = sender.send(guarded(file.whole(), work).map(|()| None));
}
