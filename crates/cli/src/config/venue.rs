//! One venue of the configuration.

use std::path::{Path, PathBuf};

use surefill_core::{Alias, Limits};

use super::secrecy;
use super::section::{At, ConfigError, Section, Source};
use crate::venue::{Kind, Settings};

/// Where orders go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Network {
    Simulator,
    Testnet,
    Demo,
    Mainnet,
}

impl Network {
    const ALL: [Self; 4] = [Self::Simulator, Self::Testnet, Self::Demo, Self::Mainnet];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Simulator => "simulator",
            Self::Testnet => "testnet",
            Self::Demo => "demo",
            Self::Mainnet => "mainnet",
        }
    }
}

/// Where a secret is found.
#[derive(Clone, Debug)]
pub(crate) enum Where {
    /// In the environment.
    Env(At<String>),
    /// In a file that only its owner may read.
    File(At<PathBuf>),
}

/// Durations of a simulated venue; what is not given is the profile's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimingConfig {
    pub(crate) receive_window_ms: Option<u64>,
    pub(crate) visibility_lag_ms: Option<u64>,
    pub(crate) drain_ms: Option<u64>,
    pub(crate) margin_ms: Option<u64>,
    pub(crate) watch_ms: Option<u64>,
}

/// One venue of the configuration.
#[derive(Clone, Debug)]
pub(crate) struct VenueConfig {
    pub(crate) alias: Alias,
    pub(crate) kind: Kind,
    pub(crate) network: Network,
    /// What people call the account.
    pub(crate) account: Option<String>,
    pub(crate) url: Option<String>,
    pub(crate) ws_url: Option<String>,
    pub(crate) key: Option<Where>,
    pub(crate) secret: Option<Where>,
    /// On a simulator, where given.
    pub(crate) timing: Option<TimingConfig>,
    pub(crate) limits: Limits,
    /// What only this kind has.
    pub(crate) settings: Settings,
    /// Where it stands, such as `surefill.toml, line 4: venues.bybit-main`.
    pub(crate) place: String,
    /// The name of the file.
    pub(crate) file: String,
}

/// The keys that every kind has.
const COMMON: [&str; 9] = [
    "kind", "network", "account", "url", "ws_url", "key_env", "key_file", "timing", "limits",
];

impl VenueConfig {
    pub(crate) fn read(
        name: &str,
        mut section: Section<'_>,
        folder: &Path,
    ) -> Result<Self, ConfigError> {
        let source = section.source();
        if name.is_empty() || name.contains('/') {
            let what = "a venue's name is not empty and holds no slash";
            return Err(source.error(section.key(), section.line(), what));
        }
        let place = format!(
            "{}, line {}: {}",
            source.name,
            section.line(),
            section.key()
        );
        let kind = section.required("kind")?;
        let kind = Kind::read(&kind.value).map_err(|what| kind.error(source, what))?;
        let known: Vec<&str> = COMMON.iter().chain(kind.keys()).copied().collect();
        section.only(&known)?;
        let named = section.required("network")?;
        let network = network(&named, kind).map_err(|what| named.error(source, what))?;
        let on_simulator = network == Network::Simulator;
        let url = address(&mut section, "url", &["http://", "https://"], on_simulator)?;
        let ws_url = address(&mut section, "ws_url", &["ws://", "wss://"], on_simulator)?;
        if on_simulator && url.is_none() {
            return Err(section.missing("url"));
        }
        let timing = match section.section("timing")? {
            Some(timing) if !on_simulator => {
                let what =
                    "only a simulator has one: the durations of a real network are its profile's";
                return Err(source.error(timing.key(), timing.line(), what));
            }
            Some(timing) => Some(read_timing(timing)?),
            None => None,
        };
        Ok(Self {
            alias: name.into(),
            kind,
            network,
            account: section.text("account")?.map(|at| at.value),
            url,
            ws_url,
            key: whereabouts(&mut section, "key_env", "key_file", folder)?,
            secret: whereabouts(&mut section, "secret_env", "secret_file", folder)?,
            timing,
            limits: match section.section("limits")? {
                Some(limits) => read_limits(limits)?,
                None => Limits::default(),
            },
            settings: Settings::read(kind, &mut section)?,
            place,
            file: source.name.to_owned(),
        })
    }
}

fn network(at: &At<String>, kind: Kind) -> Result<Network, String> {
    let words = |networks: &[Network]| {
        let words: Vec<&str> = networks.iter().map(|network| network.as_str()).collect();
        words.join(", ")
    };
    let found = Network::ALL.into_iter().find(|n| n.as_str() == at.value);
    let Some(network) = found else {
        let known = words(&Network::ALL);
        return Err(format!("unknown network {:?}; known: {known}", at.value));
    };
    if !kind.networks().contains(&network) {
        let known = words(kind.networks());
        return Err(format!(
            "{} has no {}; it has: {known}",
            kind.as_str(),
            at.value
        ));
    }
    Ok(network)
}

fn address(
    section: &mut Section<'_>,
    name: &str,
    schemes: &[&str],
    on_simulator: bool,
) -> Result<Option<String>, ConfigError> {
    let source = section.source();
    let Some(at) = section.text(name)? else {
        return Ok(None);
    };
    if !on_simulator {
        let what = "only a simulator has one: the address of a real network is not chosen";
        return Err(at.error(source, what));
    }
    let rest = schemes
        .iter()
        .find_map(|scheme| at.value.strip_prefix(scheme));
    if rest.is_none_or(str::is_empty) {
        let what = format!("must begin with {}", schemes.join(" or "));
        return Err(at.error(source, what));
    }
    Ok(Some(at.value.trim_end_matches('/').to_owned()))
}

fn whereabouts(
    section: &mut Section<'_>,
    env: &str,
    file: &str,
    folder: &Path,
) -> Result<Option<Where>, ConfigError> {
    let source = section.source();
    match (section.text(env)?, section.text(file)?) {
        (Some(_), Some(at)) => Err(at.error(source, format!("{env} is given too: one of the two"))),
        (Some(at), None) if !secrecy::is_variable(&at.value) => {
            // What stands here may be the secret itself, so it is not shown.
            let what = "is not the name of a variable, such as BYBIT_API_KEY; a secret must not stand in this file";
            Err(at.error(source, what))
        }
        (Some(at), None) => Ok(Some(Where::Env(at))),
        (None, Some(at)) => Ok(Some(Where::File(At {
            value: folder.join(&at.value),
            key: at.key,
            line: at.line,
        }))),
        (None, None) => Ok(None),
    }
}

fn read_timing(mut section: Section<'_>) -> Result<TimingConfig, ConfigError> {
    section.only(&[
        "receive_window_ms",
        "visibility_lag_ms",
        "drain_ms",
        "margin_ms",
        "watch_ms",
    ])?;
    let source: &Source<'_> = section.source();
    let window = section.whole("receive_window_ms")?;
    if let Some(at) = window.as_ref().filter(|at| at.value == 0) {
        return Err(at.error(source, "must be above zero"));
    }
    let mut ms = |name: &str| section.whole(name).map(|at| at.map(|at| at.value));
    Ok(TimingConfig {
        receive_window_ms: window.map(|at| at.value),
        visibility_lag_ms: ms("visibility_lag_ms")?,
        drain_ms: ms("drain_ms")?,
        margin_ms: ms("margin_ms")?,
        watch_ms: ms("watch_ms")?,
    })
}

fn read_limits(mut section: Section<'_>) -> Result<Limits, ConfigError> {
    section.only(&["max_order_notional", "max_open_orders"])?;
    let source = section.source();
    let mut limits = Limits::default();
    if let Some(at) = section.text("max_order_notional")? {
        let money = at.value.parse().map_err(|error| at.error(source, error))?;
        if at.value.starts_with('-') {
            return Err(at.error(source, "must not be below zero"));
        }
        limits.max_order_notional = Some(money);
    }
    if let Some(at) = section.whole("max_open_orders")? {
        let most = usize::try_from(at.value).map_err(|error| at.error(source, error))?;
        limits.max_open_orders = Some(most);
    }
    Ok(limits)
}
