//! A progress bar for work that lasts: on stderr, if that is a terminal, after the first second.

use std::io::IsTerminal;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar that ends, and leaves the screen as it was, when it is dropped.
pub(crate) struct Bar {
    /// Dropped to wake the thread.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Shows how many bytes `done` says, of `total` if that is known.
pub(crate) fn watch(total: Option<u64>, done: impl Fn() -> u64 + Send + 'static) -> Bar {
    if !std::io::stderr().is_terminal() {
        return Bar { end: None, thread: None };
    }
    let (end, ended) = channel();
    // Without another thread there is no bar.
    let thread = std::thread::Builder::new().spawn(move || draw(&ended, total, &done)).ok();
    Bar { end: Some(end), thread }
}

fn draw(ended: &Receiver<()>, total: Option<u64>, done: &impl Fn() -> u64) {
    const PATIENCE: Duration = Duration::from_secs(1);
    const REFRESH: Duration = Duration::from_millis(100);
    if ended.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
        return;
    }
    let form = match total {
        Some(_) => "{bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
        None => "{spinner} {bytes}, {bytes_per_sec}",
    };
    let style = ProgressStyle::with_template(form).expect("the template is right");
    let bar = total.map_or_else(ProgressBar::no_length, ProgressBar::new).with_style(style);
    bar.set_draw_target(ProgressDrawTarget::stderr());
    loop {
        bar.set_position(done());
        if ended.recv_timeout(REFRESH) != Err(RecvTimeoutError::Timeout) {
            break bar.finish_and_clear();
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // A bar that panicked is no reason to lose the result.
            let _ = thread.join();
        }
    }
}
