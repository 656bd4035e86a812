//! As much of [FlatBuffers](https://flatbuffers.dev/internals/) as Arrow's messages need: tables of
//! scalars and references, vectors, strings.
//!
//! Written front to back: a table comes before what it refers to, whose places are filled in later.
//! Reading trusts nothing: what points outside of the bytes is not there.

/// A field of a table.
#[derive(Clone, Copy, Debug)]
pub(super) enum Slot {
    /// Not there: its default.
    Skip,
    Byte(u8),
    Short(i16),
    Int(i32),
    Long(i64),
    /// A reference, filled in later by [`Builder::point`].
    Refer,
}

/// A place that is to refer to something.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reference(usize);

/// Bytes in the making; the reference to the root comes first.
#[derive(Debug)]
pub(super) struct Builder {
    bytes: Vec<u8>,
}

impl Builder {
    /// With the reference to the root table.
    pub(super) fn new() -> (Builder, Reference) {
        (Builder { bytes: vec![0; 4] }, Reference(0))
    }

    fn align(&mut self, to: usize) {
        let end = self.bytes.len().next_multiple_of(to);
        self.bytes.resize(end, 0);
    }

    /// Makes a reference point to what is written next.
    fn point(&mut self, Reference(from): Reference) {
        let distance = (self.bytes.len() - from) as u32;
        self.bytes[from..from + 4].copy_from_slice(&distance.to_le_bytes());
    }

    /// A table that `from` refers to; returns its own references, in order.
    pub(super) fn table(&mut self, from: Reference, slots: &[Slot]) -> Vec<Reference> {
        // The list of places comes first: its size, that of the table, and where each field is.
        let mut places = Vec::with_capacity(slots.len());
        let mut size = 4_usize;
        for slot in slots {
            let bytes = match slot {
                Slot::Skip => 0,
                Slot::Byte(_) => 1,
                Slot::Short(_) => 2,
                Slot::Int(_) | Slot::Refer => 4,
                Slot::Long(_) => 8,
            };
            size = size.next_multiple_of(bytes.max(1));
            places.push(if bytes == 0 { 0 } else { size as u16 });
            size += bytes;
        }
        self.align(2);
        let list = self.bytes.len();
        let of_list = [4 + 2 * slots.len() as u16, size as u16];
        for value in of_list.iter().chain(&places) {
            self.bytes.extend(value.to_le_bytes());
        }
        self.align(8);
        self.point(from);
        let start = self.bytes.len();
        self.bytes.extend(((start - list) as i32).to_le_bytes());
        self.bytes.resize(start + size, 0);
        let mut references = Vec::new();
        for (slot, place) in slots.iter().zip(places) {
            let at = start + usize::from(place);
            match *slot {
                Slot::Skip => {}
                Slot::Byte(value) => self.bytes[at] = value,
                Slot::Short(value) => self.bytes[at..at + 2].copy_from_slice(&value.to_le_bytes()),
                Slot::Int(value) => self.bytes[at..at + 4].copy_from_slice(&value.to_le_bytes()),
                Slot::Long(value) => self.bytes[at..at + 8].copy_from_slice(&value.to_le_bytes()),
                Slot::Refer => references.push(Reference(at)),
            }
        }
        references
    }

    /// A string that `from` refers to.
    pub(super) fn string(&mut self, from: Reference, text: &str) {
        self.align(4);
        self.point(from);
        self.bytes.extend((text.len() as u32).to_le_bytes());
        self.bytes.extend(text.as_bytes());
        self.bytes.push(0);
    }

    /// A vector of `len` references that `from` refers to.
    pub(super) fn references(&mut self, from: Reference, len: usize) -> Vec<Reference> {
        self.align(4);
        self.point(from);
        self.bytes.extend((len as u32).to_le_bytes());
        let start = self.bytes.len();
        self.bytes.resize(start + 4 * len, 0);
        (0..len).map(|at| Reference(start + 4 * at)).collect()
    }

    /// A vector of structures of two 64-bit integers.
    pub(super) fn pairs(&mut self, from: Reference, pairs: &[[i64; 2]]) {
        self.align(8);
        self.bytes.extend([0; 4]);
        self.point(from);
        self.bytes.extend((pairs.len() as u32).to_le_bytes());
        self.bytes.extend(pairs.as_flattened().iter().flat_map(|value| value.to_le_bytes()));
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        self.align(8);
        self.bytes
    }
}

/// A table in bytes of which nothing is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table<'a> {
    bytes: &'a [u8],
    at: usize,
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

/// Where the reference at this place leads.
fn followed(bytes: &[u8], at: usize) -> Option<usize> {
    at.checked_add(u32::from_le_bytes(number(bytes, at)?) as usize)
}

impl<'a> Table<'a> {
    pub(super) fn root(bytes: &'a [u8]) -> Option<Table<'a>> {
        Some(Table { bytes, at: followed(bytes, 0)? })
    }

    fn slot(&self, field: usize) -> Option<usize> {
        let back = i32::from_le_bytes(number(self.bytes, self.at)?);
        let list = usize::try_from(i64::try_from(self.at).ok()? - i64::from(back)).ok()?;
        let list_bytes = usize::from(u16::from_le_bytes(number(self.bytes, list)?));
        let place = 4 + 2 * field;
        if place + 2 > list_bytes {
            return None;
        }
        match u16::from_le_bytes(number(self.bytes, list + place)?) {
            0 => None,
            place => Some(self.at + usize::from(place)),
        }
    }

    pub(super) fn byte(&self, field: usize) -> Option<u8> {
        self.bytes.get(self.slot(field)?).copied()
    }

    pub(super) fn long(&self, field: usize) -> Option<i64> {
        Some(i64::from_le_bytes(number(self.bytes, self.slot(field)?)?))
    }

    pub(super) fn table(&self, field: usize) -> Option<Table<'a>> {
        Some(Table { bytes: self.bytes, at: followed(self.bytes, self.slot(field)?)? })
    }

    /// Where a vector's elements start, and how many there are.
    fn vector(&self, field: usize) -> Option<(usize, usize)> {
        let at = followed(self.bytes, self.slot(field)?)?;
        Some((at.checked_add(4)?, u32::from_le_bytes(number(self.bytes, at)?) as usize))
    }

    pub(super) fn string(&self, field: usize) -> Option<&'a [u8]> {
        let (at, len) = self.vector(field)?;
        self.bytes.get(at..)?.get(..len)
    }

    pub(super) fn tables(&self, field: usize) -> Option<Vec<Table<'a>>> {
        let (at, len) = self.vector(field)?;
        let references = self.bytes.get(at..)?.get(..len.checked_mul(4)?)?;
        let places = (0..references.len() / 4).map(|i| followed(self.bytes, at + 4 * i));
        places.map(|place| Some(Table { bytes: self.bytes, at: place? })).collect()
    }

    /// A vector of structures of two 64-bit integers.
    pub(super) fn pairs(&self, field: usize) -> Option<Vec<[i64; 2]>> {
        let (at, len) = self.vector(field)?;
        let bytes = self.bytes.get(at..)?.get(..len.checked_mul(16)?)?;
        let (numbers, _) = bytes.as_chunks::<8>();
        let (pairs, _) = numbers.as_chunks::<2>();
        Some(pairs.iter().map(|pair| pair.map(i64::from_le_bytes)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table with one of each.
    fn sample() -> Vec<u8> {
        let (mut builder, root) = Builder::new();
        let slots =
            [Slot::Byte(7), Slot::Skip, Slot::Long(-5), Slot::Refer, Slot::Refer, Slot::Refer];
        let references = builder.table(root, &slots);
        builder.string(references[0], "abc");
        let tables = builder.references(references[1], 2);
        for (at, table) in tables.into_iter().enumerate() {
            builder.table(table, &[Slot::Short(1), Slot::Int(2), Slot::Long(at as i64)]);
        }
        builder.pairs(references[2], &[[1, 2], [3, -4]]);
        builder.finish()
    }

    fn read(bytes: &[u8]) -> Option<Vec<i64>> {
        let root = Table::root(bytes)?;
        let mut all = vec![root.byte(0)?.into(), root.long(2)?, root.string(3)?.len() as i64];
        for table in root.tables(4)? {
            all.push(table.long(2)?);
        }
        all.extend(root.pairs(5)?.as_flattened());
        Some(all)
    }

    #[test]
    fn what_was_written_is_read() {
        let bytes = sample();
        assert_eq!(read(&bytes), Some(vec![7, -5, 3, 0, 1, 1, 2, 3, -4]));
        let root = Table::root(&bytes).unwrap();
        assert_eq!((root.long(1), root.long(6), root.string(3)), (None, None, Some(&b"abc"[..])));
    }

    #[test]
    fn damage_is_read_as_something_else_or_nothing_and_never_outside() {
        let bytes = sample();
        for at in 0..bytes.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] = value;
                let _ = read(&damaged);
            }
            let _ = read(&bytes[..at]);
        }
    }
}
