//! The events of a JSON text. They borrow: from the chunk where they lie in one piece, otherwise
//! from the lexer's carry buffer.

use crate::number::Number;
use crate::string::Text;

/// One step through a document, in document order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a> {
    /// `{`
    StartObject,
    /// `}`
    EndObject,
    /// `[`
    StartArray,
    /// `]`
    EndArray,
    /// The key of the member whose value follows.
    Key(Text<'a>),
    /// A string value.
    String(Text<'a>),
    /// A number, not yet converted.
    Number(Number<'a>),
    /// `true` or `false`
    Bool(bool),
    /// `null`
    Null,
}
