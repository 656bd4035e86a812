//! From events to pairs: finds the array of pairs, and in it the four coordinates of each object.
//!
//! Looks at events only; the fast path over bytes is [`crate::session`]'s business. Never guesses:
//! an element that is no pair is a [`Fault`], with the offset that shows it.
//!
//! ```text
//! {"pairs":[ PAIR, … ], …}      an object; other members may be anything
//! [ PAIR, … ]                   a bare array
//! PAIR ⏎ PAIR ⏎ …              a pair per line
//! PAIR = {"x0":n, "y0":n, "x1":n, "y1":n, …}   in any order, other members ignored
//! ```

use fathom_json::Event;

use crate::error::{Error, Fault, Found, Shape};
use crate::formula::{Coordinate, MOST_DEGREES, Pair};

/// What to do with an element that is no pair. A text that is no JSON is always an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// Report it and stop.
    #[default]
    Stop,
    /// Count it and go on.
    Skip,
}

/// Where the pairs of a document are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// In the member `pairs` of the top-level object.
    Member,
    /// In the top-level array.
    Array,
    /// One after another at the top.
    Lines,
}

impl Layout {
    /// How many containers are open around an element.
    pub(crate) fn depth(self) -> usize {
        match self {
            Layout::Member => 2,
            Layout::Array => 1,
            Layout::Lines => 0,
        }
    }
}

/// Where a coordinate's number stands, relative to wherever offsets start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) at: u64,
    pub(crate) bytes: usize,
    pub(crate) coordinate: usize,
}

/// What the events of one document have come to.
#[derive(Clone, Debug)]
pub(crate) struct Collector {
    on_error: OnError,
    /// `None` while a first top-level object may still turn out to be either.
    layout: Option<Layout>,
    /// The key `pairs` was just read; its value follows.
    is_pairs_next: bool,
    is_in_pairs: bool,
    element: Element,
    /// Pairs and skipped elements so far.
    pub(crate) elements: u64,
    pub(crate) skipped: u64,
}

/// The object being read.
#[derive(Clone, Debug, Default)]
struct Element {
    is_open: bool,
    values: [f64; 4],
    /// A bit per coordinate seen.
    seen: u8,
    /// The coordinate whose value follows.
    next: Option<Coordinate>,
    fault: Option<(Fault, u64, Found)>,
    /// The members that were numbers, in the order of the text, for learning a template.
    places: [Place; 4],
    at: u64,
}

impl Collector {
    /// Before the first byte of an input.
    pub(crate) fn new(on_error: OnError) -> Collector {
        Collector {
            on_error,
            layout: None,
            is_pairs_next: false,
            is_in_pairs: false,
            element: Element::default(),
            elements: 0,
            skipped: 0,
        }
    }

    /// Among the elements of an input with this layout.
    pub(crate) fn inside(layout: Layout, on_error: OnError) -> Collector {
        let mut collector = Collector::new(on_error);
        collector.layout = Some(layout);
        collector.is_in_pairs = layout != Layout::Lines;
        collector
    }

    pub(crate) fn on_error(&self) -> OnError {
        self.on_error
    }

    /// Where the pairs are, once that is known and the next value may be one.
    pub(crate) fn layout_between(&self) -> Option<Layout> {
        let layout = self.layout?;
        let is_inside = self.is_in_pairs || layout == Layout::Lines;
        (is_inside && !self.element.is_open).then_some(layout)
    }

    /// The offset of the last object read and the places of its four numbers, if it is a pair.
    pub(crate) fn last_pair(&self) -> Option<(u64, &[Place; 4])> {
        let element = &self.element;
        (element.seen == 15 && element.fault.is_none()).then_some((element.at, &element.places))
    }

    /// Elements that another has read follow: the last one read here is not the one before what comes next.
    pub(crate) fn forget_last(&mut self) {
        self.element = Element::default();
    }

    /// Takes in an event at `offset`; `depth` containers are open after it.
    pub(crate) fn take(
        &mut self,
        event: Event<'_>,
        offset: u64,
        depth: usize,
        pairs: &mut Vec<Pair>,
    ) -> Result<(), Error> {
        // How many containers are open around the value.
        let level = match event {
            Event::StartObject | Event::StartArray => depth - 1,
            _ => depth,
        };
        match self.layout {
            None => self.top(event, offset, level, pairs),
            Some(layout) if layout == Layout::Lines || self.is_in_pairs => {
                self.among(layout, event, offset, level, pairs)
            }
            Some(Layout::Member) => self.around(event, offset, level),
            Some(_) if level == 0 && !matches!(event, Event::EndArray) => {
                Err(Error::Shape { offset, shape: Shape::SecondDocument })
            }
            Some(_) => Ok(()),
        }
    }

    /// Says that the input has ended.
    pub(crate) fn end(&self) -> Result<(), Error> {
        if self.elements == self.skipped { Err(Error::NoPairs) } else { Ok(()) }
    }

    /// In the first top-level value, which may be an object around pairs, an array of pairs, or
    /// the first pair of many.
    fn top(
        &mut self,
        event: Event<'_>,
        offset: u64,
        level: usize,
        pairs: &mut Vec<Pair>,
    ) -> Result<(), Error> {
        match event {
            Event::StartArray if level == 0 => {
                self.layout = Some(Layout::Array);
                self.is_in_pairs = true;
                Ok(())
            }
            Event::StartObject if level == 0 => {
                self.element = Element { is_open: true, at: offset, ..Element::default() };
                Ok(())
            }
            Event::EndObject if level == 0 => {
                let is_pair_like = self.element.seen != 0 || self.element.fault.is_some();
                if !is_pair_like && self.on_error == OnError::Stop {
                    return Err(Error::Shape { offset, shape: Shape::NoPairsMember });
                }
                self.layout = Some(Layout::Lines);
                self.finish(offset, pairs)
            }
            _ if level == 0 => match self.on_error {
                OnError::Stop => Err(Error::Shape { offset, shape: Shape::NoContainer }),
                // Only among lines it may stand before the others.
                OnError::Skip => {
                    self.layout = Some(Layout::Lines);
                    self.among(Layout::Lines, event, offset, level, pairs)
                }
            },
            Event::Key(key) if level == 1 && key.is("pairs") => {
                self.layout = Some(Layout::Member);
                self.element = Element::default();
                self.is_pairs_next = true;
                Ok(())
            }
            _ => {
                self.element.take(event, offset, level, 1);
                Ok(())
            }
        }
    }

    /// In the top-level object, outside the array of pairs.
    fn around(&mut self, event: Event<'_>, offset: u64, level: usize) -> Result<(), Error> {
        let shape = match event {
            Event::StartArray if self.is_pairs_next => {
                self.is_pairs_next = false;
                self.is_in_pairs = true;
                return Ok(());
            }
            _ if self.is_pairs_next => Shape::PairsNotAnArray,
            Event::Key(key) if level == 1 && key.is("pairs") => Shape::SecondPairs,
            Event::EndObject => return Ok(()),
            _ if level == 0 => Shape::SecondDocument,
            _ => return Ok(()),
        };
        Err(Error::Shape { offset, shape })
    }

    /// Among the elements.
    fn among(
        &mut self,
        layout: Layout,
        event: Event<'_>,
        offset: u64,
        level: usize,
        pairs: &mut Vec<Pair>,
    ) -> Result<(), Error> {
        let here = layout.depth();
        if level > here {
            self.element.take(event, offset, level, here + 1);
            return Ok(());
        }
        match event {
            Event::EndArray if level < here => {
                self.is_in_pairs = false;
                Ok(())
            }
            Event::StartObject => {
                self.element = Element { is_open: true, at: offset, ..Element::default() };
                Ok(())
            }
            Event::EndObject => self.finish(offset, pairs),
            // An array's elements are passed over; the fault is that of the array.
            Event::EndArray => {
                self.element.fault = Some((Fault::NotAnObject, self.element.at, Found::new(event)));
                self.finish(offset, pairs)
            }
            Event::StartArray => {
                self.element = Element { is_open: true, at: offset, ..Element::default() };
                match self.on_error {
                    OnError::Skip => Ok(()),
                    OnError::Stop => Err(self.fault(Fault::NotAnObject, offset, Found::new(event))),
                }
            }
            _ => {
                self.element.fault = Some((Fault::NotAnObject, offset, Found::new(event)));
                self.finish(offset, pairs)
            }
        }
    }

    fn fault(&self, fault: Fault, offset: u64, found: Found) -> Error {
        Error::Pair { index: self.elements, offset, fault, found }
    }

    /// The element ends at `offset`.
    fn finish(&mut self, offset: u64, pairs: &mut Vec<Pair>) -> Result<(), Error> {
        self.element.is_open = false;
        let missing = Coordinate::ALL.into_iter().find(|&c| self.element.seen >> c as u8 & 1 == 0);
        let missing =
            missing.map(|coordinate| (Fault::Missing(coordinate), offset, Found::default()));
        // It keeps its fault: no template is learned from it.
        match (self.element.fault.clone().or(missing), self.on_error) {
            (None, _) => pairs.push(Pair::new(self.element.values)),
            (Some((fault, at, found)), OnError::Stop) => return Err(self.fault(fault, at, found)),
            (Some(_), OnError::Skip) => self.skipped += 1,
        }
        self.elements += 1;
        Ok(())
    }
}

impl Element {
    /// An event inside the object, whose members are at level `members`.
    fn take(&mut self, event: Event<'_>, offset: u64, level: usize, members: usize) {
        if level > members {
            return;
        }
        if let Event::Key(key) = event {
            self.next = Coordinate::ALL.into_iter().find(|c| key.is(c.name()));
            if let Some(coordinate) = self.next
                && self.seen >> coordinate as u8 & 1 == 1
            {
                self.note(Fault::Duplicate(coordinate), offset, Found::default());
            }
            return;
        }
        let Some(coordinate) = self.next.take() else { return };
        let Event::Number(number) = event else {
            return self.note(Fault::NotANumber(coordinate), offset, Found::new(event));
        };
        let Some(value) = number.to_f64().ok().filter(|value| value.abs() <= MOST_DEGREES) else {
            return self.note(Fault::OutOfRange(coordinate), offset, Found::new(event));
        };
        let index = coordinate as usize;
        let place = Place { at: offset, bytes: number.text().len(), coordinate: index };
        // A fifth number is a duplicate, and already noted.
        if let Some(slot) = self.places.get_mut(self.seen.count_ones() as usize) {
            *slot = place;
        }
        self.values[index] = value;
        self.seen |= 1 << index;
    }

    /// The first fault counts.
    fn note(&mut self, fault: Fault, offset: u64, found: Found) {
        self.fault.get_or_insert((fault, offset, found));
    }
}
