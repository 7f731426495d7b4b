//! The papers' commands are run as they stand, in their order.

use std::process::Stdio;

use crate::bench::{Bench, run};

const README: &str = include_str!("../../../../README.md");
const CRATE: &str = include_str!("../../README.md");
const CONFIG: &str = include_str!("../../../../docs/config.md");

/// The commands of the blocks that are typed into a shell, with the exit code that stands behind `# exits`.
fn commands(paper: &str) -> Vec<(String, i32)> {
    let blocks = paper.split("```console\n").skip(1);
    let lines = blocks.flat_map(|block| block.split("```").next().unwrap_or_default().lines());
    let typed = lines.filter_map(|line| line.strip_prefix("$ surefill "));
    typed
        .map(|line| match line.split_once("# exits ") {
            Some((line, code)) => (line.trim().to_owned(), code.trim().parse().unwrap()),
            None => (line.trim().to_owned(), 0),
        })
        .collect()
}

#[test]
fn every_command_of_the_papers_does_what_it_says() {
    for (name, paper, least) in [
        ("README.md", README, 5),
        ("crates/cli/README.md", CRATE, 10),
        ("docs/config.md", CONFIG, 1),
    ] {
        let bench = Bench::new();
        // A lag that the probe finds kept also on a machine that is busy.
        let config = bench
            .config()
            .replace("venues.by", "venues.bybit-main")
            .replace("receive_window_ms = 300", "receive_window_ms = 1500")
            .replace("visibility_lag_ms = 100", "visibility_lag_ms = 400");
        bench.write("surefill.toml", &config);
        let mut id = String::new();
        let commands = commands(paper);
        assert!(commands.len() >= least, "{name}: {commands:?}");
        for (line, code) in commands {
            if line.starts_with("sim run") {
                // It runs already, at another port.
                continue;
            }
            let line = line.replace("$ID", &id);
            let args = words(&line);
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let said = run(bench.command(&args).stdin(Stdio::null()));
            assert_eq!(said.code, code, "{name}: surefill {line}: {said:?}");
            let orders = bench.json(&["orders"]);
            if orders.code == 0 {
                let newest = orders.json();
                let newest = newest.as_array().unwrap().first();
                id = newest.map_or_else(String::new, |order| {
                    order["cl_ord_id"].as_str().unwrap().to_owned()
                });
            }
        }
    }
}

/// Words of a line, as a shell splits them: quotes hold together.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (n, part) in line.split('"').enumerate() {
        if n % 2 == 0 {
            words.extend(part.split_whitespace().map(str::to_owned));
        } else {
            words.push(part.to_owned());
        }
    }
    words
}
