//! A failing schedule is made shorter while it still fails.

use super::lie::Lie;
use super::run::run;
use super::script::{Script, Step};

/// The shortest that was found.
#[derive(Debug)]
pub struct Shrunk {
    /// The schedule.
    pub script: Script,
    /// What it breaks.
    pub broken: String,
    /// How many schedules were run for it.
    pub runs: u32,
}

/// Takes out runs of steps, halves first and single ones last, then shortens waits, as long as the rest breaks the same promise.
/// `None` when the schedule breaks nothing.
pub fn shrink(script: &Script, lie: Option<Lie>, most: u32) -> Option<Shrunk> {
    let mut best = Shrunk {
        script: script.clone(),
        broken: run(script, lie).broken?,
        runs: 1,
    };
    loop {
        let before = best.script.steps.len();
        let mut size = (before / 2).max(1);
        loop {
            let mut at = 0;
            while at < best.script.steps.len() && best.runs < most {
                let mut shorter = best.script.clone();
                let end = (at + size).min(shorter.steps.len());
                shorter.steps.drain(at..end);
                if !best.take(shorter, lie) {
                    at += size;
                }
            }
            if size == 1 {
                break;
            }
            size /= 2;
        }
        if best.script.steps.len() == before || best.runs >= most {
            break;
        }
    }
    for at in 0..best.script.steps.len() {
        while let Some(Step::Advance(ms)) = best.script.steps.get(at).copied()
            && ms > 1
            && best.runs < most
        {
            let mut shorter = best.script.clone();
            shorter.steps[at] = Step::Advance(ms / 2);
            if !best.take(shorter, lie) {
                break;
            }
        }
    }
    Some(best)
}

impl Shrunk {
    fn take(&mut self, shorter: Script, lie: Option<Lie>) -> bool {
        self.runs += 1;
        let broken = run(&shorter, lie).broken;
        if let Some(broken) = broken.filter(|broken| promise(broken) == promise(&self.broken)) {
            self.script = shorter;
            self.broken = broken;
            return true;
        }
        false
    }
}

/// The name of the promise in what was broken.
fn promise(broken: &str) -> Option<&str> {
    broken.split(':').next()
}
