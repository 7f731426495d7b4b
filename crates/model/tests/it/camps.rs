//! Every kind of venue.

use surefill_model::check::{Budget, Camp, Check};

#[test]
fn probe() {
    let b = |f: &str| -> u8 {
        std::env::var(f)
            .ok()
            .and_then(|v| v.parse().ok())
            .unwrap_or(0)
    };
    let budget = Budget {
        faults: b("F"),
        crashes: b("C"),
        doubles: b("D"),
        refusals: b("R"),
        trades: b("T"),
        cancels: b("X"),
        halts: b("H"),
        pushes: b("P"),
        slow: b("S"),
        pauses: b("Z"),
        takeovers: b("O"),
    };
    let from = b("FROM") as usize;
    let n = b("N").max(1) as usize;
    for camp in Camp::all().into_iter().skip(from).take(n) {
        let t = std::time::Instant::now();
        let report = Check::new(camp, budget).run(20_000_000);
        println!("{camp}: {} states, {:?}", report.states, t.elapsed());
        for found in report.found {
            println!("  {:?}", found.promise);
            if b("V") > 0 {
                for line in found.script {
                    println!("    {line}");
                }
            }
        }
    }
}
