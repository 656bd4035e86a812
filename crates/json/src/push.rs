//! Push: chunks in, callbacks out, as SAX parsers have it.
//!
//! Adds nothing to the lexer but the loop over a chunk.

use std::ops::ControlFlow;

use crate::error::Error;
use crate::event::Event;
use crate::lexer::{Lexer, Mode};
use crate::number::Number;
use crate::string::Text;

/// Whether to go on after a callback.
pub type Flow = ControlFlow<()>;

/// What is called for each event; every callback has an empty default.
#[allow(unused_variables)]
pub trait Handler {
    /// `{`
    fn on_start_object(&mut self) -> Flow {
        Flow::Continue(())
    }
    /// `}`
    fn on_end_object(&mut self) -> Flow {
        Flow::Continue(())
    }
    /// `[`
    fn on_start_array(&mut self) -> Flow {
        Flow::Continue(())
    }
    /// `]`
    fn on_end_array(&mut self) -> Flow {
        Flow::Continue(())
    }
    /// A key; its value follows.
    fn on_key(&mut self, key: Text<'_>) -> Flow {
        Flow::Continue(())
    }
    /// A string value.
    fn on_string(&mut self, text: Text<'_>) -> Flow {
        Flow::Continue(())
    }
    /// A number.
    fn on_number(&mut self, number: Number<'_>) -> Flow {
        Flow::Continue(())
    }
    /// `true` or `false`
    fn on_bool(&mut self, value: bool) -> Flow {
        Flow::Continue(())
    }
    /// `null`
    fn on_null(&mut self) -> Flow {
        Flow::Continue(())
    }
    /// The text is not JSON; no callback follows.
    fn on_error(&mut self, error: Error) {}
}

/// A handler fed with chunks.
///
/// ```
/// use fathom_json::{Flow, Handler, Number, Parser};
///
/// #[derive(Default)]
/// struct Sum(f64);
/// impl Handler for Sum {
///     fn on_number(&mut self, number: Number<'_>) -> Flow {
///         self.0 += number.to_f64().unwrap();
///         Flow::Continue(())
///     }
/// }
/// let mut parser = Parser::new(Sum::default());
/// for chunk in ["[1.", "5, 2", "5e-1", "]"] {
///     parser.feed(chunk.as_bytes())?;
/// }
/// parser.finish()?;
/// assert_eq!(parser.handler.0, 4.0);
/// # Ok::<(), fathom_json::Error>(())
/// ```
#[derive(Debug)]
pub struct Parser<H> {
    /// Who is called.
    pub handler: H,
    lexer: Lexer,
}

impl<H: Handler> Parser<H> {
    /// A parser of one document with the default limits.
    pub fn new(handler: H) -> Self {
        Parser::with(handler, Lexer::new(Mode::Document))
    }

    /// A parser with a lexer of the caller's choice.
    pub fn with(handler: H, lexer: Lexer) -> Self {
        Parser { handler, lexer }
    }

    /// Takes in the next chunk. Breaks off, the rest of the chunk unread, when a callback says so.
    ///
    /// # Errors
    /// What is wrong with the text; [`Handler::on_error`] has been told.
    pub fn feed(&mut self, chunk: &[u8]) -> Result<Flow, Error> {
        let mut at = 0;
        loop {
            match self.lexer.next(chunk, &mut at) {
                Ok(None) => return Ok(Flow::Continue(())),
                Ok(Some(event)) => {
                    if dispatch(&mut self.handler, event).is_break() {
                        return Ok(Flow::Break(()));
                    }
                }
                Err(error) => {
                    self.handler.on_error(error);
                    return Err(error);
                }
            }
        }
    }

    /// Says that no chunk follows.
    ///
    /// # Errors
    /// The document is not complete; [`Handler::on_error`] has been told.
    pub fn finish(&mut self) -> Result<(), Error> {
        loop {
            match self.lexer.end() {
                Ok(None) => return Ok(()),
                Ok(Some(event)) => {
                    if dispatch(&mut self.handler, event).is_break() {
                        return Ok(());
                    }
                }
                Err(error) => {
                    self.handler.on_error(error);
                    return Err(error);
                }
            }
        }
    }
}

/// Calls the callback of one event.
pub(crate) fn dispatch(handler: &mut impl Handler, event: Event<'_>) -> Flow {
    match event {
        Event::StartObject => handler.on_start_object(),
        Event::EndObject => handler.on_end_object(),
        Event::StartArray => handler.on_start_array(),
        Event::EndArray => handler.on_end_array(),
        Event::Key(key) => handler.on_key(key),
        Event::String(text) => handler.on_string(text),
        Event::Number(number) => handler.on_number(number),
        Event::Bool(value) => handler.on_bool(value),
        Event::Null => handler.on_null(),
    }
}
