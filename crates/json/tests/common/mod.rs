//! Running either lexer over an input cut into chunks, and showing what it said.

use fathom_json::reference::{Machine, Plain};
use fathom_json::{Error, Event, Lexer, Limits, Mode};
use fathom_machine::level::Level;

/// The events of an input, shown one per line, and the fault that ended it.
pub(crate) type Said = (Vec<String>, Option<Error>);

fn line(name: &str, bytes: &[u8]) -> String {
    format!("{name} {}", bytes.escape_ascii())
}

pub(crate) fn plain(text: &[u8], mode: Mode, limits: Limits) -> Said {
    let mut said = Vec::new();
    let mut machine = Machine::new(mode, limits);
    let mut note = |event: Plain<'_>| {
        said.push(match event {
            Plain::StartObject => "{".into(),
            Plain::EndObject => "}".into(),
            Plain::StartArray => "[".into(),
            Plain::EndArray => "]".into(),
            Plain::Key(key) => line("key", key),
            Plain::String(text) => line("string", text),
            Plain::Number(number) => line("number", number),
            Plain::Word(word) => word.into(),
        });
    };
    let end = machine.feed(text, &mut note).and_then(|()| machine.finish(&mut note));
    (said, end.err())
}

fn shown(event: Event<'_>) -> String {
    match event {
        Event::StartObject => "{".into(),
        Event::EndObject => "}".into(),
        Event::StartArray => "[".into(),
        Event::EndArray => "]".into(),
        Event::Key(key) => line("key", key.raw()),
        Event::String(text) => line("string", text.raw()),
        Event::Number(number) => line("number", number.text()),
        Event::Bool(value) => value.to_string(),
        Event::Null => "null".into(),
    }
}

pub(crate) fn lexed<'t>(
    chunks: impl IntoIterator<Item = &'t [u8]>,
    mode: Mode,
    limits: Limits,
    level: Level,
) -> Said {
    let mut lexer = Lexer::with(mode, limits, level);
    let mut said = Vec::new();
    for chunk in chunks {
        let mut at = 0;
        loop {
            match lexer.next(chunk, &mut at) {
                Ok(Some(event)) => said.push(shown(event)),
                Ok(None) => break,
                Err(error) => return (said, Some(error)),
            }
        }
        assert_eq!(at, chunk.len(), "a chunk is used up before the next is asked for");
    }
    loop {
        match lexer.end() {
            Ok(Some(event)) => said.push(shown(event)),
            Ok(None) => return (said, None),
            Err(error) => return (said, Some(error)),
        }
    }
}
