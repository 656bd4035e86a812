//! How a measurement is to be run, and what happened: plan, roles, rounds as they were. Data only;
//! [`rounds`](crate::rounds) makes it, [`compare`](crate::compare) judges it.

use serde::{Deserialize, Serialize};

use crate::sample::{Failure, Sample};

/// How a measurement is run. Times are in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Seed of the orders.
    pub seed: u64,
    /// Share of measurements that may contain any false verdict: 0.01.
    pub alpha: f64,
    /// When measuring ends.
    pub stop: Stop,
    /// Time received per contender (processor time where it is known) after which measuring ends.
    pub budget_ns: u64,
    /// Wall time of all rounds together after which measuring ends, whatever was received.
    pub limit_ns: u64,
    /// Exactly this many rounds, instead of those that fit the budget; neither width nor repetition ends them
    /// early, only the limit does.
    pub rounds: Option<u32>,
    /// At least and at most so many, where their number is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least_rounds: Option<u32>,
    /// The other end of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_rounds: Option<u32>,
    /// What the slowest contender's sample should take.
    pub sample_ns: u64,
    /// What the fastest contender's sample takes at least: well above the clocks' resolution and
    /// cost.
    pub shortest_ns: u64,
    /// This many iterations per sample, not calibrated: commands are run once.
    pub iterations: Option<u64>,
    /// Samples of each contender that are thrown away before the first round.
    pub warm_ups: u32,
    /// Sets of fresh processes over which the rounds are spread; 0 leaves it to the budget, and a
    /// finished measurement has the number that was planned.
    pub processes: u32,
    /// Every sample is a process of its own, as for commands.
    #[serde(default)]
    pub fresh: bool,
    /// The clock of the verdicts, if the user chose it; otherwise the rule chooses.
    #[serde(default)]
    pub clock: Option<Clock>,
}

/// When measuring ends, besides the budgets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "rule")]
pub enum Stop {
    /// Every interval of a ratio is narrower than `target` (0.01 is one percent), looked at only at
    /// planned rounds.
    Width {
        /// Width of the ratio's interval.
        target: f64,
    },
    /// No contender found a new minimum during `quiet_ns` of time received, and each was within 1 %
    /// of its minimum in at least three rounds.
    Repetition {
        /// Time received without a new minimum, in nanoseconds.
        quiet_ns: u64,
    },
    /// No contender's difference from the fastest that is larger than `above` (0.1 is ten percent) is left
    /// without a verdict; looked at after a quarter and after half of the sets.
    Said {
        /// The largest difference that may be left open.
        above: f64,
    },
    /// Only the budgets and the number of rounds.
    Budget,
}

impl Plan {
    /// The level of its verdicts, in percent.
    #[must_use]
    pub fn level_percent(&self) -> f64 {
        (1.0 - self.alpha) * 100.0
    }
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            seed: 1,
            alpha: 0.01,
            stop: Stop::Width { target: 0.01 },
            budget_ns: 2_000_000_000,
            limit_ns: 300_000_000_000,
            rounds: None,
            least_rounds: None,
            most_rounds: None,
            sample_ns: 4_000_000,
            shortest_ns: 200_000,
            iterations: None,
            warm_ups: 2,
            processes: 0,
            fresh: false,
            clock: None,
        }
    }
}

/// Which contender plays which part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Roles {
    /// All others are compared with this one.
    pub baseline: usize,
    /// The unnamed copy of a contender.
    pub twin: Option<usize>,
    /// Which contender the twin is a copy of. The baseline while measuring; a measurement that is
    /// judged again against another baseline keeps its twin.
    pub twin_of: usize,
    /// The contender that does nothing: what the harness itself costs.
    pub empty: Option<usize>,
    /// Only the wall clock counts: the workload uses threads, waits or sleeps.
    pub wall_only: bool,
    /// The baseline was chosen after looking at the times, the fastest for example: the error budget
    /// then is shared among all pairs, of which those with the baseline are some.
    #[serde(default)]
    pub chosen: bool,
}

/// What the machine did during a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weather {
    /// Ticks (10 ms) in which the hypervisor gave the processors to somebody else; `None` when the
    /// kernel does not say.
    pub steal_ticks: Option<u64>,
    /// Time in which some thread of the machine waited for a processor, in microseconds.
    pub pressure_us: Option<u64>,
}

/// One round as it was run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// The contenders in the order they were sampled, by number.
    pub order: Vec<usize>,
    /// Which set of processes, from 0.
    pub process: u32,
    /// What the machine did meanwhile.
    #[serde(default)]
    pub weather: Weather,
    /// The samples by contender number; `None` where a contender had failed.
    pub samples: Vec<Option<Sample>>,
}

/// A finished measurement of one workload: what happened, unjudged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Iterations in every sample.
    pub iterations: u64,
    /// The rounds in the order they were run.
    pub rounds: Vec<Round>,
    /// By contender number: why it has no row, if so.
    pub failures: Vec<Option<Failure>>,
    /// Why measuring ended.
    pub end: End,
    /// Share of the error budget that the last look may spend.
    pub alpha_share: f64,
    /// Rounds that were planned.
    pub planned: u32,
}

/// Why measuring ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The planned rounds are done.
    #[default]
    Rounds,
    /// The stopping rule was met.
    Target,
    /// The wall-time limit was reached.
    Limit,
    /// Fewer than two contenders are left.
    Alone,
    /// The user interrupted.
    Interrupted,
}

/// Which clock the verdicts rest on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// The monotonic clock.
    #[default]
    Wall,
    /// Processor time received.
    Cpu,
}

impl Clock {
    /// The words of a report.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Clock::Wall => "wall time",
            Clock::Cpu => "CPU time",
        }
    }

    /// A sample's reading on this clock, in nanoseconds.
    #[must_use]
    pub fn of(self, sample: &Sample) -> u64 {
        match self {
            Clock::Wall => sample.wall_ns,
            Clock::Cpu => sample.cpu_ns.unwrap_or(0),
        }
    }
}
