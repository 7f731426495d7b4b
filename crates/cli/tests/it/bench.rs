//! A folder with a configuration, a simulated venue, and the command between them.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// How long anything may take.
pub(crate) const BOUND: Duration = Duration::from_secs(60);

/// The keys of the accounts file, made up for these tests and told by nothing else.
pub(crate) const KEY: &str = "MARKEDAPIKEY0123456789";
pub(crate) const SECRET: &str = "markedsecretmarkedsecretmarkedsecret42";
pub(crate) const UID: &str = "4242";

/// Private keys, made up as well: an account's, and its agent's.
pub(crate) const WALLET: &str = "5ec2e7a11ce05ec2e7a11ce05ec2e7a11ce05ec2e7a11ce05ec2e7a11ce0beef";
pub(crate) const AGENT: &str = "a6e27d00d1e5a6e27d00d1e5a6e27d00d1e5a6e27d00d1e5a6e27d00d1e5cafe";

/// A vault that the account leads.
pub(crate) const VAULT: &str = "0x00000000000000000000000000000000000a0017";

pub(crate) const SURE: &str = env!("CARGO_BIN_EXE_surefill");

/// A simulated venue in a process of its own.
#[derive(Debug)]
pub(crate) struct Sim {
    pub(crate) child: Child,
    pub(crate) ready: Value,
}

/// The second venue of a process.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) ready: Value,
}

impl Sim {
    pub(crate) fn start(args: &[&str]) -> Self {
        let (child, mut ready) = Self::spawn(args, 1);
        let ready = ready.remove(0);
        Self { child, ready }
    }

    /// One process of two venues.
    pub(crate) fn start_two(args: &[&str]) -> (Self, Ready) {
        let (child, mut ready) = Self::spawn(args, 2);
        let second = Ready {
            ready: ready.remove(1),
        };
        let ready = ready.remove(0);
        (Self { child, ready }, second)
    }

    fn spawn(args: &[&str], venues: usize) -> (Child, Vec<Value>) {
        let mut child = Command::new(SURE)
            .args(["sim", "run"])
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let lines = out.by_ref().lines().take(venues).map(|line| {
            let line = line.unwrap();
            serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line}: {error}"))
        });
        let ready = lines.collect();
        // Kept open: a simulator that has more to say than is waited for ends where nobody can hear it.
        child.stdout = Some(out.into_inner());
        (child, ready)
    }

    pub(crate) fn url(&self) -> &str {
        self.ready["rest"].as_str().unwrap()
    }

    /// Asks the control port.
    pub(crate) fn control(&self, method: &str, path: &str, body: &Value) -> Value {
        control(self.url(), method, path, body)
    }

    pub(crate) fn fault(&self, fault: &Value) {
        self.control("POST", "/faults", fault);
    }

    pub(crate) fn no_faults(&self) {
        self.control("DELETE", "/faults", &Value::Null);
    }

    /// The orders that the venue holds or held.
    pub(crate) fn orders(&self) -> Vec<Value> {
        let orders = self.control("GET", "/orders", &Value::Null);
        orders.as_array().unwrap().clone()
    }
}

/// Asks the control port of the venue at `url`.
pub(crate) fn control(url: &str, method: &str, path: &str, body: &Value) -> Value {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let body = if method == "GET" {
        String::new()
    } else {
        body.to_string()
    };
    write!(
        stream,
        "{method} /_sim{path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 2"), "{method} {path}: {answer}");
    serde_json::from_str(body).unwrap_or(Value::Null)
}

impl Drop for Sim {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// What a command said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    /// The only document on stdout.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The document of a command that ended with this code.
    pub(crate) fn with(&self, code: i32) -> Value {
        assert_eq!(self.code, code, "{self:?}");
        self.json()
    }
}

/// A folder with a configuration, and the venue that it names.
#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) dir: TempDir,
    pub(crate) sim: Sim,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let accounts = dir.path().join("accounts.json");
        let login =
            json!([{ "uid": UID, "api_key": KEY, "api_secret": SECRET, "orders_per_s": 50 }]);
        fs::write(&accounts, login.to_string()).unwrap();
        let sim = Sim::start(&["--venue", "bybit", "--accounts", accounts.to_str().unwrap()]);
        let bench = Self { dir, sim };
        bench.write("surefill.toml", &bench.config());
        bench
    }

    /// The same for a simulated Hyperliquid.
    pub(crate) fn hyperliquid() -> Self {
        let dir = TempDir::new().unwrap();
        let accounts = dir.path().join("accounts.json");
        let account = address(WALLET);
        let wallets = json!({ "hyperliquid": [
            { "address": account, "agents": [address(AGENT)] },
            { "address": VAULT, "leader": account },
        ]});
        fs::write(&accounts, wallets.to_string()).unwrap();
        let accounts = accounts.to_str().unwrap();
        let sim = Sim::start(&["--venue", "hyperliquid", "--accounts", accounts]);
        let bench = Self { dir, sim };
        bench.write("surefill.toml", &bench.hyperliquid_config());
        bench
    }

    pub(crate) fn hyperliquid_config(&self) -> String {
        format!(
            r#"[journal]
url = "sqlite:orders.db"

[venues.hl]
kind = "hyperliquid"
network = "simulator"
account = "main"
url = "{}"
key_env = "SF_TEST_WALLET"

[venues.hl.timing]
receive_window_ms = 1500
visibility_lag_ms = 400
drain_ms = 50
margin_ms = 100
watch_ms = 1000
"#,
            self.sim.url()
        )
    }

    /// The configuration that the bench begins with.
    pub(crate) fn config(&self) -> String {
        format!(
            r#"[journal]
url = "sqlite:orders.db"

[venues.by]
kind = "bybit"
network = "simulator"
account = "main"
url = "{}"
category = "linear"
key_env = "SF_TEST_KEY"
secret_env = "SF_TEST_SECRET"

[venues.by.timing]
receive_window_ms = 300
visibility_lag_ms = 100
drain_ms = 50
margin_ms = 100
watch_ms = 1000

[venues.by.limits]
max_order_notional = "5000"
max_open_orders = 50
"#,
            self.sim.url()
        )
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn write_private(&self, name: &str, text: &str) {
        self.write(name, text);
        let mode = fs::Permissions::from_mode(0o600);
        fs::set_permissions(self.path(name), mode).unwrap();
    }

    /// The command, with the keys in its environment, in another folder than the configuration's.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        command(&self.path("surefill.toml"), args)
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Said {
        run(&mut self.command(args))
    }

    /// Runs a command with `--json`.
    pub(crate) fn json(&self, args: &[&str]) -> Said {
        run(self.command(args).arg("--json"))
    }

    /// Places a limit order that rests far from the market.
    pub(crate) fn place(&self, strategy: &str, more: &[&str]) -> Said {
        let line = format!(
            "place --venue by --symbol BTCUSDT --side buy --qty 0.01 --price 50000 --strategy {strategy}"
        );
        let args = words(&line);
        run(self.command(&args).args(more).arg("--json"))
    }

    /// Starts a process that holds the journal: it places an order whose fate it cannot learn, until it is told to stop.
    pub(crate) fn engine(&self) -> Engine<'_> {
        self.sim
            .fault(&json!({ "op": "create", "do": "reset_before" }));
        self.sim
            .fault(&json!({ "op": "lookup", "times": 100_000, "do": "status:500" }));
        let args = words(
            "place --venue by --symbol ETHUSDT --side buy --qty 0.1 --price 2000 --strategy engine --wait 5m --json",
        );
        let child = self
            .command(&args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let engine = Engine { bench: self, child };
        until(|| {
            let doubts = self.json(&["orders", "--state", "open"]);
            let doubts = doubts.json();
            let mut rows = doubts.as_array().into_iter().flatten();
            rows.any(|row| row["strategy"] == "engine" && row["state"] != "submitted")
        });
        engine
    }
}

/// A process that holds the journal.
#[derive(Debug)]
pub(crate) struct Engine<'a> {
    bench: &'a Bench,
    pub(crate) child: Child,
}

impl Engine<'_> {
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Stops it in order.
    pub(crate) fn stop(mut self) -> Said {
        signal(&self.child, rustix::process::Signal::TERM);
        ended(&mut self.child)
    }
}

impl Drop for Engine<'_> {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
        self.bench.sim.no_faults();
    }
}

/// The address of a private key.
pub(crate) fn address(key: &str) -> String {
    let keys = surefill_hyperliquid::Keys::new(key).unwrap();
    keys.signer().to_string()
}

/// The command with the keys in its environment.
pub(crate) fn command(config: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(SURE);
    command
        .env_clear()
        .env("SF_TEST_KEY", KEY)
        .env("SF_TEST_SECRET", SECRET)
        .env("SF_TEST_WALLET", WALLET)
        .env("SF_TEST_AGENT", AGENT)
        .env("USER", "ann")
        .current_dir("/")
        .arg("--config")
        .arg(config)
        .args(args)
        .stdin(Stdio::null());
    command
}

/// The words of a command as one types it; none has a space in it.
pub(crate) fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

pub(crate) fn run(command: &mut Command) -> Said {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    ended(&mut child)
}

/// What a process said, once it has ended.
pub(crate) fn ended(child: &mut Child) -> Said {
    ended_within(child, BOUND)
}

/// The same for what takes longer.
pub(crate) fn ended_within(child: &mut Child, bound: Duration) -> Said {
    let out = child.stdout.take().map(drain);
    let err = child.stderr.take().map(drain);
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if started.elapsed() > bound {
            drop(child.kill());
            panic!("a command did not end within the bound");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let text = |reading: Option<std::thread::JoinHandle<String>>| {
        reading.map_or_else(String::new, |reading| reading.join().unwrap())
    };
    Said {
        code: status.code().unwrap_or(-1),
        out: text(out),
        err: text(err),
    }
}

/// Reads beside, so that a full pipe holds up nobody.
fn drain(mut from: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut text = String::new();
        from.read_to_string(&mut text).unwrap();
        text
    })
}

pub(crate) fn signal(child: &Child, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, signal).unwrap();
}

/// Waits until the condition holds, up to the bound.
pub(crate) fn until(mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(
            started.elapsed() < BOUND,
            "the condition did not come to hold"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}
