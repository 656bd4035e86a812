//! SynLZ as its description reads, one item at a time: the oracle of the kernel.

use super::{LONGEST, SLOTS, SynLzError, TAIL, check_end, length, push_length, slot};

fn word(bytes: &[u8], at: usize) -> u32 {
    // Only three bytes matter to a slot; what lies beyond the end counts as zero.
    (0..4).fold(0, |word, i| word | u32::from(*bytes.get(at + i).unwrap_or(&0)) << (8 * i))
}

/// Compresses.
///
/// # Errors
/// A text of 2 GiB and more.
pub fn compress(plain: &[u8]) -> Result<Vec<u8>, SynLzError> {
    let mut stream = Vec::new();
    push_length(plain.len(), &mut stream)?;
    let mut table: Vec<Option<(usize, u32)>> = vec![None; SLOTS];
    let (mut at, mut item, mut control) = (0, 0, 0);
    if !plain.is_empty() {
        control = stream.len();
        stream.extend_from_slice(&[0; 4]);
    }
    while at < plain.len() {
        let mut found = None;
        if at + TAIL <= plain.len() {
            let v = word(plain, at);
            if let Some((old, remembered)) = table[slot(v)].replace((at, v))
                && (remembered ^ v) & 0xff_ffff == 0
                && at - old > 2
            {
                found = Some((old, slot(v)));
            }
        }
        match found {
            None => {
                stream.push(plain[at]);
                at += 1;
            }
            Some((old, slot)) => {
                let most = LONGEST.min(plain.len() - at - 1);
                let length = (3..most).find(|&i| plain[old + i] != plain[at + i]).unwrap_or(most);
                stream[control + item / 8] |= 1 << (item % 8);
                let short = if length <= 17 { length - 2 } else { 0 };
                stream.extend_from_slice(&((slot << 4 | short) as u16).to_le_bytes());
                if short == 0 {
                    stream.push((length - 18) as u8);
                }
                at += length;
            }
        }
        item += 1;
        if item == 32 {
            item = 0;
            control = stream.len();
            stream.extend_from_slice(&[0; 4]);
        }
    }
    Ok(stream)
}

/// Decompresses; every item is checked.
///
/// # Errors
/// Whatever makes no sense in the stream, with the offset.
pub fn decompress(stream: &[u8]) -> Result<Vec<u8>, SynLzError> {
    let (length, mut at) = length(stream)?;
    let truncated = SynLzError::Truncated(stream.len());
    let mut plain = Vec::new();
    let mut table: Vec<Option<usize>> = vec![None; SLOTS];
    let mut pending = 0;
    let (mut control, mut item) = (0, 32);
    while plain.len() < length {
        if item == 32 {
            if at + 4 > stream.len() {
                return Err(truncated);
            }
            control = word(stream, at);
            (at, item) = (at + 4, 0);
        }
        if control >> item & 1 == 0 {
            plain.push(*stream.get(at).ok_or(truncated)?);
            at += 1;
            if pending + 3 <= plain.len() {
                table[slot(word(&plain, pending))] = Some(pending);
                pending += 1;
            }
        } else {
            if at + 2 > stream.len() {
                return Err(truncated);
            }
            let (code, start) = (word(stream, at) & 0xffff, at);
            at += 2;
            let count = match code & 15 {
                0 => {
                    at += 1;
                    usize::from(*stream.get(at - 1).ok_or(truncated)?) + 18
                }
                short => short as usize + 2,
            };
            let old = table[(code >> 4) as usize].ok_or(SynLzError::EmptySlot(start))?;
            let match_start = plain.len();
            if match_start + count > length {
                return Err(SynLzError::TooFar(start));
            }
            for i in 0..count {
                plain.push(plain[old + i]);
            }
            while pending <= match_start {
                table[slot(word(&plain, pending))] = Some(pending);
                pending += 1;
            }
            pending = plain.len();
        }
        item += 1;
    }
    check_end(stream, at, item == 32)?;
    Ok(plain)
}
