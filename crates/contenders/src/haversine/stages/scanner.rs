//! A push scanner like the notes': tokens are searched to their end and handed over in one piece.
//!
//! Looks for quotes, numbers and braces only: that the text is JSON is taken on trust, as the notes
//! do. What a chunk's end cuts is kept in a carry buffer until the next chunk.

use std::io::{self, Read};

use fathom_haversine::Pair;

use super::row::Row;

/// Reads pairs in chunks; with `COPY`, each token is copied out of its chunk first.
pub(super) fn each_pair<const COPY: bool>(
    mut source: impl Read,
    chunk_bytes: usize,
    convert: impl Fn(&[u8]) -> f64 + Copy,
    mut take: impl FnMut(Pair),
) -> io::Result<()> {
    let mut scanner = Scanner::default();
    let mut chunk = vec![0; chunk_bytes];
    loop {
        let read = match source.read(&mut chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if read == 0 {
            return Ok(());
        }
        scanner.feed::<COPY>(&chunk[..read], convert, &mut take);
    }
}

#[derive(Default)]
struct Scanner {
    row: Row,
    cut: Cut,
    carry: Vec<u8>,
    copy: Vec<u8>,
}

/// The token a chunk's end has interrupted.
#[derive(Clone, Copy, Default, PartialEq)]
enum Cut {
    #[default]
    None,
    /// A string, and whether its next byte is escaped.
    String(bool),
    Number,
}

impl Scanner {
    fn feed<const COPY: bool>(
        &mut self,
        chunk: &[u8],
        convert: impl Fn(&[u8]) -> f64 + Copy,
        take: &mut impl FnMut(Pair),
    ) {
        let mut at = self.resume(chunk, convert);
        while let Some(&byte) = chunk.get(at) {
            match byte {
                b'"' => {
                    let start = at + 1;
                    let mut is_escaped = false;
                    let Some(end) = string_end(chunk, start, &mut is_escaped) else {
                        return self.keep(&chunk[start..], Cut::String(is_escaped));
                    };
                    self.row.key(handed::<COPY>(&mut self.copy, &chunk[start..end]));
                    at = end + 1;
                }
                b'-' | b'0'..=b'9' => {
                    let end = number_end(chunk, at);
                    if end == chunk.len() {
                        return self.keep(&chunk[at..], Cut::Number);
                    }
                    let text = handed::<COPY>(&mut self.copy, &chunk[at..end]);
                    self.row.number(text, convert);
                    at = end;
                }
                b'}' => {
                    if let Some(pair) = self.row.end() {
                        take(pair);
                    }
                    at += 1;
                }
                _ => at += 1,
            }
        }
    }

    /// Goes on with a token of the last chunk; where the rest begins.
    fn resume(&mut self, chunk: &[u8], convert: impl Fn(&[u8]) -> f64) -> usize {
        match self.cut {
            Cut::None => 0,
            Cut::String(mut is_escaped) => {
                let end = string_end(chunk, 0, &mut is_escaped);
                self.carry.extend_from_slice(&chunk[..end.unwrap_or(chunk.len())]);
                let Some(end) = end else {
                    self.cut = Cut::String(is_escaped);
                    return chunk.len();
                };
                self.cut = Cut::None;
                self.row.key(&self.carry);
                end + 1
            }
            Cut::Number => {
                let end = number_end(chunk, 0);
                self.carry.extend_from_slice(&chunk[..end]);
                if end < chunk.len() {
                    self.cut = Cut::None;
                    self.row.number(&self.carry, convert);
                }
                end
            }
        }
    }

    fn keep(&mut self, piece: &[u8], cut: Cut) {
        self.carry.clear();
        self.carry.extend_from_slice(piece);
        self.cut = cut;
    }
}

/// The token as it is handed over: where it stands, or a copy.
fn handed<'a, const COPY: bool>(copy: &'a mut Vec<u8>, token: &'a [u8]) -> &'a [u8] {
    if !COPY {
        return token;
    }
    copy.clear();
    copy.extend_from_slice(token);
    copy
}

/// Where the string's closing quote is, if in this chunk.
fn string_end(chunk: &[u8], from: usize, is_escaped: &mut bool) -> Option<usize> {
    for (at, &byte) in chunk.iter().enumerate().skip(from) {
        match byte {
            _ if *is_escaped => *is_escaped = false,
            b'\\' => *is_escaped = true,
            b'"' => return Some(at),
            _ => {}
        }
    }
    None
}

fn number_end(chunk: &[u8], from: usize) -> usize {
    let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E');
    chunk[from..].iter().position(|byte| !is_part(byte)).map_or(chunk.len(), |length| from + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_chunk_size_gives_the_same_pairs() {
        let text = r#"{"pairs":[{"x0":1.5, "y0":-2, "n\"ame":"}", "x1":3e1, "y1":4},
            {"y1":8,"y0":6,"x1":7,"x0":5}]}"#;
        let convert = |text: &[u8]| std::str::from_utf8(text).unwrap().parse().unwrap();
        for size in 1..100 {
            let (mut copied, mut viewed) = (Vec::new(), Vec::new());
            each_pair::<true>(text.as_bytes(), size, convert, |pair| copied.push(pair)).unwrap();
            each_pair::<false>(text.as_bytes(), size, convert, |pair| viewed.push(pair)).unwrap();
            assert_eq!(copied, viewed);
            let wanted = [[1.5, -2.0, 30.0, 4.0], [5.0, 6.0, 7.0, 8.0]].map(Pair::new);
            assert_eq!(viewed, wanted, "chunks of {size}");
        }
    }
}
