//! What a venue's tests bring: a simulator, its adapter, and two orders.

use async_trait::async_trait;
use serde_json::Value;
use surefill_core::{AccountId, Connect, OrderIntent};

/// What the market does with an order by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is far from the market.
    Rests,
    /// It crosses two levels of the book.
    Fills,
}

/// A simulated venue with the adapter that trades there, under timing that hurries.
#[async_trait]
pub trait Simulated: Send + Sync + 'static {
    /// How a bot is configured.
    type Adapter: Connect;

    /// The name of the venue in the configuration.
    const ALIAS: &'static str;

    /// A fresh venue with a flat book and a rich account.
    async fn start() -> Self;

    /// Asks the control port, without a socket.
    ///
    /// # Errors
    /// What it answers with another status than 200.
    async fn control(&self, method: &str, target: &str, body: &Value) -> Result<Value, String>;

    /// The adapter. Without a stream its socket is where nobody listens.
    fn adapter(&self, streams: bool) -> Self::Adapter;

    /// The account that it trades for; the last part is what the control port calls it.
    fn account() -> AccountId;

    /// An order that buys. The same decision has the same terms each time.
    fn intent(strategy: &str, decided_at: u64, fate: Fate) -> OrderIntent;
}
