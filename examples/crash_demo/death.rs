//! Dying in the middle of a send.

use crate::Failure;
use crate::control::{Control, until};
use crate::moment::{Moment, say, wait_to_be_killed};

/// Sends, and dies once the venue holds the order. Returns the answer, should it come first.
pub(crate) async fn once_acted<T>(
    control: &Control,
    moment: Moment,
    send: impl Future<Output = T>,
) -> T {
    let acted = until("the venue acts", || async {
        Ok(!control.orders().await?.is_empty())
    });
    tokio::select! {
        answer = send => missed(answer),
        acted = acted => match acted {
            Ok(()) => wait_to_be_killed(moment),
            Err(error) => fail(&error),
        },
    }
}

/// Sends, lets the thread stand still before the venue answers, and dies once the answer is in the socket.
///
/// Returns the answer, should it come before the thread stands still.
pub(crate) async fn unread<T>(control: &Control, send: impl Future<Output = T>) -> T {
    let seen = until("the venue sees the request", || async {
        Ok(!control.creates().await?.is_empty())
    });
    tokio::select! {
        biased;
        answer = send => return missed(answer),
        seen = seen => if let Err(error) = seen { fail(&error) },
    }
    // From here on this thread, which alone reads the bot's socket, stands still; another asks the referee.
    let url = control.url().to_owned();
    let answered = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(async {
            let control = Control::new(&url)?;
            until("the venue answers", || async {
                Ok(control
                    .creates()
                    .await?
                    .first()
                    .is_some_and(|request| request.answered))
            })
            .await
        })
    });
    match answered.join() {
        Ok(Ok(())) => wait_to_be_killed(Moment::Unread),
        Ok(Err(error)) => fail(&error),
        Err(_) => fail(&"the watching thread died".into()),
    }
}

/// The answer came before the world could be stopped: the parent tries this moment again.
fn missed<T>(answer: T) -> T {
    say("MISSED");
    answer
}

fn fail(error: &Failure) -> ! {
    say(&format!("FAILED {error}"));
    std::process::exit(1);
}
