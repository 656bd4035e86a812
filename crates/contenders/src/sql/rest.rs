//! A REST-like layer in process: requests with a method, a path and a JSON body, answered from a store.
//!
//! Routes: `/People` (POST adds, GET with `?LastName=` lists), `/People/batch` (POST adds many in one
//! transaction), `/People/ID` (GET, PUT, DELETE, LOCK, UNLOCK) and `/People/ID/Data` (GET, PUT: the
//! blob as it is). No sockets, no headers, no authentication.

use std::collections::HashSet;

use fathom_machine::level::Level;

use super::store::Store;
use crate::json;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // HTTP's and WebDAV's names
pub enum Method {
    Get,
    Post,
    Put,
    Delete,
    Lock,
    Unlock,
}

/// A status of HTTP with a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// 200, 201, 400, 404, 405, or 423 for a locked record.
    pub status: u16,
    /// JSON, or the bytes of a blob.
    pub body: Vec<u8>,
}

/// Answers requests from a store.
pub struct Server<'s> {
    store: &'s mut dyn Store,
    locked: HashSet<i64>,
    level: Level,
}

impl<'s> Server<'s> {
    /// A server of `store`.
    pub fn new(store: &'s mut dyn Store) -> Server<'s> {
        let level = Level::current();
        Server { store, locked: HashSet::new(), level }
    }

    /// Answers one request.
    pub fn request(&mut self, method: Method, path: &str, body: &[u8]) -> Answer {
        let Some(rest) = path.strip_prefix("/People") else { return status(404) };
        if let Some(name) = rest.strip_prefix("?LastName=") {
            return match method {
                Method::Get => self.list(name),
                _ => status(405),
            };
        }
        let mut parts = rest.split('/').skip(1);
        let (first, second) = (parts.next(), parts.next());
        match (method, first, second) {
            (Method::Post, None, None) => self.add(body),
            (Method::Post, Some("batch"), None) => self.add_many(body),
            (_, Some(id), second) => match id.parse() {
                Ok(id) => self.of_record(method, id, second, body),
                Err(_) => status(404),
            },
            _ => status(405),
        }
    }

    fn of_record(&mut self, method: Method, id: i64, part: Option<&str>, body: &[u8]) -> Answer {
        let writes = matches!(method, Method::Put | Method::Delete);
        if writes && self.locked.contains(&id) {
            return status(423);
        }
        match (method, part) {
            (Method::Get, None) => match self.store.get(id) {
                Some(person) => Answer { status: 200, body: json::object(&person) },
                None => status(404),
            },
            (Method::Put, None) => match &mut json::records(self.level, body)[..] {
                [person] => {
                    person.id = id;
                    found(self.store.update(person))
                }
                _ => status(400),
            },
            (Method::Delete, None) => found(self.store.delete(id)),
            (Method::Lock, None) if self.locked.insert(id) => status(200),
            (Method::Lock, None) => status(423),
            (Method::Unlock, None) => found(self.locked.remove(&id)),
            (Method::Get, Some("Data")) => match self.store.get(id) {
                Some(person) => Answer { status: 200, body: person.data },
                None => status(404),
            },
            (Method::Put, Some("Data")) => found(self.store.set_data(id, body)),
            _ => status(405),
        }
    }

    fn list(&mut self, name: &str) -> Answer {
        Answer { status: 200, body: json::objects(&self.store.named(name)) }
    }

    fn add(&mut self, body: &[u8]) -> Answer {
        match &json::records(self.level, body)[..] {
            [person] => {
                let id = self.store.add(person, false);
                Answer { status: 201, body: id.to_string().into_bytes() }
            }
            _ => status(400),
        }
    }

    fn add_many(&mut self, body: &[u8]) -> Answer {
        let people = json::records(self.level, body);
        if people.is_empty() {
            return status(400);
        }
        self.store.begin();
        for person in &people {
            self.store.add(person, false);
        }
        self.store.commit();
        Answer { status: 201, body: people.len().to_string().into_bytes() }
    }
}

fn status(status: u16) -> Answer {
    Answer { status, body: Vec::new() }
}

fn found(is_found: bool) -> Answer {
    status(if is_found { 200 } else { 404 })
}

#[cfg(test)]
mod tests {
    use super::super::reference::Table;
    use super::*;
    use crate::people;

    #[test]
    fn requests_are_answered_or_refused_by_status() {
        let mut table = Table::default();
        let mut server = Server::new(&mut table);
        let mut ask = |method, path: &str, body: &[u8]| {
            let answer = server.request(method, path, body);
            (answer.status, String::from_utf8_lossy(&answer.body).into_owned())
        };
        let dali = json::object(&people::person(0));
        let dali = String::from_utf8(dali).unwrap();
        assert_eq!(ask(Method::Post, "/People", dali.as_bytes()), (201, "1".to_owned()));
        assert_eq!(ask(Method::Get, "/People/1", b""), (200, dali.clone()));
        assert_eq!(ask(Method::Get, "/People/1/Data", b""), (200, "Salvador".to_owned()));
        assert_eq!(ask(Method::Lock, "/People/1", b"").0, 200);
        assert_eq!(ask(Method::Lock, "/People/1", b"").0, 423);
        assert_eq!(ask(Method::Put, "/People/1/Data", b"new").0, 423);
        assert_eq!(ask(Method::Unlock, "/People/1", b"").0, 200);
        assert_eq!(ask(Method::Put, "/People/1/Data", b"new").0, 200);
        assert_eq!(ask(Method::Get, "/People/1/Data", b""), (200, "new".to_owned()));
        assert_eq!(ask(Method::Post, "/People", b"no JSON").0, 400);
        assert_eq!(ask(Method::Post, "/People/batch", &people::json(20)), (201, "20".to_owned()));
        assert_eq!(ask(Method::Delete, "/People/1", b"").0, 200);
        assert_eq!(ask(Method::Get, "/People/1", b"").0, 404);
        assert_eq!(ask(Method::Get, "/People/one", b"").0, 404);
        assert_eq!(ask(Method::Get, "/Animals/1", b"").0, 404);
        assert_eq!(ask(Method::Delete, "/People", b"").0, 405);
        assert_eq!(ask(Method::Post, "/People?LastName=Dali", b"").0, 405);
    }
}
