//! From text to a tree: the grammar of conditions. What kinds of things stand where is not looked at.
//!
//! ```text
//! any     = all { "||" all }
//! all     = not { "&&" not }
//! not     = "!" not | test
//! test    = sum [ ("==" | "!=" | "<" | "<=" | ">" | ">=") sum
//!               | "=~" text
//!               | ["not"] "in" "(" sum { "," sum } ")"
//!               | "is" ["not"] "null" ]
//! sum     = product { ("+" | "-") product }
//! product = factor { ("*" | "/") factor }
//! factor  = "-" factor | number | text | column | "text" "(" column ")" | "(" any ")"
//!         | "round" "(" sum "," digits ")"
//! column  = name | "`" … "`" | "$" digits
//! text    = '"' … '"'          in which \" and \\ are a quote and a backslash, and every other \ is one
//! name    = a letter or "_", then letters, digits, "_" and ".", but none of in, is, not and null
//! number  = digits [ "." [ digits ] ] [ "e" [ "+" | "-" ] digits ] | "." digits …
//! ```

use std::ops::Range;

use winnow::ascii::{digit0, digit1, multispace0};
use winnow::combinator::{alt, cut_err, eof, not as never, opt, preceded, terminated};
use winnow::error::{ContextError, ErrMode, StrContext, StrContextValue};
use winnow::stream::{LocatingSlice, Location, Stateful};
use winnow::token::{literal, one_of, take_till, take_while};
use winnow::{ModalResult, Parser};

use super::error::Wrong;
use crate::number::Decimal;
use crate::selector::Selector;

/// Parentheses, signs and exclamation marks within each other, and signs of one sum or product: what is computed is a
/// tree, which is as deep.
const MOST_DEPTH: u32 = 100;

/// Decimals that a number is rounded to.
const MOST_DECIMALS: u16 = 18;

/// A text, and how deep inside it the parser is.
type Input<'a> = Stateful<LocatingSlice<&'a str>, u32>;

/// A part of a condition, and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) what: What,
    pub(super) span: Range<usize>,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    Number(Decimal),
    Text(String),
    Column(Selector),
    /// The text of a column.
    TextOf(Box<Node>),
    Negative(Box<Node>),
    Arithmetic(Arithmetic, Box<Node>, Box<Node>),
    Round(Box<Node>, u16),
    Compare(Comparison, Box<Node>, Box<Node>),
    Match(Box<Node>, Box<Node>),
    In(Box<Node>, Vec<Node>),
    IsNull(Box<Node>),
    Not(Box<Node>),
    All(Vec<Node>),
    Any(Vec<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Plus,
    Minus,
    Times,
    Over,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
}

/// Reads a whole text as one condition.
pub(super) fn parse(text: &str) -> Result<Node, Wrong> {
    whole(text, any, "an operator, && or || or the end")
}

/// Reads a whole text as one sum.
pub(super) fn parse_sum(text: &str) -> Result<Node, Wrong> {
    whole(text, sum, "an operator or the end")
}

fn whole(
    text: &str,
    part: fn(&mut Input<'_>) -> ModalResult<Node>,
    end: &'static str,
) -> Result<Node, Wrong> {
    let input = Stateful { input: LocatingSlice::new(text), state: 0 };
    terminated(part, (multispace0, eof.context(expected(end)))).parse(input).map_err(|error| {
        let blanks = |at: usize| text[at..].len() - text[at..].trim_start().len();
        let at = error.offset() + blanks(error.offset());
        let words = error.inner().context().find_map(|context| match context {
            StrContext::Expected(StrContextValue::Description(words)) => Some(*words),
            _ => None,
        });
        let message = match (text[at..].chars().next(), words) {
            (Some('='), _) if !text[at..].starts_with("==") => {
                "a comparison is written ==".to_owned()
            }
            (Some('&' | '|'), _) => "\"and\" is written &&, and \"or\" ||".to_owned(),
            (Some('`'), _) if text[at..].starts_with("``") => "a column has a name".to_owned(),
            (Some(quote @ ('"' | '`')), _) if !is_closed(&text[at + 1..], quote) => {
                "the quote is never closed".to_owned()
            }
            (Some(c), Some(words)) if words.starts_with("a column") && is_of_name(c) => {
                let name = text[at..].split(|c: char| !is_of_name(c)).next().unwrap_or_default();
                format!("expected {words}: `{name}` in backticks is a column")
            }
            (_, words) => format!("expected {}", words.unwrap_or("a condition")),
        };
        let bytes = text[at..].chars().next().map_or(0, char::len_utf8);
        Wrong { span: at..at + bytes, message }
    })
}

/// Whether a quote ends somewhere in what is behind its beginning.
fn is_closed(behind: &str, quote: char) -> bool {
    let mut escaped = false;
    behind.chars().any(|c| {
        let ends = c == quote && !escaped;
        escaped = c == '\\' && !escaped && quote == '"';
        ends
    })
}

fn expected(words: &'static str) -> StrContext {
    StrContext::Expected(StrContextValue::Description(words))
}

fn any(input: &mut Input<'_>) -> ModalResult<Node> {
    list(input, all, "||", What::Any)
}

fn all(input: &mut Input<'_>) -> ModalResult<Node> {
    list(input, not, "&&", What::All)
}

fn list(
    input: &mut Input<'_>,
    part: fn(&mut Input<'_>) -> ModalResult<Node>,
    between: &'static str,
    join: fn(Vec<Node>) -> What,
) -> ModalResult<Node> {
    let first = part(input)?;
    if opt(symbol(between)).parse_next(input)?.is_none() {
        return Ok(first);
    }
    let start = first.span.start;
    let mut parts = vec![first, cut_err(part).parse_next(input)?];
    while opt(symbol(between)).parse_next(input)?.is_some() {
        parts.push(cut_err(part).parse_next(input)?);
    }
    let end = parts[parts.len() - 1].span.end;
    Ok(Node { what: join(parts), span: start..end })
}

fn symbol<'a>(sign: &'static str) -> impl Parser<Input<'a>, (), ErrMode<ContextError>> {
    preceded(multispace0, literal(sign)).void()
}

fn keyword<'a>(word: &'static str) -> impl Parser<Input<'a>, (), ErrMode<ContextError>> {
    preceded(multispace0, terminated(literal(word), never(one_of(is_of_name)))).void()
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

/// What stands one level deeper.
fn deeper(
    input: &mut Input<'_>,
    part: fn(&mut Input<'_>) -> ModalResult<Node>,
) -> ModalResult<Node> {
    if input.state == MOST_DEPTH {
        let mut error = ContextError::new();
        error.push(expected("at most 100 signs in a row or within each other"));
        return Err(ErrMode::Cut(error));
    }
    input.state += 1;
    let node = cut_err(part).parse_next(input)?;
    input.state -= 1;
    Ok(node)
}

/// Where the next thing starts.
fn start(input: &mut Input<'_>) -> ModalResult<usize> {
    multispace0.parse_next(input)?;
    Ok(input.current_token_start())
}

fn not(input: &mut Input<'_>) -> ModalResult<Node> {
    let from = start(input)?;
    if opt(literal("!")).parse_next(input)?.is_none() {
        return test(input);
    }
    let inner = deeper(input, not)?;
    let span = from..inner.span.end;
    Ok(Node { what: What::Not(Box::new(inner)), span })
}

fn test(input: &mut Input<'_>) -> ModalResult<Node> {
    let left = sum(input)?;
    let from = left.span.start;
    let is_null = opt((keyword("is"), opt(keyword("not")), cut_err(keyword("null"))));
    let is_null = is_null.context(expected("null"));
    let mut is_in = opt((opt(keyword("not")), keyword("in")));
    let (what, is_not) = if let Some((_, is_not, ())) = { is_null }.parse_next(input)? {
        (What::IsNull(Box::new(left)), is_not.is_some())
    } else if let Some((is_not, ())) = is_in.parse_next(input)? {
        (What::In(Box::new(left), members(input)?), is_not.is_some())
    } else if opt(symbol("=~")).parse_next(input)?.is_some() {
        (What::Match(Box::new(left), Box::new(cut_err(factor).parse_next(input)?)), false)
    } else if let Some(comparison) = opt(comparison).parse_next(input)? {
        let right = cut_err(sum).parse_next(input)?;
        (What::Compare(comparison, Box::new(left), Box::new(right)), false)
    } else {
        return Ok(left);
    };
    let span = from..input.previous_token_end();
    let node = Node { what, span: span.clone() };
    Ok(if is_not { Node { what: What::Not(Box::new(node)), span } } else { node })
}

fn members(input: &mut Input<'_>) -> ModalResult<Vec<Node>> {
    cut_err(symbol("(")).context(expected("a list in parentheses")).parse_next(input)?;
    let mut members = vec![cut_err(sum).parse_next(input)?];
    while opt(symbol(",")).parse_next(input)?.is_some() {
        members.push(cut_err(sum).parse_next(input)?);
    }
    cut_err(symbol(")")).context(expected("a comma or a parenthesis")).parse_next(input)?;
    Ok(members)
}

fn comparison(input: &mut Input<'_>) -> ModalResult<Comparison> {
    let sign = alt((
        literal("==").value(Comparison::Equal),
        literal("!=").value(Comparison::Unequal),
        literal("<=").value(Comparison::AtMost),
        literal(">=").value(Comparison::AtLeast),
        literal("<").value(Comparison::Less),
        literal(">").value(Comparison::More),
    ));
    preceded(multispace0, sign).parse_next(input)
}

fn sum(input: &mut Input<'_>) -> ModalResult<Node> {
    let signs = [("+", Arithmetic::Plus), ("-", Arithmetic::Minus)];
    chain(input, product, signs)
}

fn product(input: &mut Input<'_>) -> ModalResult<Node> {
    let signs = [("*", Arithmetic::Times), ("/", Arithmetic::Over)];
    chain(input, factor, signs)
}

fn chain(
    input: &mut Input<'_>,
    part: fn(&mut Input<'_>) -> ModalResult<Node>,
    [one, two]: [(&'static str, Arithmetic); 2],
) -> ModalResult<Node> {
    let mut left = part(input)?;
    let depth = input.state;
    let mut sign = opt(alt((symbol(one.0).value(one.1), symbol(two.0).value(two.1))));
    while let Some(sign) = sign.parse_next(input)? {
        // A tree leans to the left: it is as deep as the chain is long.
        let right = deeper(input, part)?;
        input.state += 1;
        let span = left.span.start..right.span.end;
        left = Node { what: What::Arithmetic(sign, Box::new(left), Box::new(right)), span };
    }
    input.state = depth;
    Ok(left)
}

fn factor(input: &mut Input<'_>) -> ModalResult<Node> {
    let from = start(input)?;
    let what = if opt(literal("-")).parse_next(input)?.is_some() {
        What::Negative(Box::new(deeper(input, factor)?))
    } else if opt(literal("(")).parse_next(input)?.is_some() {
        let inner = deeper(input, any)?;
        cut_err(symbol(")")).context(expected("a closing parenthesis")).parse_next(input)?;
        inner.what
    } else if opt((literal("text"), symbol("("))).parse_next(input)?.is_some() {
        let inside = start(input)?;
        let what = cut_err(column).context(expected("a column")).parse_next(input)?;
        let span = inside..input.previous_token_end();
        cut_err(symbol(")")).context(expected("a closing parenthesis")).parse_next(input)?;
        What::TextOf(Box::new(Node { what, span }))
    } else if opt((literal("round"), symbol("("))).parse_next(input)?.is_some() {
        let inner = deeper(input, sum)?;
        let decimals = preceded(multispace0, digit1)
            .verify_map(|digits: &str| digits.parse().ok().filter(|&n| n <= MOST_DECIMALS));
        let decimals = preceded(symbol(","), decimals);
        let decimals = cut_err(decimals)
            .context(expected("a comma and a number of decimals, at most 18"))
            .parse_next(input)?;
        cut_err(symbol(")")).context(expected("a closing parenthesis")).parse_next(input)?;
        What::Round(Box::new(inner), decimals)
    } else {
        let parts = (number, text, column);
        alt(parts).context(expected("a column, a number or a text")).parse_next(input)?
    };
    Ok(Node { what, span: from..input.previous_token_end() })
}

fn number(input: &mut Input<'_>) -> ModalResult<What> {
    let exponent = || opt((one_of(['e', 'E']), opt(one_of(['+', '-'])), digit1));
    let digits = alt((
        (digit1, opt((literal("."), digit0)), exponent()).take(),
        (literal("."), digit1, exponent()).take(),
    ));
    let digits = terminated(digits, never(one_of(is_of_name)));
    digits
        .verify_map(|digits: &str| Decimal::parse(digits.as_bytes()).ok())
        .map(What::Number)
        .parse_next(input)
}

fn text(input: &mut Input<'_>) -> ModalResult<What> {
    literal("\"").parse_next(input)?;
    let mut content = String::new();
    loop {
        content.push_str(take_till(0.., ['"', '\\']).parse_next(input)?);
        if opt(literal("\"")).parse_next(input)?.is_some() {
            return Ok(What::Text(content));
        }
        literal("\\").parse_next(input)?;
        let escaped = opt(one_of(['"', '\\'])).parse_next(input)?;
        content.push(escaped.unwrap_or('\\'));
    }
}

fn column(input: &mut Input<'_>) -> ModalResult<What> {
    let place = preceded(literal("$"), digit1)
        .verify_map(|digits: &str| digits.parse().ok().filter(|&place| place > 0))
        .map(Selector::Place);
    let quoted = (literal("`"), take_till(1.., '`'), literal("`"));
    let quoted = quoted.map(|(_, name, _): (_, &str, _)| Selector::Name(name.to_owned()));
    let name =
        (one_of(|c: char| c.is_alphabetic() || c == '_'), take_while(0.., is_of_name)).take();
    let name = name
        .verify(|name: &str| !["in", "is", "not", "null"].contains(&name))
        .map(|name: &str| Selector::Name(name.to_owned()));
    alt((place, quoted, name)).map(What::Column).parse_next(input)
}
