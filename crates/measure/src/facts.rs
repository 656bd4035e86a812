//! What the commands have to know about a family, as data: they name none, so that a family is added,
//! and a row to one, in its own folder.

use crate::result::Case;

/// What a family tells the commands besides its name, contenders and offers.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The part of the forebear's table that `fathom cpu` measures it in; `None` where it does not.
    pub part: Option<&'static str>,
    /// When the reference is timed.
    pub reference: Timed,
    /// The parameters of a quick look at a task that has no cases of its own for it.
    pub quick: Parameters,
    /// What is special about its operations; one that is not here is called what it is called.
    pub tasks: &'static [Task],
    /// What most people ask about it.
    pub common: &'static [Common],
    /// How its contenders take choices, if they do.
    pub choices: Option<Choices>,
    /// The contender that runs an outside program as its variant, if there is one.
    pub outside: Option<&'static str>,
    /// What is shown beside its cases.
    pub tables: fn(&[&Case]) -> Vec<Table>,
    /// What can be named besides its contenders, if anything.
    pub others: Option<Others>,
}

impl Facts {
    /// Of a family about which nothing is special.
    pub const NONE: Facts = Facts {
        part: None,
        reference: Timed::Always,
        quick: &[],
        tasks: &[],
        common: &[],
        choices: None,
        outside: None,
        tables: |_| Vec::new(),
        others: None,
    };

    /// What is known of an operation.
    #[must_use]
    pub fn task(&self, operation: &str) -> Task {
        let found = self.tasks.iter().find(|task| task.operation == operation);
        found.copied().unwrap_or(Task::NONE)
    }
}

/// Parameters by name, with their values.
pub type Parameters = &'static [(&'static str, &'static str)];

/// When a family's reference is timed; whoever names it gets it always.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timed {
    /// Like every contender.
    Always,
    /// It is an oracle: by `bench`, but not where the fastest is looked for, unless it is alone.
    AsOracle,
    /// Not unasked: it would take most of the time.
    WhenNamed,
}

/// A question that most people have: a line of the first screen of `fathom cpu`.
#[derive(Clone, Copy, Debug)]
pub struct Common {
    /// What they call it.
    pub question: &'static str,
    /// The operation that answers it.
    pub operation: &'static str,
    /// Its parameters; without any, those of a quick look.
    pub parameters: Parameters,
    /// The contenders that answer it, by their ids; without any, all.
    pub only: &'static [&'static str],
    /// What most programs use, by its id: the first of these that is here.
    pub usual: &'static [&'static str],
}

impl Common {
    /// With the parameters of a quick look, and answered by all.
    #[must_use]
    pub const fn of(
        question: &'static str,
        operation: &'static str,
        usual: &'static [&'static str],
    ) -> Common {
        Common { question, operation, parameters: &[], only: &[], usual }
    }

    /// Answered by these alone.
    #[must_use]
    pub const fn among(mut self, only: &'static [&'static str]) -> Common {
        self.only = only;
        self
    }
}

/// An operation beside what it is called here.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// Its name.
    pub operation: &'static str,
    /// What the forebear's table calls it, `{}` standing for the contender; empty for the same.
    pub forebear: &'static str,
    /// How the forebear prints it.
    pub form: Form,
    /// The cases of a quick look; without any, one with the family's.
    pub quick: &'static [Parameters],
    /// The best instructions this processor has for it; `None` where nothing is made for it.
    pub best: fn() -> Option<&'static str>,
    /// Why there are no two independent implementations of it, where that is so.
    pub alone: &'static str,
    /// Whether it can be asked of a file of the user's.
    pub own: bool,
}

impl Task {
    /// An operation about which nothing is special.
    pub const NONE: Task = Task {
        operation: "",
        forebear: "",
        form: Form::Pass,
        quick: &[],
        best: || None,
        alone: "",
        own: false,
    };

    /// What the forebear's table calls it if a contender does it.
    #[must_use]
    pub fn shown(&self, operation: &str, contender: &str) -> String {
        match self.forebear {
            "" => operation.to_owned(),
            name => name.replace("{}", contender),
        }
    }
}

/// How the forebear prints a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `NAME in TIME, RATE/s`.
    Pass,
    /// `CALLS NAME in TIME i.e. COUNT/s or RATE/s`: so many iterations of the mix of sizes, and a
    /// pass at a single size.
    Calls {
        /// Iterations that make up the forebear's row.
        iterations: u64,
    },
    /// A pass of which an iteration makes only this share, as its metric says; all of it without one.
    Parts {
        /// The metric.
        share: &'static str,
    },
    /// `COUNT NAME in TIME`.
    Items,
    /// Nanoseconds per item, a read.
    Reads,
    /// Rates of both texts and their ratio, which is the metric of this name.
    Compresses {
        /// The metric.
        ratio: &'static str,
    },
    /// The same, the other way round.
    Decompresses {
        /// The metric.
        ratio: &'static str,
    },
}

/// How contenders of a family take choices: as a variant `axis=value,…`.
#[derive(Clone, Copy, Debug)]
pub struct Choices {
    /// The contender that is varied unless another one is named.
    pub base: &'static str,
    /// A contender with choices, `base,axis=value,…`, checked: an error for what does not exist,
    /// the reason for what exists and does not go together.
    pub check: fn(&str) -> Result<Option<String>, String>,
}

/// What a family has that is no contender of it.
#[derive(Clone, Copy, Debug)]
pub struct Others {
    /// What it is, and where it is named.
    pub what: &'static str,
    /// Each with its name and where it comes from, or why it is not here.
    pub all: fn() -> Vec<(&'static str, String)>,
}

/// A table made of a family's cases: rows of cells, the first one the head; text below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The rows.
    pub rows: Vec<Vec<String>>,
    /// What follows, if anything.
    pub below: String,
}
