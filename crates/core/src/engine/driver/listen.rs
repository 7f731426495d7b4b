//! What is heard while an answer is awaited.

use std::pin::Pin;

use super::{Committed, Driver, LetGo, Seen};
use crate::{ExecReport, Observation, Step, decide};

impl Driver {
    /// Awaits an answer while reports and cancels are taken in. What is heard changes the row, and starts nothing else.
    pub(super) async fn listening<T>(
        &mut self,
        answer: impl Future<Output = T> + Send,
    ) -> Result<T, LetGo> {
        tokio::pin!(answer);
        loop {
            let message = tokio::select! {
                biased;
                answer = &mut answer => return Ok(answer),
                message = self.inbox.recv() => message,
            };
            let Some(message) = message else {
                return Ok(answer.await);
            };
            let work = async {
                if let Seen::Report(report) = self.hear(message).await? {
                    self.take_report(&report).await?;
                }
                Ok(())
            };
            if let Some(answer) = beside(answer.as_mut(), work).await? {
                return Ok(answer);
            }
        }
    }

    /// Commits what a report changes, while an answer is awaited.
    pub(super) async fn take_report(&mut self, report: &ExecReport) -> Result<(), LetGo> {
        let observation = Observation::Report(report);
        loop {
            let Some(at) = self.shared.situation(&self.desk, &self.row) else {
                return Ok(());
            };
            let (row, profile) = (&self.row, &self.desk.profile);
            let step = decide(row, &self.pursuit, profile, &observation, &at);
            let Step::Advance(change) = step else {
                // What follows from it is decided once the answer is there; what it says is not forgotten.
                let nothing = Step::Nothing;
                self.pursuit.note(row, profile, &observation, &nothing, &at);
                return Ok(());
            };
            let step = Step::Advance(change.clone());
            self.pursuit.note(row, profile, &observation, &step, &at);
            let committed = self.commit(*change, false).await?;
            self.publish(false);
            // One report may book fills, raise a halt, and end the order: a commit each.
            if committed == Committed::Refused {
                return Ok(());
            }
        }
    }
}

/// Works on what was heard while the answer goes on: both may ask the venue, and one wait for what the other holds.
async fn beside<T>(
    answer: Pin<&mut (impl Future<Output = T> + Send)>,
    work: impl Future<Output = Result<(), LetGo>>,
) -> Result<Option<T>, LetGo> {
    tokio::pin!(work);
    let answer = tokio::select! {
        biased;
        worked = &mut work => return worked.map(|()| None),
        answer = answer => answer,
    };
    work.await?;
    Ok(Some(answer))
}
