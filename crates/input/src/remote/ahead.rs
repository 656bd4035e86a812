//! Reading ahead: blocks are asked for before anybody needs them, so many at a time and no more.
//!
//! ```text
//!   expected ranges  ──▶  held: in flight, or there and not all read  ──▶  recent: read, kept a little
//!                         at most N requests, at most N blocks
//! ```
//!
//! Whoever reads finds its block held, or takes it out of what is expected and asks for it at once, or asks
//! for just these bytes if nobody expected them: no order in which threads read makes them wait for each
//! other, only longer. A byte or two around a block are read twice (does a record start here? where does
//! the last one end?), so what was read stays for a while.
//!
//! Nothing here knows where blocks come from.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

/// What gets bytes of objects.
pub(super) trait Get: Send + Sync + Sized + 'static {
    type Object: Send + Sync + 'static;

    /// Begins to get them, and returns at once.
    fn start(&self, object: &Arc<Self::Object>, range: Range<u64>, answer: Answer<Self>);
}

/// How much may be under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Requests in flight for what is expected.
    pub(super) requests: usize,
    /// Bytes of a request, and for each request as many that wait to be read.
    pub(super) block_bytes: u64,
}

/// Bytes behind an expected range that are got with it: they end its last record.
const SLACK_BYTES: u64 = 64 << 10;

/// Blocks' worth of bytes that were read and are kept.
const RECENT_BLOCKS: u64 = 2;

/// The blocks of all objects.
pub(super) struct Ahead<G: Get> {
    get: G,
    limits: Limits,
    state: Mutex<State<G::Object>>,
    /// Signalled when a block has come.
    come: Condvar,
}

struct State<O> {
    expected: VecDeque<Expected<O>>,
    held: Vec<Block<O>>,
    recent: VecDeque<Block<O>>,
    /// Blocks that were ever asked for: the number of the next.
    asked: u64,
}

/// A range nobody has asked for yet.
struct Expected<O> {
    object: Arc<O>,
    /// What is to be got: a little more than what is read for certain.
    range: Range<u64>,
    read: Range<u64>,
}

struct Block<O> {
    number: u64,
    object: Arc<O>,
    range: Range<u64>,
    /// What of it nobody has read.
    unread: Vec<Range<u64>>,
    bytes: Option<Result<Bytes, Failed>>,
}

/// What is told to everyone who needs a block that did not come.
#[derive(Clone)]
struct Failed(io::ErrorKind, Arc<str>);

/// Where bytes go that were asked for; who drops it leaves nobody waiting.
pub(super) struct Answer<G: Get> {
    ahead: Arc<Ahead<G>>,
    to: Option<Recipient>,
}

enum Recipient {
    Block(u64),
    Reader(std::sync::mpsc::SyncSender<io::Result<Bytes>>),
}

impl<G: Get> Answer<G> {
    /// Hands over what has come.
    pub(super) fn give(mut self, got: io::Result<Bytes>) {
        self.hand_over(got);
    }

    fn hand_over(&mut self, got: io::Result<Bytes>) {
        let number = match self.to.take() {
            None => return,
            Some(Recipient::Block(number)) => number,
            // Whoever waited may have gone.
            Some(Recipient::Reader(reader)) => return drop(reader.send(got)),
        };
        let mut state = self.ahead.lock();
        if let Some(block) = state.held.iter_mut().find(|block| block.number == number) {
            let told = |error: io::Error| Failed(error.kind(), error.to_string().into());
            block.bytes = Some(got.map_err(told));
        }
        self.ahead.ask(&mut state);
        drop(state);
        self.ahead.come.notify_all();
    }
}

impl<G: Get> Drop for Answer<G> {
    fn drop(&mut self) {
        self.hand_over(Err(io::Error::other("a request was given up")));
    }
}

impl<G: Get> Ahead<G> {
    pub(super) fn new(get: G, limits: Limits) -> Arc<Ahead<G>> {
        let state = State {
            expected: VecDeque::new(),
            held: Vec::new(),
            recent: VecDeque::new(),
            asked: 0,
        };
        Arc::new(Ahead { get, limits, state: Mutex::new(state), come: Condvar::new() })
    }

    /// Hears that a range of an object of `size` bytes is going to be read, once however often it is said.
    pub(super) fn expect(self: &Arc<Self>, object: &Arc<G::Object>, read: Range<u64>, size: u64) {
        if read.is_empty() {
            return;
        }
        let range = read.start.saturating_sub(1)..(read.end + SLACK_BYTES).min(size);
        let mut state = self.lock();
        if state.is_expected(object, &read) {
            return;
        }
        state.expected.push_back(Expected { object: Arc::clone(object), range, read });
        self.ask(&mut state);
    }

    /// Reads some bytes; waits for them if need be.
    pub(super) fn read(
        self: &Arc<Self>,
        object: &Arc<G::Object>,
        into: &mut [u8],
        at: u64,
    ) -> io::Result<usize> {
        let mut state = self.lock();
        loop {
            let block = match state.find(object, at) {
                Some(Found::Held(place)) => &state.held[place],
                Some(Found::Recent(place)) => &state.recent[place],
                Some(Found::Expected(place)) => {
                    self.ask_for(&mut state, place, at);
                    continue;
                }
                None => {
                    let most = into.len().min(self.limits.block_bytes as usize);
                    let until = state.next_start(object, at).min(at + most as u64);
                    drop(state);
                    return self.read_alone(object, &mut into[..(until - at) as usize], at);
                }
            };
            let Some(bytes) = block.bytes.clone() else {
                state = self.come.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let bytes =
                bytes.map_err(|Failed(kind, said)| io::Error::new(kind, said.to_string()))?;
            let (number, from) = (block.number, (at - block.range.start) as usize);
            let read = into.len().min(bytes.len() - from);
            let end = at + read as u64;
            // As a rule all of it is to be read of this block, and nobody else's.
            let is_own = block.unread.iter().any(|left| left.contains(&at) && end <= left.end);
            let end = if is_own { end } else { end.min(state.other_start(object, at, number)) };
            let read = (end - at) as usize;
            state.note(number, at..at + read as u64, self.limits.block_bytes);
            self.ask(&mut state);
            drop(state);
            into[..read].copy_from_slice(&bytes[from..from + read]);
            return Ok(read);
        }
    }

    /// Gets bytes that nobody expected, and keeps none.
    fn read_alone(
        self: &Arc<Self>,
        object: &Arc<G::Object>,
        into: &mut [u8],
        at: u64,
    ) -> io::Result<usize> {
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        let answer = Answer { ahead: Arc::clone(self), to: Some(Recipient::Reader(sender)) };
        self.get.start(object, at..at + into.len() as u64, answer);
        let bytes = receiver.recv().map_err(io::Error::other)??;
        into[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }

    /// Asks for what is expected as far as there is room.
    fn ask(self: &Arc<Self>, state: &mut State<G::Object>) {
        let most_bytes = self.limits.requests as u64 * self.limits.block_bytes;
        while let Some(next) = state.expected.front() {
            let in_flight = state.held.iter().filter(|block| block.bytes.is_none()).count();
            let held: u64 = state.held.iter().map(Block::len).sum();
            let end = self.end(&next.range, next.range.start);
            let fits = held == 0 || held + (end - next.range.start) <= most_bytes;
            if in_flight >= self.limits.requests || !fits {
                return;
            }
            let start = next.range.start;
            self.ask_block(state, 0, start..end);
        }
    }

    /// Asks for the block of what is expected at this place that holds a byte.
    fn ask_for(self: &Arc<Self>, state: &mut State<G::Object>, place: usize, at: u64) {
        let range = &state.expected[place].range;
        let start = at - (at - range.start) % self.limits.block_bytes;
        let end = self.end(range, start);
        self.ask_block(state, place, start..end);
    }

    /// Where a block ends that starts here: no short one is left at the end.
    fn end(&self, range: &Range<u64>, start: u64) -> u64 {
        let end = start + self.limits.block_bytes;
        if end + SLACK_BYTES + 1 >= range.end { range.end } else { end }
    }

    /// Takes a block out of what is expected, and asks for it.
    fn ask_block(self: &Arc<Self>, state: &mut State<G::Object>, place: usize, range: Range<u64>) {
        let Some(Expected { object, range: all, read }) = state.expected.remove(place) else {
            return;
        };
        for rest in [range.end..all.end, all.start..range.start] {
            if !rest.is_empty() {
                let rest =
                    Expected { object: Arc::clone(&object), range: rest, read: read.clone() };
                state.expected.insert(place, rest);
            }
        }
        let unread = both(&range, &read);
        let unread = if unread.is_empty() { Vec::new() } else { vec![unread] };
        let number = state.asked;
        state.asked += 1;
        let answer = Answer { ahead: Arc::clone(self), to: Some(Recipient::Block(number)) };
        self.get.start(&object, range.clone(), answer);
        state.held.push(Block { number, object, range, unread, bytes: None });
    }

    fn lock(&self) -> MutexGuard<'_, State<G::Object>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<O> State<O> {
    /// Where a byte is: where it is to be read, before where it lies beside that. Else whoever has it at its edge would serve it, and
    /// who has it for that would wait for it for ever.
    fn find(&self, object: &Arc<O>, at: u64) -> Option<Found> {
        let held = |is_it: &dyn Fn(&Block<O>) -> bool| {
            let is_it = |block: &Block<O>| block.holds(object, at) && is_it(block);
            self.held.iter().position(is_it).map(Found::Held)
        };
        let expected = |is_it: &dyn Fn(&Expected<O>) -> bool| {
            let is_it = |next: &Expected<O>| Arc::ptr_eq(&next.object, object) && is_it(next);
            self.expected.iter().position(is_it).map(Found::Expected)
        };
        let recent = || self.recent.iter().position(|block| block.holds(object, at));
        held(&|block| block.unread.iter().any(|left| left.contains(&at)))
            .or_else(|| expected(&|next| next.unread().contains(&at)))
            .or_else(|| held(&|_| true))
            .or_else(|| recent().map(Found::Recent))
            .or_else(|| expected(&|next| next.range.contains(&at)))
    }

    /// Where the first bytes behind one start that are to be read of another block than this one.
    fn other_start(&self, object: &Arc<O>, at: u64, number: u64) -> u64 {
        let held = self.held.iter().filter(|block| block.number != number);
        let held =
            held.flat_map(|block| block.unread.iter().map(|left| (&block.object, left.start)));
        let expected = self.expected.iter().map(|next| (&next.object, next.unread().start));
        let behind =
            held.chain(expected).filter(|(of, start)| Arc::ptr_eq(of, object) && *start > at);
        behind.map(|(_, start)| start).min().unwrap_or(u64::MAX)
    }

    /// Whether some of a range is expected or held already.
    fn is_expected(&self, object: &Arc<O>, read: &Range<u64>) -> bool {
        let expected = self.expected.iter().map(|next| (&next.object, &next.read));
        let held = self
            .held
            .iter()
            .flat_map(|block| block.unread.iter().map(|left| (&block.object, left)));
        let overlaps = |one: &Range<u64>| one.start < read.end && read.start < one.end;
        expected.chain(held).any(|(of, range)| Arc::ptr_eq(of, object) && overlaps(range))
    }

    /// Where the first block behind a byte starts that is held or expected.
    fn next_start(&self, object: &Arc<O>, at: u64) -> u64 {
        let expected = self.expected.iter().map(|next| (&next.object, next.range.start));
        let held = self.held.iter().map(|block| (&block.object, block.range.start));
        let behind =
            expected.chain(held).filter(|(of, start)| Arc::ptr_eq(of, object) && *start > at);
        behind.map(|(_, start)| start).min().unwrap_or(u64::MAX)
    }

    /// Notes what was read of a block, and lets go of it once that is all.
    fn note(&mut self, number: u64, read: Range<u64>, block_bytes: u64) {
        let Some(place) = self.held.iter().position(|block| block.number == number) else {
            return;
        };
        let block = &mut self.held[place];
        block.unread = std::mem::take(&mut block.unread)
            .into_iter()
            .flat_map(|left| {
                [left.start..left.end.min(read.start), left.start.max(read.end)..left.end]
            })
            .filter(|left| !left.is_empty())
            .collect();
        if block.unread.is_empty() {
            let block = self.held.swap_remove(place);
            self.recent.push_back(block);
        }
        let mut kept: u64 = self.recent.iter().map(Block::len).sum();
        while kept > RECENT_BLOCKS * block_bytes {
            kept -= self.recent.pop_front().map_or(kept, |block| block.len());
        }
    }
}

/// Where a byte is, or is to come.
enum Found {
    Held(usize),
    Recent(usize),
    Expected(usize),
}

fn both(one: &Range<u64>, other: &Range<u64>) -> Range<u64> {
    one.start.max(other.start)..one.end.min(other.end)
}

impl<O> Expected<O> {
    /// What of it is read for certain.
    fn unread(&self) -> Range<u64> {
        both(&self.range, &self.read)
    }
}

impl<O> Block<O> {
    fn len(&self) -> u64 {
        self.range.end - self.range.start
    }

    fn holds(&self, object: &Arc<O>, at: u64) -> bool {
        Arc::ptr_eq(&self.object, object) && self.range.contains(&at)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// Answers when it is told to.
    #[derive(Default)]
    struct Held(Mutex<Vec<(Range<u64>, Answer<Held>)>>);

    impl Get for Held {
        type Object = Vec<u8>;

        fn start(&self, _: &Arc<Vec<u8>>, range: Range<u64>, answer: Answer<Held>) {
            self.0.lock().unwrap().push((range, answer));
        }
    }

    /// Answers at once, from another thread.
    #[derive(Default)]
    struct Soon(AtomicU64);

    impl Get for Soon {
        type Object = Vec<u8>;

        fn start(&self, object: &Arc<Vec<u8>>, range: Range<u64>, answer: Answer<Soon>) {
            self.0.fetch_add(range.end - range.start, Ordering::Relaxed);
            let object = Arc::clone(object);
            thread::spawn(move || {
                thread::sleep(Duration::from_micros(range.start % 97));
                answer.give(Ok(object[range.start as usize..range.end as usize].to_vec().into()));
            });
        }
    }

    const BLOCK: u64 = 1 << 20;

    fn object(bytes: u64) -> Arc<Vec<u8>> {
        Arc::new((0..bytes).map(|at| ((at * at) >> 7) as u8).collect())
    }

    #[test]
    fn no_more_is_in_flight_or_there_than_may_be() {
        let ahead = Ahead::new(Held::default(), Limits { requests: 3, block_bytes: BLOCK });
        let object = object(9 * BLOCK);
        ahead.expect(&object, 0..object.len() as u64, object.len() as u64);
        let pending = || ahead.get.0.lock().unwrap().len();
        let give = || {
            let (range, answer) = ahead.get.0.lock().unwrap().remove(0);
            let bytes = object[range.start as usize..range.end as usize].to_vec();
            answer.give(Ok(bytes.into()));
        };
        assert_eq!(pending(), 3);
        give();
        assert_eq!(pending(), 2, "what is there was not read");
        let mut into = vec![0; BLOCK as usize];
        assert_eq!(ahead.read(&object, &mut into[1..], 0).unwrap() as u64, BLOCK - 1);
        assert_eq!(pending(), 2, "nor was its last byte");
        assert_eq!(ahead.read(&object, &mut into, BLOCK - 1).unwrap(), 1);
        assert_eq!(pending(), 3);
        // A byte before what is held is still there.
        assert_eq!(ahead.read(&object, &mut into, 5).unwrap() as u64, BLOCK - 5);
    }

    #[test]
    fn bytes_come_whatever_order_threads_read_in() {
        let first = object(5 * BLOCK + 12_345);
        let second = object(100);
        for (requests, chunk, threads) in
            [(1, 70_000, 1), (1, 3 << 20, 4), (4, 250_000, 3), (16, 4096, 2)]
        {
            let ahead = Ahead::new(Soon::default(), Limits { requests, block_bytes: BLOCK });
            let size = first.len() as u64;
            // Not all of it is expected.
            ahead.expect(&first, 100..size - 200_000, size);
            ahead.expect(&second, 0..100, 100);
            let next = AtomicU64::new(0);
            thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| {
                        loop {
                            let start = next.fetch_add(chunk, Ordering::Relaxed);
                            if start >= size {
                                break;
                            }
                            // As the engine reads: from one byte before to some behind.
                            let from = start.saturating_sub(1);
                            let to = (start + chunk + 256).min(size);
                            let mut at = from;
                            while at < to {
                                let mut into = vec![0; (to - at) as usize];
                                let read = ahead.read(&first, &mut into, at).unwrap();
                                assert!(read > 0);
                                let place = at as usize;
                                assert!(into[..read] == first[place..place + read]);
                                at += read as u64;
                            }
                        }
                    });
                }
            });
            let mut into = [0; 100];
            assert_eq!(ahead.read(&second, &mut into, 0).unwrap(), 100);
            assert_eq!(into[..], second[..]);
            let state = ahead.lock();
            assert!(state.expected.is_empty() && state.held.is_empty());
        }
    }

    /// Bytes at the seam were read from the block before, and the one behind, for which they were missing, was held for good.
    #[test]
    fn ranges_that_follow_each_other_are_let_go() {
        let object = object(7 * BLOCK);
        let size = object.len() as u64;
        let seams = [0, 400_000, 1_500_000, 2 * BLOCK + 1, 2 * BLOCK + 50_000, 5 * BLOCK, size];
        let ranges = || seams.windows(2).map(|seam| seam[0]..seam[1]);
        for (requests, piece, is_at_once) in [
            (1, 70_000, true),
            (16, 300_000, true),
            (2, 131_072, false),
            (3, BLOCK, true),
            (1, 999, false),
        ] {
            let ahead = Ahead::new(Soon::default(), Limits { requests, block_bytes: BLOCK });
            let expect = |range: Range<u64>| ahead.expect(&object, range, size);
            if is_at_once {
                ranges().for_each(expect);
            }
            let mut told = ranges().skip(usize::from(is_at_once) * seams.len());
            let (mut at, mut heard) = (0, 0);
            while at < size {
                // Each is heard of while the one before is read.
                if at + 2 * piece >= heard
                    && let Some(next) = told.next()
                {
                    heard = next.end;
                    expect(next);
                }
                let mut into = vec![0; piece.min(size - at) as usize];
                let read = ahead.read(&object, &mut into, at).unwrap();
                assert!(into[..read] == object[at as usize..at as usize + read]);
                at += read as u64;
            }
            let state = ahead.lock();
            let left = (state.expected.len(), state.held.len());
            assert_eq!(left, (0, 0), "{requests} {piece} {is_at_once}");
            drop(state);
            let asked = ahead.get.0.load(Ordering::Relaxed);
            assert!(asked < size + 2 * seams.len() as u64 * SLACK_BYTES, "{asked} of {size}");
        }
        // Columns of a table, by turns.
        let ahead = Ahead::new(Soon::default(), Limits { requests: 2, block_bytes: BLOCK });
        let mut places: Vec<Range<u64>> = ranges().collect();
        places.iter().for_each(|range| ahead.expect(&object, range.clone(), size));
        while places.iter().any(|range| !range.is_empty()) {
            for range in places.iter_mut().filter(|range| !range.is_empty()) {
                let mut into = vec![0; (range.end - range.start).min(100_000) as usize];
                range.start += ahead.read(&object, &mut into, range.start).unwrap() as u64;
            }
        }
        let state = ahead.lock();
        assert_eq!((state.expected.len(), state.held.len()), (0, 0));
    }

    #[test]
    fn who_waits_hears_of_a_failure_and_of_a_request_that_was_given_up() {
        let ahead = Ahead::new(Held::default(), Limits { requests: 1, block_bytes: BLOCK });
        let object = object(2 * BLOCK);
        ahead.expect(&object, 0..BLOCK, 2 * BLOCK);
        let read = |at| {
            let (ahead, object) = (Arc::clone(&ahead), Arc::clone(&object));
            thread::spawn(move || ahead.read(&object, &mut [0; 10], at).unwrap_err())
        };
        let waiting = [read(5), read(6)];
        let take = || {
            loop {
                if let Some((_, answer)) = ahead.get.0.lock().unwrap().pop() {
                    return answer;
                }
            }
        };
        take().give(Err(io::Error::new(io::ErrorKind::NotFound, "gone")));
        for waiting in waiting {
            let error = waiting.join().unwrap();
            assert_eq!(
                (error.kind(), error.to_string().as_str()),
                (io::ErrorKind::NotFound, "gone")
            );
        }
        let waiting = read(BLOCK + SLACK_BYTES + 5);
        drop(take());
        assert_eq!(waiting.join().unwrap().to_string(), "a request was given up");
    }
}
