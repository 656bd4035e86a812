//! A small object store of one's own, over plain sockets: ranges, ETags, If-Match, listing in pages, and
//! every way to go wrong that a test asks for. It shares no code with what it judges.

use std::collections::{BTreeMap, HashMap};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What goes wrong with one answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    None,
    /// This status, and an answer in Amazon's form.
    Status(u16),
    /// The connection is reset after so many bytes of the body.
    Reset(usize),
    /// The connection ends after so many bytes of the body, of which more were promised.
    Short(usize),
    /// The same, and nothing was promised.
    Cut(usize),
    /// As many bytes more than the range has.
    Long(usize),
    /// A pause in milliseconds before each tenth of the body.
    Slow(u64),
    /// Half of the body, and never more.
    Stall,
    /// The whole object, whatever range was asked for.
    Whole,
    /// Another object, with another ETag, whatever If-Match says.
    Other,
    /// No ETag, of this second of a day, whatever If-Unmodified-Since says.
    Dated(u8),
    /// The same of second 30, and the connection ends after so many bytes of the body, of which more were promised.
    DatedShort(usize),
}

/// What a client asked.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) range: Option<(usize, usize)>,
    pub(crate) if_match: Option<String>,
    /// How often the same was asked before.
    pub(crate) attempt: usize,
}

type Plan = Box<dyn Fn(&Request) -> Fault + Send + Sync>;

struct Shared {
    objects: Mutex<BTreeMap<String, (Vec<u8>, String)>>,
    plan: Mutex<Plan>,
    asked: Mutex<Vec<Request>>,
    in_flight: AtomicUsize,
    most_in_flight: AtomicUsize,
}

pub(crate) struct Server {
    pub(crate) port: u16,
    shared: Arc<Shared>,
}

impl Server {
    /// An empty store. Its threads live as long as the test's process.
    pub(crate) fn new() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared {
            objects: Mutex::default(),
            plan: Mutex::new(Box::new(|_| Fault::None)),
            asked: Mutex::default(),
            in_flight: AtomicUsize::new(0),
            most_in_flight: AtomicUsize::new(0),
        });
        let all = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let shared = Arc::clone(&all);
                // Who hangs up early is no concern of the server's.
                std::thread::spawn(move || stream.map(|stream| answer(&shared, stream)));
            }
        });
        Server { port, shared }
    }

    /// Puts an object, with a new ETag.
    pub(crate) fn put(&self, path: &str, bytes: impl Into<Vec<u8>>) {
        static TAGS: AtomicUsize = AtomicUsize::new(1);
        let tag = format!("\"tag-{}\"", TAGS.fetch_add(1, Ordering::Relaxed));
        self.shared.objects.lock().unwrap().insert(path.to_owned(), (bytes.into(), tag));
    }

    pub(crate) fn tag(&self, path: &str) -> String {
        self.shared.objects.lock().unwrap()[path].1.clone()
    }

    /// What goes wrong from now on; what was asked is forgotten.
    pub(crate) fn plan(&self, plan: impl Fn(&Request) -> Fault + Send + Sync + 'static) {
        *self.shared.plan.lock().unwrap() = Box::new(plan);
        self.asked();
    }

    /// What was asked since the last time.
    pub(crate) fn asked(&self) -> Vec<Request> {
        self.shared.most_in_flight.store(0, Ordering::Relaxed);
        std::mem::take(&mut self.shared.asked.lock().unwrap())
    }

    /// Most requests for blocks that were in flight at once since then.
    pub(crate) fn most_in_flight(&self) -> usize {
        self.shared.most_in_flight.load(Ordering::Relaxed)
    }
}

/// The request that has come, read but for its last byte: a connection that is closed with unread
/// bytes is reset.
fn request(stream: &mut TcpStream) -> Option<String> {
    let mut seen = vec![0; 64 << 10];
    let end = loop {
        let have = stream.peek(&mut seen).ok()?;
        match seen[..have].windows(4).position(|four| four == b"\r\n\r\n") {
            Some(at) => break at + 4,
            None if have == 0 => return None,
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    let mut text = vec![0; end - 1];
    stream.read_exact(&mut text).ok()?;
    String::from_utf8(text).ok()
}

fn answer(shared: &Shared, mut stream: TcpStream) -> Option<()> {
    let text = request(&mut stream)?;
    let mut lines = text.lines();
    let mut first = lines.next()?.split(' ');
    let (method, target) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: HashMap<String, &str> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim()))
        .collect();
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let (path, query) = (decoded(path.trim_matches('/')), query.to_owned());
    let range = headers.get("range").and_then(|range| {
        let (start, end) = range.strip_prefix("bytes=")?.split_once('-')?;
        Some((start.parse().ok()?, end.parse::<usize>().ok()? + 1))
    });
    let if_match = headers.get("if-match").map(|&tag| tag.to_owned());
    let mut asked = Request { method, path, range, if_match, attempt: 0 };
    // What is left of a body is asked for up to the same end.
    let end = |request: &Request| (request.path.clone(), request.range.map(|(_, end)| end));
    let is_same = |other: &&Request| end(other) == end(&asked);
    {
        let mut all = shared.asked.lock().unwrap();
        asked.attempt = all.iter().filter(is_same).count();
        all.push(asked.clone());
    }
    let blocks = usize::from(asked.range.is_some_and(|(_, end)| end > crate::with::HEAD_BYTES));
    let now = shared.in_flight.fetch_add(blocks, Ordering::Relaxed) + blocks;
    shared.most_in_flight.fetch_max(now, Ordering::Relaxed);
    let last = respond(shared, &mut stream, &asked, &query);
    // Before the client can know that it is done.
    shared.in_flight.fetch_sub(blocks, Ordering::Relaxed);
    stream.write_all(&last?).ok()
}

/// Answers, but for the last bytes.
fn respond(
    shared: &Shared,
    stream: &mut TcpStream,
    asked: &Request,
    query: &str,
) -> Option<Vec<u8>> {
    let fault = (shared.plan.lock().unwrap())(asked);
    if !matches!(fault, Fault::Reset(_)) {
        let _ = stream.read_exact(&mut [0]);
    }
    if let Fault::Status(status) = fault {
        return error(status);
    }
    if query.contains("list-type=2") {
        return Some(list(shared, &asked.path, query));
    }
    let object = shared.objects.lock().unwrap().get(&asked.path).cloned();
    let Some((mut bytes, mut tag)) = object else { return error(404) };
    if fault == Fault::Other {
        bytes.iter_mut().for_each(|byte| *byte = if *byte == b'1' { b'2' } else { *byte });
        tag = "\"another\"".to_owned();
    } else if asked.if_match.as_ref().is_some_and(|wanted| *wanted != tag) {
        return error(412);
    }
    let size = bytes.len();
    let asked_range = asked.range.filter(|_| fault != Fault::Whole);
    if asked_range.is_some_and(|(start, _)| start >= size) {
        return error(416);
    }
    let (tag, second) = match fault {
        Fault::Dated(second) => (String::new(), second),
        Fault::DatedShort(_) => (String::new(), 30),
        _ => (format!("ETag: {tag}\r\n"), 45),
    };
    let mut head = format!("{tag}Last-Modified: Sun, 22 Nov 2026 11:48:{second} GMT\r\n");
    let mut long = Vec::new();
    let body = match asked_range {
        Some((start, end)) => {
            let end = end.min(size);
            head = format!("{head}Content-Range: bytes {start}-{}/{size}\r\n", end - 1);
            &bytes[start..end]
        }
        None => &bytes,
    };
    let body = match fault {
        Fault::Long(more) => {
            long.extend_from_slice(body);
            long.resize(body.len() + more, b'x');
            &long[..]
        }
        _ => body,
    };
    let status = if asked_range.is_some() { "206 Partial Content" } else { "200 OK" };
    // The client wants a length in every head; a body in chunks has none of its own.
    let is_cut = matches!(fault, Fault::Cut(_));
    let length = format!("Content-Length: {}\r\n", body.len());
    let length = if is_cut {
        length.replace(&body.len().to_string(), &cut(fault, body).len().to_string())
    } else {
        length
    };
    write!(stream, "HTTP/1.1 {status}\r\n{head}{length}Connection: close\r\n\r\n").ok()?;
    if asked.method == "HEAD" {
        return Some(Vec::new());
    }
    let (last, body) = body.split_last().map_or((None, body), |(last, rest)| (Some(*last), rest));
    match fault {
        Fault::Reset(_) | Fault::Short(_) | Fault::Cut(_) | Fault::DatedShort(_) => {
            stream.write_all(cut(fault, body)).ok()?;
            // What was sent is read before the end is seen.
            std::thread::sleep(Duration::from_millis(20));
            return Some(Vec::new());
        }
        Fault::Slow(pause) => {
            for tenth in body.chunks(body.len().div_ceil(10).max(1)) {
                std::thread::sleep(Duration::from_millis(pause));
                stream.write_all(tenth).ok()?;
            }
        }
        Fault::Stall => {
            stream.write_all(&body[..body.len() / 2]).ok()?;
            std::thread::sleep(Duration::from_secs(3600));
        }
        _ => stream.write_all(body).ok()?,
    }
    Some(last.into_iter().collect())
}

fn cut(fault: Fault, body: &[u8]) -> &[u8] {
    match fault {
        Fault::Reset(bytes)
        | Fault::Short(bytes)
        | Fault::Cut(bytes)
        | Fault::DatedShort(bytes) => &body[..bytes.min(body.len().saturating_sub(1))],
        _ => body,
    }
}

fn error(status: u16) -> Option<Vec<u8>> {
    let code = match status {
        403 => "AccessDenied",
        404 => "NoSuchKey",
        412 => "PreconditionFailed",
        416 => "InvalidRange",
        _ => "SlowDown",
    };
    let body = format!("<Error><Code>{code}</Code><Message>as planned</Message></Error>");
    Some(whole(&format!("{status} {code}"), &body))
}

/// An answer in one piece.
fn whole(status: &str, body: &str) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close", body.len());
    format!("{head}\r\n\r\n{body}").into_bytes()
}

/// A page of two keys of a bucket, as Amazon lists them.
fn list(shared: &Shared, bucket: &str, query: &str) -> Vec<u8> {
    let word = |name: &str| {
        let found = query.split('&').find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        decoded(found.unwrap_or_default())
    };
    let (prefix, after) = (word("prefix"), word("continuation-token"));
    let objects = shared.objects.lock().unwrap();
    let keys = objects.iter().filter_map(|(path, object)| {
        let key = path.strip_prefix(bucket)?.strip_prefix('/')?;
        let rest = key.strip_prefix(&prefix)?;
        (!rest.contains('/') && key > after.as_str()).then_some((key, object))
    });
    let keys: Vec<_> = keys.collect();
    let mut body = format!(
        "<ListBucketResult><Name>{bucket}</Name><KeyCount>{}</KeyCount>",
        keys.len().min(2)
    );
    for (key, (bytes, tag)) in keys.iter().take(2) {
        let size = bytes.len();
        body += &format!(
            "<Contents><Key>{key}</Key><LastModified>2026-11-22T11:48:45.000Z</LastModified>\
             <ETag>{tag}</ETag><Size>{size}</Size></Contents>"
        );
    }
    if keys.len() > 2 {
        body += &format!("<NextContinuationToken>{}</NextContinuationToken>", keys[1].0);
    }
    body += &format!("<IsTruncated>{}</IsTruncated></ListBucketResult>", keys.len() > 2);
    whole("200 OK", &body)
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let digit = |byte: Option<u8>| char::from(byte.unwrap()).to_digit(16).unwrap() as u8;
        bytes.push(if byte == b'%' { digit(rest.next()) * 16 + digit(rest.next()) } else { byte });
    }
    String::from_utf8(bytes).unwrap()
}
