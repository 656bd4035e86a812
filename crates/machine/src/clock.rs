//! Clocks: wall, CPU time of a thread, of the process, of its children, and the cycle register.
//!
//! Each clock can say what one read costs and how fine it is ([`Clock::precision`]). The cycle
//! register is calibrated against the kernel's clock over the run itself: an [`Anchor`] is taken
//! when the program starts and another when a rate is wanted, so nothing spins at start-up and the
//! rate is better the longer the run. No clock here picks itself: which one a verdict rests on is
//! decided where verdicts are made.
//!
//! ```
//! use fathom_machine::clock;
//! clock::start();
//! let before = clock::ticks_fenced();
//! let sum: u64 = (0..1000).sum();
//! std::hint::black_box(sum);
//! let ticks = clock::ticks_fenced() - before;
//! let rate = clock::rate();
//! println!("{:.0} ns, rate good to {:.1} ppm", rate.ns(ticks), rate.error_ppm);
//! ```

use std::sync::OnceLock;

use rustix::time::{ClockId, Timespec, clock_getres, clock_gettime};

use crate::arch::cycle;
use crate::os::usage;

/// A clock that can be read now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clock {
    /// Time that passes for everybody: the kernel's monotonic clock.
    Wall,
    /// Time the calling thread was on a processor, in user and kernel mode.
    ThreadCpu,
    /// Time all threads of this process were on a processor.
    ProcessCpu,
    /// Processor time of all children that have ended and were waited for, and of theirs.
    ChildrenCpu,
    /// The processor's time register, in ticks.
    Cycle,
}

/// What one clock can resolve, measured here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// Which clock.
    pub clock: Clock,
    /// One read, in nanoseconds: the fastest of several batches.
    pub cost_ns: f64,
    /// The smallest difference above zero between two reads in a row, in nanoseconds. For
    /// [`Clock::ChildrenCpu`], which stands still between reads, what the kernel states.
    pub step_ns: f64,
}

/// The cycle register and the kernel's clock at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The cycle register, in ticks.
    pub ticks: u64,
    /// The monotonic clock, in nanoseconds.
    pub wall_ns: u64,
    /// The two were read within this many ticks of each other.
    pub width_ticks: u64,
}

/// What a tick of the cycle register is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Ticks per second; 0 when no time passed between the anchors.
    pub hz: f64,
    /// Bound on the relative error of `hz`, in parts per million: what the widths of the two
    /// anchors allow. Drift of the kernel's clock itself is not in it.
    pub error_ppm: f64,
    /// The time between the anchors, in nanoseconds.
    pub window_ns: u64,
}

impl Clock {
    /// Every clock.
    pub const ALL: [Clock; 5] =
        [Clock::Wall, Clock::ThreadCpu, Clock::ProcessCpu, Clock::ChildrenCpu, Clock::Cycle];

    /// The words users read for this clock.
    pub fn name(self) -> &'static str {
        match self {
            Clock::Wall => "wall time",
            Clock::ThreadCpu => "thread CPU time",
            Clock::ProcessCpu => "process CPU time",
            Clock::ChildrenCpu => "children CPU time",
            Clock::Cycle => "cycle register",
        }
    }

    /// This clock now: nanoseconds, or ticks for [`Clock::Cycle`].
    pub fn read(self) -> u64 {
        match self {
            Clock::Wall => wall_ns(),
            Clock::ThreadCpu => thread_cpu_ns(),
            Clock::ProcessCpu => process_cpu_ns(),
            Clock::ChildrenCpu => children_cpu_ns(),
            Clock::Cycle => ticks_fenced(),
        }
    }

    /// Measures cost and resolution here and now; takes about two milliseconds per clock.
    ///
    /// On a busy machine the figures are upper bounds.
    pub fn precision(self) -> Precision {
        const BATCHES: u32 = 16;
        const READS: u32 = 128;
        let mut cost_ns = f64::INFINITY;
        let mut step = u64::MAX;
        let begin = Anchor::now();
        for _ in 0..BATCHES {
            let start = wall_ns();
            let mut last = self.read();
            for _ in 1..READS {
                let now = self.read();
                if now > last {
                    step = step.min(now - last);
                }
                last = now;
            }
            cost_ns = cost_ns.min((wall_ns() - start) as f64 / f64::from(READS));
        }
        let step_ns = match self {
            Clock::Cycle => Rate::between(begin, Anchor::now()).ns(step),
            Clock::ChildrenCpu => 1000.0, // struct timeval holds microseconds
            _ if step == u64::MAX => self.stated_resolution_ns(),
            _ => step as f64,
        };
        Precision { clock: self, cost_ns, step_ns }
    }

    fn stated_resolution_ns(self) -> f64 {
        let id = match self {
            Clock::ThreadCpu => ClockId::ThreadCPUTime,
            Clock::ProcessCpu => ClockId::ProcessCPUTime,
            _ => ClockId::Monotonic,
        };
        nanoseconds(clock_getres(id)) as f64
    }
}

/// The monotonic clock, in nanoseconds since some fixed point.
#[inline]
pub fn wall_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

/// Processor time of the calling thread, in nanoseconds. A system call: use it around samples of
/// 100 microseconds and more.
#[inline]
pub fn thread_cpu_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::ThreadCPUTime))
}

/// Processor time of this process, all threads, in nanoseconds. A system call.
#[inline]
pub fn process_cpu_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::ProcessCPUTime))
}

/// Processor time of all children waited for, in nanoseconds, in steps of a microsecond.
pub fn children_cpu_ns() -> u64 {
    let usage = usage::children();
    usage.user_ns + usage.system_ns
}

/// The cycle register in ticks, unfenced: the cheapest read there is, for regions of many
/// instructions.
#[inline(always)]
pub fn ticks() -> u64 {
    cycle::ticks()
}

/// The cycle register in ticks, after everything before it and before everything after it.
#[inline(always)]
pub fn ticks_fenced() -> u64 {
    cycle::ticks_fenced()
}

/// What the cycle register is: its name, and whether its rate is promised to be constant.
pub fn cycle_register() -> (&'static str, bool) {
    (cycle::NAME, cycle::is_invariant())
}

/// Takes the first anchor of this process, unless it is already taken: call it first thing in
/// `main`, so that the whole run calibrates [`rate`].
pub fn start() -> Anchor {
    static START: OnceLock<Anchor> = OnceLock::new();
    *START.get_or_init(Anchor::now)
}

/// The rate of the cycle register over the run so far, from [`start`] until now.
///
/// When less than a millisecond has passed since then the rest of that millisecond is waited for:
/// a rate from a shorter window would be off by more than anyone expects.
pub fn rate() -> Rate {
    let start = start();
    loop {
        let now = Anchor::now();
        if now.wall_ns - start.wall_ns >= 1_000_000 {
            return Rate::between(start, now);
        }
        std::hint::spin_loop();
    }
}

impl Anchor {
    /// Both clocks now: of several tries the one in which they were read closest together.
    pub fn now() -> Anchor {
        (0..8).map(|_| Anchor::read()).min_by_key(|anchor| anchor.width_ticks).expect("eight tries")
    }

    fn read() -> Anchor {
        let before = ticks_fenced();
        let wall_ns = wall_ns();
        let width_ticks = ticks_fenced().saturating_sub(before);
        Anchor { ticks: before + width_ticks / 2, wall_ns, width_ticks }
    }
}

impl Rate {
    /// The rate that two anchors imply. Pure arithmetic: the same anchors, the same rate.
    pub fn between(start: Anchor, end: Anchor) -> Rate {
        let window_ns = end.wall_ns.saturating_sub(start.wall_ns);
        let ticks = end.ticks.saturating_sub(start.ticks);
        if window_ns == 0 || ticks == 0 {
            return Rate { hz: 0.0, error_ppm: 1e6, window_ns };
        }
        // Each anchor is off by at most half its width.
        let slack_ticks = (start.width_ticks + end.width_ticks) as f64 / 2.0;
        let hz = ticks as f64 * 1e9 / window_ns as f64;
        Rate { hz, error_ppm: slack_ticks / ticks as f64 * 1e6, window_ns }
    }

    /// `ticks` in nanoseconds; 0 when the rate is unknown.
    pub fn ns(&self, ticks: u64) -> f64 {
        if self.hz > 0.0 { ticks as f64 * 1e9 / self.hz } else { 0.0 }
    }
}

fn nanoseconds(time: Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_anchors_give_the_rate_and_its_error() {
        let start = Anchor { ticks: 1_000, wall_ns: 5, width_ticks: 60 };
        let end = Anchor { ticks: 1_000 + 2_500_000, wall_ns: 5 + 1_000_000, width_ticks: 40 };
        let rate = Rate::between(start, end);
        assert_eq!(rate.hz, 2.5e9);
        assert_eq!(rate.window_ns, 1_000_000);
        assert_eq!(rate.error_ppm, 20.0);
        assert_eq!(rate.ns(25), 10.0);
    }

    #[test]
    fn no_time_between_anchors_is_no_rate() {
        let anchor = Anchor { ticks: 7, wall_ns: 7, width_ticks: 1 };
        let rate = Rate::between(anchor, anchor);
        assert_eq!((rate.hz, rate.ns(100)), (0.0, 0.0));
        let back = Anchor { ticks: 6, wall_ns: 6, width_ticks: 1 };
        assert_eq!(Rate::between(anchor, back).hz, 0.0);
    }

    #[test]
    fn every_clock_advances_over_work() {
        for clock in [Clock::Wall, Clock::ThreadCpu, Clock::ProcessCpu, Clock::Cycle] {
            let before = clock.read();
            let mut x = 1u64;
            while clock.read() == before {
                x = std::hint::black_box(x.wrapping_mul(3));
            }
            assert!(clock.read() > before, "{}", clock.name());
        }
    }

    #[test]
    fn children_count_once_waited_for() {
        // Other tests of this process may wait for children too: the clock only ever grows.
        let before = children_cpu_ns();
        let busy = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
        std::process::Command::new("sh").args(["-c", busy]).status().unwrap();
        assert!(children_cpu_ns() - before > 1_000_000);
    }

    #[test]
    fn precision_is_positive_and_finite() {
        start();
        for clock in Clock::ALL {
            let precision = clock.precision();
            assert!(precision.cost_ns > 0.0 && precision.cost_ns < 1e6, "{precision:?}");
            assert!(precision.step_ns > 0.0 && precision.step_ns < 1e9, "{precision:?}");
        }
        let rate = rate();
        assert!(rate.hz > 1e6 && rate.window_ns >= 1_000_000, "{rate:?}");
    }
}
