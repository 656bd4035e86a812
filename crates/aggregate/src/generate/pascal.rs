//! The Object Pascal challenge's generator, bit for bit.
//!
//! One serial random state makes the table of stations and then every row, so rows are drawn by one
//! thread; another writes. It needs the challenge's station list, which is not built in (CC BY 4.0,
//! simplemaps.com), and uses its names only.

use std::io::{self, Write};
use std::sync::mpsc;
use std::thread;

use super::error::GenerateError;
use super::rows::Rows;
use super::stations::{LIMIT_TENTHS, Stations, lines};

/// The buffer is handed to the writer when it holds this much.
const BUFFER_BYTES: usize = 1 << 20;

/// The generator over a prepared list.
#[derive(Clone, Debug)]
pub struct Pascal {
    rows: Rows,
    /// Per station: the lowest temperature above -99.9, and how many tenths above it are reached.
    ranges: Vec<(u32, u32)>,
    random: PascalRandom,
}

/// The challenge's random numbers: two words, no seed of ours.
#[derive(Clone, Debug)]
struct PascalRandom {
    a: u32,
    b: u32,
}

impl PascalRandom {
    const START: PascalRandom = PascalRandom { a: 46668267, b: 7266 };

    /// A number below `range`.
    #[inline]
    fn next(&mut self, range: u32) -> u32 {
        let s = self.b ^ self.a;
        let t = (s.wrapping_mul(3) ^ 5).wrapping_mul(7);
        self.b = self.a ^ (s << 9);
        self.a = t;
        ((u64::from(t) * u64::from(range)) >> 32) as u32
    }
}

impl Pascal {
    /// Prepares the generator from the text of the list. With `count`, only so many of its stations
    /// remain, chosen as the challenge chooses its 400.
    ///
    /// # Errors
    /// A line without a name, no stations, fewer than `count`.
    pub fn new(list: &[u8], count: Option<usize>) -> Result<Pascal, GenerateError> {
        let mut names = sorted_names(list)?;
        let available = names.len();
        if available == 0 {
            return Err(GenerateError::EmptyList);
        }
        let asked = count.unwrap_or(available);
        if asked == 0 {
            return Err(GenerateError::NoStations);
        }
        if asked > available {
            return Err(GenerateError::TooFewStations { asked, available });
        }
        let mut random = PascalRandom::START;
        let mut left = Left::new(available);
        let mut stays = vec![true; available];
        for count in (asked + 1..=available).rev() {
            stays[left.remove(random.next(count as u32))] = false;
        }
        let mut stays = stays.into_iter();
        names.retain(|_| stays.next() == Some(true));
        let ranges = names
            .iter()
            .map(|_| {
                let span = random.next(501) + 350;
                (random.next(1999 - span), span)
            })
            .collect();
        let rows = Rows::new(&Stations::from_names(&names));
        Ok(Pascal { rows, ranges, random })
    }

    /// How many stations the rows draw from.
    pub fn stations(&self) -> usize {
        self.ranges.len()
    }

    /// Writes `rows` rows from the start of the sequence and returns how many bytes they were.
    ///
    /// # Errors
    /// An output that fails.
    pub fn write(&self, rows: u64, out: &mut (dyn Write + Send)) -> Result<u64, GenerateError> {
        // Two buffers go round: one is filled while the other is written.
        let (full, to_write) = mpsc::sync_channel::<(Vec<u8>, usize)>(1);
        let (empty, to_fill) = mpsc::channel();
        for _ in 0..2 {
            let _ = empty.send(Vec::new());
        }
        let written = thread::scope(|scope| {
            let write = move || -> io::Result<u64> {
                let mut bytes = 0;
                for (buffer, length) in to_write {
                    out.write_all(&buffer[..length])?;
                    bytes += length as u64;
                    let _ = empty.send(buffer);
                }
                Ok(bytes)
            };
            let writer = thread::Builder::new().spawn_scoped(scope, write)?;
            let mut random = self.random.clone();
            let mut left = rows;
            // The channels close when the writer has failed; its error is the answer.
            while left > 0 {
                let Ok(mut buffer) = to_fill.recv() else { break };
                let (done, length) = self.fill(&mut random, left, &mut buffer);
                left -= done;
                if full.send((buffer, length)).is_err() {
                    break;
                }
            }
            drop(full);
            writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        Ok(written?)
    }

    /// Fills the buffer with up to `rows` rows; returns how many, and their bytes.
    fn fill(&self, random: &mut PascalRandom, rows: u64, buffer: &mut Vec<u8>) -> (u64, usize) {
        let count = self.ranges.len() as u32;
        let mut at = 0;
        let mut done = 0;
        while done < rows && at < BUFFER_BYTES {
            let station = random.next(count) as usize;
            let (low, span) = self.ranges[station];
            let tenths = (low + random.next(span)) as i16 - LIMIT_TENTHS;
            at = self.rows.write(buffer, at, station, tenths);
            done += 1;
        }
        (done, at)
    }
}

/// Places of a list of which some were removed, as a Fenwick tree: node `i`, from 1, counts those left among the places
/// from `i` without its lowest bit up to it.
struct Left(Vec<u32>);

impl Left {
    fn new(places: usize) -> Left {
        Left((0..=places as u32).map(|node| node & node.wrapping_neg()).collect())
    }

    /// Removes the place that so many of those left are before.
    fn remove(&mut self, mut before: u32) -> usize {
        let (mut at, mut step) = (0, self.0.len().next_power_of_two());
        while step > 0 {
            match self.0.get_mut(at + step) {
                Some(count) if *count <= before => {
                    before -= *count;
                    at += step;
                }
                Some(count) => *count -= 1,
                None => {}
            }
            step /= 2;
        }
        at
    }
}

/// The names of the list, sorted with ASCII letters folded to upper case; of names that are equal
/// under that comparison the first remains.
fn sorted_names(list: &[u8]) -> Result<Vec<&[u8]>, GenerateError> {
    let mut names = Vec::new();
    for line in lines(list) {
        let (_, name, _) = line?;
        names.push((name.to_ascii_uppercase(), name));
    }
    names.sort_by(|x, y| x.0.cmp(&y.0));
    names.dedup_by(|later, first| later.0 == first.0);
    Ok(names.into_iter().map(|(_, name)| name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_without_case_and_the_first_spelling_stays() {
        let names = sorted_names(b"# list\nb;1\nB;2\n_;3\na;4\nC;5\n").unwrap();
        assert_eq!(names, [b"a", b"b", b"C", b"_"]);
    }

    #[test]
    fn places_are_removed_as_from_a_list() {
        for places in [1, 2, 7, 8, 9, 1000] {
            let (mut list, mut left) = ((0..places).collect::<Vec<usize>>(), Left::new(places));
            let mut random = PascalRandom::START;
            while !list.is_empty() {
                let at = random.next(list.len() as u32);
                assert_eq!(left.remove(at), list.remove(at as usize), "of {places}");
            }
        }
    }

    #[test]
    fn draws_follow_the_published_step() {
        // Worked by hand from the description: s = 46668267 xor 7266 = 46673545.
        let mut random = PascalRandom::START;
        let s: u64 = 46668267 ^ 7266;
        let t = (((s * 3) ^ 5) * 7) as u32;
        assert_eq!(random.next(1000), ((u64::from(t) * 1000) >> 32) as u32);
        assert_eq!((random.a, random.b), (t, 46668267 ^ ((s << 9) as u32)));
    }

    #[test]
    fn a_longer_file_starts_with_the_shorter_one() {
        let pascal = Pascal::new(b"Alpha\nBeta\nGamma\n", Some(2)).unwrap();
        assert_eq!(pascal.stations(), 2);
        let text = |rows| {
            let mut out = Vec::new();
            let bytes = pascal.write(rows, &mut out).unwrap();
            assert_eq!(bytes, out.len() as u64);
            out
        };
        let long = text(200_000);
        assert!(long.len() > 2 * BUFFER_BYTES);
        assert!(long.starts_with(&text(1000)));
        assert!(text(0).is_empty());
    }

    #[test]
    fn an_output_that_fails_is_reported() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let pascal = Pascal::new(b"Alpha\n", None).unwrap();
        let error = pascal.write(1_000_000, &mut Closed).unwrap_err();
        assert!(matches!(error, GenerateError::Write(e) if e.kind() == io::ErrorKind::BrokenPipe));
    }

    #[test]
    fn more_stations_than_the_list_has_are_refused() {
        let error = Pascal::new(b"Alpha\nALPHA\n", Some(2)).unwrap_err();
        assert!(matches!(error, GenerateError::TooFewStations { asked: 2, available: 1 }));
        assert!(matches!(Pascal::new(b"", None), Err(GenerateError::EmptyList)));
    }
}
