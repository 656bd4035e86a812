//! What a bench consists of: groups, inputs, functions. The same definitions are run to be listed and to
//! be served, and only the one function that is asked for is ever called.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::hint::black_box;

use fathom_measure::contender::{Prepared, timed, timed_batch};
use fathom_measure::digest::Digest;
use fathom_measure::family::Opened;
use fathom_measure::workload::{Spec, Work};

/// What running a definition is for.
pub(crate) enum Purpose<'a> {
    /// To know what there is.
    List(&'a mut Vec<Listed>),
    /// To open one function of one group.
    Open { spec: &'a Spec, function: &'a str, then: Option<&'a mut dyn FnMut(Opened<'_>)> },
}

/// A group as it is listed.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    pub(crate) spec: Spec,
    /// Whose answer is the right one, wanted or not.
    pub(crate) first: String,
    pub(crate) functions: Vec<String>,
}

/// Where definitions put their groups.
pub struct Bench<'a> {
    pub(crate) purpose: Purpose<'a>,
}

impl<'a> Bench<'a> {
    /// Functions that do the same: `define` prepares what they work on and adds them.
    pub fn group(&mut self, name: &str, define: impl FnOnce(&mut Group<'_, 'a>)) {
        self.case(Spec { operation: name.to_owned(), ..Spec::default() }, define);
    }

    /// A group for each of these values of an input.
    pub fn inputs<V: ToString>(
        &mut self,
        name: &str,
        input: &str,
        values: impl IntoIterator<Item = V>,
        define: impl Fn(&mut Group<'_, 'a>, &V),
    ) {
        for value in values {
            let parameters = BTreeMap::from([(input.to_owned(), value.to_string())]);
            let spec = Spec { operation: name.to_owned(), parameters, ..Spec::default() };
            self.case(spec, |group| define(group, &value));
        }
    }

    fn case(&mut self, spec: Spec, define: impl FnOnce(&mut Group<'_, 'a>)) {
        match &mut self.purpose {
            Purpose::List(listed) => {
                // A worker would run the first one's functions under the second's name.
                assert!(!listed.iter().any(|other| other.spec == spec), "two groups {spec}");
                listed.push(Listed { spec, first: String::new(), functions: Vec::new() });
            }
            Purpose::Open { spec: asked, .. }
                if (&asked.operation, &asked.parameters) == (&spec.operation, &spec.parameters) => {
            }
            Purpose::Open { .. } => return,
        }
        define(&mut Group {
            purpose: &mut self.purpose,
            work: Work::default(),
            is_checked: true,
            leaves_the_thread: false,
        });
    }
}

/// Functions that do the same.
pub struct Group<'g, 'a> {
    purpose: &'g mut Purpose<'a>,
    work: Work,
    is_checked: bool,
    leaves_the_thread: bool,
}

impl Group<'_, '_> {
    /// What one call works through, for throughput; before the functions.
    pub fn bytes(&mut self, bytes: usize) -> &mut Self {
        self.work.bytes = bytes as u64;
        self
    }

    /// The same in items.
    pub fn items(&mut self, items: usize) -> &mut Self {
        self.work.items = items as u64;
        self
    }

    /// Answers may differ: nothing is checked. Before the functions.
    pub fn unchecked(&mut self) -> &mut Self {
        self.is_checked = false;
        self
    }

    /// The functions use threads, wait or sleep: only wall time counts. Before the functions.
    pub fn threads(&mut self) -> &mut Self {
        self.leaves_the_thread = true;
        self
    }

    /// A function; the first one is the baseline. Its answers are dropped within the time measured.
    pub fn function<T: Hash>(&mut self, name: &str, mut run: impl FnMut() -> T) -> &mut Self {
        let check = self.is_checked;
        // Through a pointer the optimiser cannot see behind: what the function captured may have changed
        // since the last call, so nothing of a call can be done once for all of them.
        self.add(name, || {
            timed(&(), |()| black_box(&mut run)(), move |answer| digest(answer, check))
        })
    }

    /// A function that consumes something which `setup` makes anew for each call, untimed; `batch` of
    /// them exist at once.
    pub fn batched<S, T: Hash>(
        &mut self,
        name: &str,
        batch: u64,
        mut setup: impl FnMut() -> S,
        mut run: impl FnMut(S) -> T,
    ) -> &mut Self {
        let check = self.is_checked;
        let digest = move |answer| digest(&answer, check);
        self.add(name, || {
            timed_batch(batch, &mut setup, |input| black_box(&mut run)(input), digest)
        })
    }

    fn add<'w>(
        &mut self,
        name: &str,
        prepare: impl FnOnce() -> Box<dyn Prepared + 'w>,
    ) -> &mut Self {
        match self.purpose {
            Purpose::List(listed) => {
                let group = listed.last_mut().expect("a group is listed before its functions");
                let is_new = !group.functions.iter().any(|other| other == name);
                assert!(is_new, "{}: two functions {name:?}", group.spec);
                group.functions.push(name.to_owned());
            }
            Purpose::Open { function, then, .. } if *function == name => {
                if let Some(then) = then.take() {
                    then(Opened {
                        prepared: prepare(),
                        work: self.work,
                        leaves_the_thread: self.leaves_the_thread,
                        backing: None,
                    });
                }
            }
            Purpose::Open { .. } => {}
        }
        self
    }
}

fn digest(answer: &impl Hash, check: bool) -> Digest {
    let mut digested = Digested(Digest::default());
    if check {
        answer.hash(&mut digested);
    }
    digested.0
}

/// Whatever can be hashed as a check.
struct Digested(Digest);

impl Hasher for Digested {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = self.0.with_bytes(bytes);
    }

    fn finish(&self) -> u64 {
        self.0.0
    }
}
