//! A document as values in memory, built from events, and the digest that every library's document has.
//!
//! Members keep their order and their repetitions; numbers without fraction and exponent are integers.
//! In the digest they do not: libraries differ there, and none of them is wrong.

use std::collections::{HashMap, HashSet};
use std::mem;
use std::rc::Rc;

use fathom_json::{Error, Event, Lexer, Mode, Text};
use fathom_machine::level::Level;
use fathom_measure::digest::Digest;

/// A value; `N` is how names are stored.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // the kinds of JSON
pub enum Value<N> {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Box<str>),
    Array(Vec<Value<N>>),
    Object(Vec<(N, Value<N>)>),
}

/// Names, each stored once.
#[derive(Debug, Default)]
pub struct Pool(HashSet<Rc<str>>);

impl Pool {
    /// The stored name.
    pub fn name(&mut self, name: &str) -> Rc<str> {
        if let Some(found) = self.0.get(name) {
            return Rc::clone(found);
        }
        let new: Rc<str> = name.into();
        self.0.insert(Rc::clone(&new));
        new
    }
}

/// Puts events together.
pub(super) struct Builder<N, F> {
    name: F,
    /// Containers that are still open, outermost first; the name is that of the member to come.
    open: Vec<(Value<N>, Option<N>)>,
    done: Option<Value<N>>,
}

impl<N, F: FnMut(&str) -> N> Builder<N, F> {
    /// A builder whose names are made by `name`.
    pub(super) fn new(name: F) -> Builder<N, F> {
        Builder { name, open: Vec::new(), done: None }
    }

    /// Opens `container`, an empty array or object.
    pub(super) fn start(&mut self, container: Value<N>) {
        self.open.push((container, None));
    }

    /// The name of the member to come.
    pub(super) fn key(&mut self, name: &str) {
        let name = (self.name)(name);
        if let Some((_, next)) = self.open.last_mut() {
            *next = Some(name);
        }
    }

    /// Closes the innermost container.
    pub(super) fn end(&mut self) {
        if let Some((value, _)) = self.open.pop() {
            self.put(value);
        }
    }

    /// A value at its place.
    pub(super) fn put(&mut self, value: Value<N>) {
        match self.open.last_mut() {
            None => self.done = Some(value),
            Some((Value::Object(members), name)) => {
                members.extend(name.take().map(|name| (name, value)));
            }
            Some((Value::Array(items), _)) => items.push(value),
            Some(_) => {}
        }
    }

    /// The document.
    pub(super) fn finish(self) -> Value<N> {
        self.done.unwrap_or(Value::Null)
    }
}

/// The document of `text`. With `guesses`, the items of the outer two levels are counted first, so that
/// arrays are allocated once, and an object gets as much room as the one before it took.
///
/// # Errors
/// Where the text is no JSON, or has half a surrogate pair.
pub fn read<N>(
    level: Level,
    text: &[u8],
    guesses: bool,
    name: impl FnMut(&str) -> N,
) -> Result<Value<N>, Error> {
    let mut builder = Builder::new(name);
    let mut lexer = Lexer::with(Mode::Document, fathom_json::Limits::default(), level);
    let (mut at, mut members) = (0, 0);
    while let Some(event) = lexer.next(text, &mut at)? {
        step(&mut builder, event, |open| match open {
            _ if !guesses => 0,
            b'[' => crate::text::members(level, &text[at - 1..], open) as usize,
            _ => members,
        });
        if matches!(event, Event::EndObject)
            && let Some((Value::Array(items), _)) = builder.open.last()
            && let Some(Value::Object(last)) = items.last()
        {
            members = last.len();
        }
    }
    while let Some(event) = lexer.end()? {
        step(&mut builder, event, |_| 0);
    }
    Ok(builder.finish())
}

fn step<N>(
    builder: &mut Builder<N, impl FnMut(&str) -> N>,
    event: Event<'_>,
    guess: impl Fn(u8) -> usize,
) {
    match event {
        Event::StartObject => builder.start(Value::Object(Vec::with_capacity(guess(b'{')))),
        Event::StartArray if builder.open.len() < 2 => {
            builder.start(Value::Array(Vec::with_capacity(guess(b'['))));
        }
        Event::StartArray => builder.start(Value::Array(Vec::new())),
        Event::EndObject | Event::EndArray => builder.end(),
        Event::Key(text) => builder.key(&decoded(&text)),
        Event::String(text) => builder.put(Value::Text(decoded(&text).into())),
        Event::Number(number) => builder.put(match number.to_i64() {
            Some(whole) => Value::Int(whole),
            None => number.to_f64().map_or(Value::Null, Value::Float),
        }),
        Event::Bool(value) => builder.put(Value::Bool(value)),
        Event::Null => builder.put(Value::Null),
    }
}

/// The characters of a string; half a surrogate pair, which is none, becomes U+FFFD.
pub(super) fn decoded<'a>(text: &Text<'a>) -> std::borrow::Cow<'a, str> {
    text.decode().unwrap_or("\u{fffd}".into())
}

impl<N: AsRef<str>> Value<N> {
    /// The digest that the same document has in any library.
    #[must_use]
    pub fn digest(&self) -> Digest {
        match self {
            Value::Null => null(),
            Value::Bool(value) => bool(*value),
            Value::Int(value) => int(*value),
            Value::Float(value) => float(*value),
            Value::Text(value) => text(value),
            Value::Array(items) => array(items.iter().map(Value::digest)),
            Value::Object(members) => {
                object(members.iter().map(|(name, value)| (name.as_ref(), value.digest())))
            }
        }
    }
}

/// The digest of `null`.
pub(super) fn null() -> Digest {
    Digest::of_bytes(b"n")
}

/// The digest of a truth value.
pub(super) fn bool(value: bool) -> Digest {
    Digest::of_bytes(b"b").with_u64(value.into())
}

/// The digest of an integer.
pub(super) fn int(value: i64) -> Digest {
    Digest::of_bytes(b"i").with_u64(value as u64)
}

/// The digest of an integer without a sign: beyond 63 bits that of the nearest double.
#[cfg(feature = "cpu")]
pub(super) fn unsigned(value: u64) -> Digest {
    i64::try_from(value).map_or_else(|_| float(value as f64), int)
}

/// The digest of a double; of a zero that of the integer: `-0` is either, with a sign and without.
pub(super) fn float(value: f64) -> Digest {
    if value == 0.0 {
        return int(0);
    }
    Digest::of_bytes(b"f").with_u64(value.to_bits())
}

/// The digest of a string.
pub(super) fn text(value: &str) -> Digest {
    Digest::of_bytes(b"t").with_bytes(value.as_bytes())
}

/// The digest of an array.
pub(super) fn array(items: impl Iterator<Item = Digest>) -> Digest {
    items.fold(Digest::of_bytes(b"a"), |digest, item| digest.with_u64(item.0))
}

/// The digest of an object, whose members have no order. Of one name the last counts: maps keep no other.
pub(super) fn object<'n>(members: impl Iterator<Item = (&'n str, Digest)>) -> Digest {
    let last: HashMap<&str, Digest> = members.collect();
    let member = |(name, value): (&str, Digest)| text(name).with_u64(value.0);
    Digest::of_bytes(b"o").with_u64(Digest::unordered(last.into_iter().map(member)).0)
}

/// The items of an array, or none.
pub(super) fn items<N>(value: &mut Value<N>) -> Vec<Value<N>> {
    match value {
        Value::Array(items) => mem::take(items),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guessing_and_pooling_change_nothing_but_the_memory() {
        let text = br#"[{"a":[1,2.5,-0],"b":null},{"a":"\u00e9\n","b":{"a":true}},[],{}]"#;
        let plain = read(Level::Scalar, text, false, |name| Box::<str>::from(name)).unwrap();
        let mut pool = Pool::default();
        let pooled = read(Level::Scalar, text, true, |name| pool.name(name)).unwrap();
        assert_eq!(plain.digest(), pooled.digest());
        assert_eq!(pool.0.len(), 2);
        let Value::Array(items) = &plain else { panic!("{plain:?}") };
        let Value::Array(empty) = &items[2] else { panic!("{plain:?}") };
        assert_eq!((items.len(), empty.len()), (4, 0));
    }

    #[test]
    fn what_is_no_json_is_refused_with_its_place() {
        let error =
            read(Level::Scalar, b"[1,,2]", true, |name| Box::<str>::from(name)).unwrap_err();
        assert_eq!(error.offset, 3);
        assert!(read(Level::Scalar, b"[1", false, |name| Box::<str>::from(name)).is_err());
    }
}
