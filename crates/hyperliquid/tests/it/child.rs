//! A bot in a process of its own, which is killed with SIGKILL.

use serde_json::{Value, json};
use surefill_core::Cold;
use surefill_referee::{Bot, Fate, Process, told, wait};
use surefill_store_sqlite::SqliteStore;
use tokio::runtime::Builder;

use crate::stage::{ALIAS, Simulator, Stage};

/// A process that recovers over the stage's journal, and begins these decisions of one moment all at once.
pub(crate) async fn placing(stage: &Stage, decided_at: u64, names: &[String]) -> Process {
    let part = json!({"url": stage.sim.url(), "journal": stage.journal(), "decided_at": decided_at, "names": names});
    let mut child = Process::run("child::it_places", &part.to_string());
    child.says("begun").await;
    child
}

/// The process's part. In the run that everybody sees it does nothing.
#[test]
fn it_places() {
    let Some(part) = told() else { return };
    let part: Value = serde_json::from_str(&part).expect("a part");
    let text = |name: &str| part[name].as_str().expect("text").to_owned();
    let decided_at = part["decided_at"].as_u64().expect("ms");
    let store = SqliteStore::open(text("journal")).expect("a journal");
    let cold = Cold::new(store).venue(ALIAS, Simulator::adapter_at(&text("url"), false));
    let rt = Builder::new_current_thread().enable_all().build();
    let bot = rt.expect("a runtime").block_on(Bot::start(cold));
    let bot = bot.expect("recovered");
    for (n, name) in part["names"].as_array().expect("a list").iter().enumerate() {
        let fate = [Fate::Rests, Fate::Fills][n % 2];
        bot.begin(Stage::intent_of(
            name.as_str().expect("text"),
            decided_at,
            fate,
        ));
    }
    wait("begun");
}
