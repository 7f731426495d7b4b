//! The configuration: which journal, which venues, where their keys are. Never the keys themselves.

mod secrecy;
mod section;
mod venue;

use std::fs;
use std::path::{Path, PathBuf};

use surefill_core::Alias;

pub(crate) use section::{ConfigError, Section, Source};
pub(crate) use venue::{Network, TimingConfig, VenueConfig, Where};

use crate::failure::{Exit, Failure};

/// A configuration that was read and checked.
#[derive(Debug)]
pub(crate) struct Config {
    /// The file of the journal.
    pub(crate) journal: PathBuf,
    /// The venues, in the order of their names.
    pub(crate) venues: Vec<VenueConfig>,
    /// The file that it was read from.
    pub(crate) file: PathBuf,
}

impl Config {
    /// Reads a configuration.
    pub(crate) fn load(path: &Path) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let text = fs::read_to_string(path).map_err(|error| {
            Failure::new(
                Exit::Usage,
                format!("the configuration {name} cannot be read: {error}"),
            )
        })?;
        let source = Source {
            name: &name,
            text: &text,
        };
        let folder = path.parent().unwrap_or_else(|| Path::new(""));
        let (journal, venues) = read(&source, folder)?;
        Ok(Self {
            journal,
            venues,
            file: path.to_owned(),
        })
    }

    /// The venue of that name.
    pub(crate) fn venue(&self, alias: &Alias) -> Result<&VenueConfig, Failure> {
        let found = self.venues.iter().find(|venue| venue.alias == *alias);
        found.ok_or_else(|| {
            let names: Vec<&str> = self.venues.iter().map(|v| v.alias.as_str()).collect();
            let text = format!(
                "{} names no venue {alias:?}; it names: {}",
                self.file.display(),
                names.join(", ")
            );
            Failure::new(Exit::Usage, text)
        })
    }
}

fn read(source: &Source<'_>, folder: &Path) -> Result<(PathBuf, Vec<VenueConfig>), ConfigError> {
    let mut whole = source.read()?;
    whole.only(&["journal", "venues"])?;
    let mut journal = whole
        .section("journal")?
        .ok_or_else(|| whole.missing("journal.url"))?;
    journal.only(&["url"])?;
    let url = journal.required("url")?;
    let file = journal_file(&url.value).map_err(|what| url.error(source, what))?;
    let mut venues = Vec::new();
    if let Some(mut named) = whole.section("venues")? {
        let mut names = named.names();
        names.sort();
        for name in names {
            if let Some(section) = named.section(&name)? {
                venues.push(VenueConfig::read(&name, section, folder)?);
            }
        }
    }
    // A path in the file is relative to the file, so that the journal is the same one wherever the command is called.
    Ok((folder.join(file), venues))
}

/// The path in a journal's address.
fn journal_file(url: &str) -> Result<PathBuf, &'static str> {
    if url.starts_with("postgres:") || url.starts_with("postgresql:") {
        return Err("a journal in PostgreSQL is not built yet: use sqlite:FILE");
    }
    let path = url
        .strip_prefix("sqlite:")
        .ok_or("must begin with sqlite:")?;
    let path = path.strip_prefix("//").unwrap_or(path);
    if path.is_empty() || path.ends_with('/') {
        return Err("names no file: write sqlite:orders.db");
    }
    Ok(PathBuf::from(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        let source = Source {
            name: "s.toml",
            text,
        };
        read(&source, Path::new(""))
            .expect_err("must be refused")
            .to_string()
    }

    #[test]
    fn what_is_wrong_is_told_by_key_and_line() {
        let head = "[journal]\nurl = \"sqlite:o.db\"\n";
        let venue = format!(
            "{head}[venues.b]\nkind = \"bybit\"\nnetwork = \"simulator\"\naccount = \"main\"\nkey_env = \"K_A\"\nsecret_env = \"K_B\"\n"
        );
        let sim = format!("{venue}url = \"http://127.0.0.1:1\"\n");
        let cases: [(String, &str); 25] = [
            ("[journal]\n".into(), "line 1: journal.url: is missing"),
            (
                head.replace("url", "urll"),
                "line 2: journal.urll: unknown key; known here: url",
            ),
            (
                head.replace("\"sqlite:o.db\"", "7"),
                "line 2: journal.url: must be a text in quotes, and is a whole number",
            ),
            (
                head.replace("sqlite:o.db", "mysql:x"),
                "line 2: journal.url: must begin with sqlite:",
            ),
            (
                head.replace("sqlite:o.db", "sqlite:"),
                "line 2: journal.url: names no file",
            ),
            (
                head.replace("sqlite:o.db", "postgres://h/x"),
                "line 2: journal.url: a journal in PostgreSQL",
            ),
            (
                head.replace("sqlite:o.db", "postgres://a:hush@h/x"),
                "line 2: journal.url: a secret must not stand",
            ),
            (format!("{head}[other]\n"), "line 3: other: unknown key"),
            (
                format!("{head}venues = 3\n"),
                "line 3: journal.venues: unknown key",
            ),
            (
                format!("{head}[venues.b]\n"),
                "line 3: venues.b.kind: is missing",
            ),
            (venue.clone(), "line 3: venues.b.url: is missing"),
            (
                sim.replace("bybit", "kraken"),
                "line 4: venues.b.kind: unknown kind \"kraken\"",
            ),
            (
                sim.replace("\"bybit\"", "\"jito\""),
                "line 4: venues.b.kind: jito is not built",
            ),
            (
                sim.replace("simulator", "moon"),
                "line 5: venues.b.network: unknown network \"moon\"",
            ),
            (
                sim.replace("simulator", "mainnet"),
                "line 9: venues.b.url: only a simulator has one",
            ),
            (
                sim.replace("simulator", "testnet"),
                "line 9: venues.b.url: only a simulator has one",
            ),
            (
                format!(
                    "{}[venues.b.timing]\ndrain_ms = 1\n",
                    venue.replace("simulator", "testnet")
                ),
                "line 9: venues.b.timing: only a simulator has one",
            ),
            (
                format!("{sim}[venues.b.timing]\ndrain = 1\n"),
                "line 11: venues.b.timing.drain: unknown key",
            ),
            (
                format!("{sim}[venues.b.timing]\ndrain_ms = -1\n"),
                "line 11: venues.b.timing.drain_ms: must be a whole number",
            ),
            (
                format!("{sim}[venues.b.limits]\nmax_order_notional = 5\n"),
                "line 11: venues.b.limits.max_order_notional: must be a text in quotes",
            ),
            (
                format!("{sim}[venues.b.limits]\nmax_open_orders = \"5\"\n"),
                "line 11: venues.b.limits.max_open_orders: must be a whole number",
            ),
            (
                format!("{sim}api_secret = \"hush\"\n"),
                "line 10: venues.b.api_secret: a secret must not stand",
            ),
            (
                sim.replace("K_A", "hushhushhush1hush"),
                "line 7: venues.b.key_env: is not the name of a variable",
            ),
            (
                format!("{sim}category = \"options\"\n"),
                "line 10: venues.b.category: must be linear, inverse or spot",
            ),
            (format!("{sim}secret = hush\n"), "line 10: not TOML"),
        ];
        for (text, expected) in cases {
            let got = error(&text);
            assert!(got.starts_with("s.toml, "), "{got}");
            assert!(got.contains(expected), "{text}\n{got}\nexpected {expected}");
            assert!(!got.contains("hush"), "{got}");
        }
    }

    #[test]
    fn the_examples_of_the_papers_are_read() {
        let paper = include_str!("../../../../docs/config.md");
        let examples = paper.split("```toml\n").skip(1);
        let examples = examples.map(|rest| rest.split("```").next().expect("an end"));
        let kinds = examples.map(|text| {
            let name = "docs/config.md";
            let source = Source { name, text };
            let (journal, venues) = read(&source, Path::new("/etc/bot")).expect("a configuration");
            assert_eq!(journal, Path::new("/etc/bot/orders.db"));
            assert_eq!(venues.len(), 1);
            venues[0].kind.as_str()
        });
        assert_eq!(kinds.collect::<Vec<_>>(), ["bybit", "hyperliquid"]);
    }
}
